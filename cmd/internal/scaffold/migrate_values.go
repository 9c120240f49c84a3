package scaffold

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unless drops a value that says what ralph does anyway.
func unless(usual ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		if slices.Contains(usual, v) {
			return "", nil
		}
		return v, nil
	}
}

// number is a whole number that is not negative.
func number(v string) (string, error) {
	if n, err := strconv.Atoi(v); err != nil || n < 0 {
		return "", errors.New("not a whole number")
	}
	return v, nil
}

// milliseconds become a duration.
func milliseconds(v string) (string, error) {
	if _, err := number(v); err != nil {
		return "", err
	}
	d, err := time.ParseDuration(v + "ms")
	return d.String(), err
}

// minutes of a duration such as 1h30m, at least one.
func minutes(v string) (string, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return "", errors.New("not a duration, such as 30m")
	}
	if d == 0 {
		return "", nil
	}
	return fmt.Sprint(int((d + time.Minute - 1) / time.Minute)), nil
}

// truth is true or false.
func truth(v string) (string, error) {
	if v != "true" && v != "false" {
		return "", errors.New("neither true nor false")
	}
	return v, nil
}

// oneOf is a value that stays, if it is in the list.
func oneOf(known ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		if !slices.Contains(known, v) {
			return "", fmt.Errorf("not one of %s", strings.Join(known, ", "))
		}
		return v, nil
	}
}

// when gives a value for another; what is not in the list is dropped.
func when(pairs ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == v {
				return pairs[i+1], nil
			}
		}
		return "", nil
	}
}

// model leaves out the effort of model:effort.
func model(v string) (string, error) {
	name, _, _ := strings.Cut(v, ":")
	return name, nil
}
