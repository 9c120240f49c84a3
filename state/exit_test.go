package state

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

func TestExitCodes_eachConstant_hasOneRow(t *testing.T) {
	src, err := os.ReadFile("exit.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	for _, m := range regexp.MustCompile(`(?m)^\tExit\w+ += (\d+)$`).FindAllStringSubmatch(string(src), -1) {
		code, _ := strconv.Atoi(m[1])
		want = append(want, code)
	}
	var got []int
	var names []string
	for _, row := range ExitCodes() {
		got, names = append(got, row.Code), append(names, row.Name)
		if row.Name == "" || row.When == "" || row.Status == "" || row.Notice == "" {
			t.Errorf("row %+v is incomplete", row)
		}
	}
	if len(want) < 10 || !slices.Equal(want, got) {
		t.Errorf("the constants are %d, and the rows %d", want, got)
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(got) {
		t.Errorf("two rows have one name: %q", names)
	}
}

func TestExitOf_unknownCode_isAnError(t *testing.T) {
	if row := ExitOf(77); row.Code != ExitError {
		t.Errorf("%+v", row)
	}
	if row := ExitOf(ExitTerminated); row.Status != StatusStopped {
		t.Errorf("%+v", row)
	}
}
