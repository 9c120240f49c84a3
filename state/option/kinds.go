package option

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Allowed describes the values that the option takes, so that it completes
// "VALUE is not ...": "a whole number from 1 to 100".
func (o Row) Allowed() string {
	if o.What != "" {
		return o.What
	}
	switch o.Kind {
	case Int:
		return "a whole number" + o.bounds("")
	case USD:
		return "an amount in US dollars" + o.bounds("")
	case Minutes:
		return "a number of minutes" + o.bounds("") + ", or as long a duration, such as 90s or 2h"
	case Hours:
		return "a number of hours" + o.bounds("") + ", or as long a duration, such as 90m or 48h"
	case Duration:
		return "a duration such as 30s, 5m or 2h" + o.bounds(",")
	case Enum:
		return "one of " + strings.Join(o.Values, ", ")
	}
	return forms[o.Kind]
}

// forms are the values that kinds without bounds take.
var forms = map[Kind]string{
	Clock:  "a time of day such as 23:00 or 7:30",
	Bool:   "true or false",
	Lines:  "text, or a list of texts",
	List:   "a comma list with balanced parentheses and no entry that starts with -",
	Env:    "a comma list of variable names or globs (* and ?), each with or without a !",
	Path:   "a path on one line",
	String: "text on one line that does not start with -",
}

// Claim says what of this value needs the user's consent in a project file; empty:
// nothing. own is what the user's own file sets, if it sets this option.
func (o Row) Claim(value string, own *string) string {
	switch {
	case own != nil && o.Weakens != nil && o.Weakens(*own, value):
		return fmt.Sprintf("%s=%s is weaker than your own %s", o.Key, value, *own)
	case !o.Trust || value == "" || slices.Contains(o.Safe, value):
		return ""
	case o.Kind != List:
		return o.Key + "=" + value
	}
	entries, _ := splitList(value)
	entries = slices.DeleteFunc(entries, func(entry string) bool { return slices.Contains(o.Safe, entry) })
	if len(entries) == 0 {
		return ""
	}
	return o.Key + " adds " + strings.Join(entries, ", ")
}

func (o Row) bounds(comma string) string {
	if o.Min == "" || o.Max == "" {
		return ""
	}
	return fmt.Sprintf("%s from %s to %s", comma, o.Min, o.Max)
}

// Parse reads text into int64, float64, time.Duration, bool, string or
// []string, by kind. ok is false when the text is not Allowed.
func (o Row) Parse(text string) (value any, ok bool) {
	text = strings.TrimSpace(text)
	if ours, known := o.Spellings[text]; known {
		text = ours
	}
	value, ok = o.parseKind(text)
	if !ok {
		return nil, false
	}
	for _, bound := range []struct {
		text string
		sign float64
	}{{o.Min, 1}, {o.Max, -1}} {
		if bound.text == "" {
			continue
		}
		limit, _ := o.parseKind(bound.text)
		if (magnitude(value)-magnitude(limit))*bound.sign < 0 {
			return nil, false
		}
	}
	return value, true
}

func (o Row) parseKind(text string) (any, bool) {
	switch o.Kind {
	case Int:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case USD:
		// The pattern keeps out what ParseFloat also takes: inf, nan, hex, exponents.
		usd, err := strconv.ParseFloat(text, 64)
		return usd, err == nil && isDecimal(text)
	case Minutes:
		return parseDuration(text, "m")
	case Hours:
		return parseDuration(text, "h")
	case Duration:
		return parseDuration(text, "")
	case Clock:
		_, err := time.Parse("15:04", text)
		return text, err == nil || text == ""
	case Bool:
		value, ok := bools[strings.ToLower(text)]
		return value, ok
	case Enum:
		return text, text == o.Default || slices.Contains(o.Values, text)
	case Lines:
		items := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		return items, !slices.ContainsFunc(items, func(item string) bool { return !Printable(item) })
	case List:
		items, ok := splitList(text)
		return items, ok && slices.IndexFunc(items, badItem) < 0 && (o.Takes == nil || o.Takes(items)) &&
			!(o.Full && hasGap(text))
	case Env:
		items, ok := splitList(text)
		return items, ok && !slices.ContainsFunc(items,
			func(item string) bool { return o.Valid != nil && !o.Valid(item) })
	case Path:
		return text, Printable(text)
	default:
		return text, Printable(text) && !strings.HasPrefix(text, "-") &&
			(o.Takes == nil || text == "" || text == o.Alone || o.Takes([]string{text}))
	}
}

func magnitude(value any) float64 {
	return reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()
}

// parseDuration reads a plain number in the given unit, or a duration that
// names its units. Without a unit only 0 may be plain.
func parseDuration(text, unit string) (time.Duration, bool) {
	if isDecimal(text) {
		text += unit
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

func isDecimal(text string) bool {
	whole, fraction, dotted := strings.Cut(text, ".")
	return isDigits(whole) && (!dotted || isDigits(fraction))
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

var bools = map[string]bool{"true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false,
	"0": false}

// splitList cuts at the commas outside parentheses and drops empty entries:
// "Bash(a, b), Read," is two entries.
func splitList(text string) (items []string, ok bool) {
	items = []string{}
	depth, start := 0, 0
	add := func(end int) {
		if item := strings.TrimSpace(text[start:end]); item != "" {
			items = append(items, item)
		}
		start = end + 1
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return nil, false
			}
		case ',':
			if depth == 0 {
				add(i)
			}
		}
	}
	add(len(text))
	return items, depth == 0
}

// hasGap reports whether a list that is not empty has an empty entry. Its entries are names.
func hasGap(text string) bool {
	return text != "" && slices.ContainsFunc(strings.Split(text, ","),
		func(item string) bool { return strings.TrimSpace(item) == "" })
}

// badItem also refuses what an agent CLI would take for one of its own flags.
func badItem(item string) bool {
	return !Printable(item) || strings.HasPrefix(item, "-")
}

// Printable is true for valid text without control characters other than tabs.
func Printable(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text,
		func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) < 0
}

// Store puts a value of Parse into a field.
func Store(field, value any) {
	to := reflect.ValueOf(field).Elem()
	to.Set(reflect.ValueOf(value).Convert(to.Type())) // an int takes an int64
}

// Format is the text that Parse reads back into the same value.
func (o Row) Format(field any) string {
	switch p := field.(type) {
	case *float64:
		return strconv.FormatFloat(*p, 'f', -1, 64)
	case *time.Duration:
		return o.formatDuration(*p)
	case *[]string:
		return strings.Join(*p, ",")
	}
	return fmt.Sprint(reflect.ValueOf(field).Elem())
}

func (o Row) formatDuration(d time.Duration) string {
	switch {
	case o.Kind == Minutes && d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10)
	case o.Kind == Hours && d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10)
	}
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
