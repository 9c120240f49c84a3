package stories

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What plainFront reads, it reads as YAML does.
func TestPlainFront_whatItReads_isWhatYAMLReads(t *testing.T) {
	pieces := []string{"id", "title", "status", "labels", "a", "task-1", "TASK-1.2", "To Do", "Ünïcode ж", "It's", "a: b", "a:b", "a #b", "#c", "1", "007", "1.10",
		"1e3", "0x1f", "2026-11-20", "08:00", "'2026-11-20 08:00'", `"x"`, `"x\n"`, "''", "'it''s'", "[]", "[a, b]", "[a,b]", "[a,, b]", "[ a ]", "[1, x]", "[", "]", "- ", "  - ", "-",
		":", ": ", " ", "  ", "\t", "\r", "\n", "\r\n", "true", "no", "null", "~", "y", "inf", "|", ">-", "&a", "*a", "!x", "@x", "%", "{", "}", "---", "...", ",", "\u00a0", "\u0085", "\u2028", "²"}
	line := rapid.Custom(func(t *rapid.T) string {
		key, value := rapid.SampledFrom(pieces).Draw(t, "key"), rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 3).Draw(t, "value")
		return rapid.SampledFrom([]string{key + ": " + strings.Join(value, ""), key + ":", "  - " + strings.Join(value, ""), "- " + strings.Join(value, " ")}).Draw(t, "line")
	})
	usual := rapid.SampledFrom([]string{"id: task-1", "title: Build it", "status: To Do", "labels:", "  - backend", "created: '2026-11-20 08:00'", "tags: [a, b]"})
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		block := "---" + eol + strings.Join(rapid.SliceOfN(rapid.OneOf(usual, usual, usual, line), 1, 5).Draw(t, "lines"), eol) + eol + "---" + eol
		if length, ok := frontMatter(block); !ok || length != len(block) {
			return
		}
		got, plain := plainFront(block)
		if !plain {
			return
		}
		seen++
		var want map[string]any
		if err := yaml.Unmarshal([]byte(block), &want); err != nil {
			t.Fatalf("%q is refused by YAML: %v", block, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q: %s", block, d)
		}
	})
	if seen == 0 {
		t.Error("nothing was read")
	}
}

func TestPlainFront_fileOfBacklogMd_isRead(t *testing.T) {
	block := "---\nid: TASK-7\ntitle: Build part 7\nstatus: To Do\nassignee: []\ncreated_date: '2026-11-20 08:00'\nlabels:\n  - backend\n  - a, b\ndependencies: [task-1, task-2]\nordinal: 1000\npriority: high\nmilestone:\n---\n"
	if _, plain := plainFront(strings.Replace(block, "a, b", "b", 1)); !plain {
		t.Error("it is not read")
	}
	if _, plain := plainFront(block); plain {
		t.Error("a comma in a list item is read")
	}
}
