package recordings

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFormat_anyBytes_surviveTheRoundTrip(t *testing.T) {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\n", "\r\n", "-- x --", "\n-- x --\n", "\xff", "\x00", "\x1b[0m", "{\"a\":\"b\"}"}))
	rapid.Check(t, func(t *rapid.T) {
		var want []Recording
		for _, name := range []string{"first", "second"} {
			want = append(want, Recording{
				Name: name, Class: "crash", Agent: "claude", Args: []string{"claude", "<a & b>"}, Exit: 1, Signal: "SIGTERM", TimedOut: true,
				Recorded: time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC),
				Output:   strings.Join(rapid.SliceOf(piece).Draw(t, "output"), ""),
			})
		}
		archive, err := Format(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(archive)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestFormat_plainOutput_isReadable(t *testing.T) {
	for output, member := range map[string]string{
		"":              "output",
		"a\nb\r\n":      "output",
		"no newline":    "output.nonewline",
		"-- marker --":  "output.quoted",
		"a\n-- b":       "output.quoted",
		"\x00\n":        "output.quoted",
		"\xff\n":        "output.quoted",
		"a --\n\x1b[0m": "output.nonewline",
	} {
		archive, err := Format([]Recording{{Name: "r", Output: output}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(archive), "-- r/"+member+" --\n") {
			t.Errorf("%q: %s", output, archive)
		}
	}
}

func TestParse_damagedArchive_isAnError(t *testing.T) {
	for name, archive := range map[string]string{
		"output without meta":    "-- a/output --\n",
		"output of another call": "-- a/meta.json --\n{}\n-- b/output --\n",
		"meta is not JSON":       "-- a/meta.json --\n{\n",
		"bad literal":            "-- a/meta.json --\n{}\n-- a/output.quoted --\nabc\n",
		"unknown member":         "-- a/meta.json --\n{}\n-- a/stderr --\n",
	} {
		if _, err := Parse([]byte(archive)); err == nil || !strings.Contains(err.Error(), "parse recording") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
