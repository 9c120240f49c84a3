package wire

import (
	"hash/fnv"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
	"ralph/state"
)

// MaxLine is the length of the longest OneLine, in runes.
const MaxLine = 400

// Cut returns a copy of at most limit bytes of valid UTF-8, followed by termtext.More if text
// is missing. It copies so that a short text does not keep a long line in memory.
func Cut(s string, limit int) string {
	if len(s) > limit {
		end := limit
		for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		return strings.ToValidUTF8(s[:end], "\uFFFD") + termtext.More
	}
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.Clone(s)
}

// OneLine returns a copy on one line of at most MaxLine runes.
func OneLine(s string) string {
	s = termtext.Unwrap(Cut(s, 4*MaxLine))
	if utf8.RuneCountInString(s) > MaxLine {
		s = string([]rune(s)[:MaxLine-1]) + "…"
	}
	return s
}

// Codes returns the strings and numbers among the values, without empty ones.
func Codes(rs ...gjson.Result) []string {
	var codes []string
	for _, r := range rs {
		if (r.Type == gjson.String || r.Type == gjson.Number) && r.String() != "" {
			codes = append(codes, Cut(r.String(), 80))
		}
	}
	return codes
}

// FirstText returns the first string that is not empty, else the first object as
// raw JSON.
func FirstText(rs ...gjson.Result) string {
	for _, r := range rs {
		if r.Type == gjson.String && r.Str != "" {
			return r.Str
		}
	}
	for _, r := range rs {
		if r.IsObject() {
			return r.Raw
		}
	}
	return ""
}

// BlockText returns a string, or the texts of an array of blocks. It stops after
// limit bytes.
func BlockText(r gjson.Result, limit int) string {
	if !r.IsArray() {
		return r.String()
	}
	var b strings.Builder
	for block := range Elements(r) {
		b.WriteString(Members(block).Text("text"))
		if b.Len() >= limit {
			break
		}
	}
	return b.String()
}

// mainArgs are the usual names of the most telling argument of a tool call.
var mainArgs = [...]string{"command", "cmd", "file_path", "filePath", "path", "absolute_path", "notebook_path",
	"pattern", "query", "url", "prompt", "description", "skill", "question", "questions"}

// Args are the arguments of a tool call, as people read them.
type Args struct {
	Main string      // the most telling one, on one line
	Hunk string      // what an edit changes: removed lines with "-", added ones with "+"
	File bool        // Main is the path of a file that is read or written
	Asks []state.Ask // what the call asks the user, if it calls a tool for that
	Sum  string      // the same for the same arguments, all of them; empty: unknown
}

// Arguments reads the arguments of a tool call.
func Arguments(input gjson.Result) Args {
	a := Args{Main: Argument(input)}
	if !input.IsObject() {
		return a
	}
	args := Members(input)
	a.Sum = sum(args)
	switch name, text := mainArg(args); name {
	case "file_path", "filePath", "absolute_path", "notebook_path":
		a.File = !args.Has("pattern")
	case "path": // or a folder
		a.File = !args.Has("pattern") && strings.LastIndexByte(path.Base(text), '.') > 0
	}
	a.Hunk, a.Asks = hunk(args), asks(args)
	for edit := range Elements(args.Get("edits")) {
		if more := hunk(Members(edit)); more != "" && len(a.Hunk) < maxHunk {
			a.Hunk = strings.TrimPrefix(a.Hunk+"\n"+more, "\n")
		}
	}
	return a
}

// sum tells calls apart. How a model describes a command does not count.
func sum(args Object) string {
	var all []string
	for _, m := range args.at {
		if key := args.key(m); key != "description" {
			all = append(all, key, args.raw(m))
		}
	}
	return Sum(all...)
}

// Sum is a short text that is the same for the same texts.
func Sum(texts ...string) string {
	h := fnv.New64a()
	for _, text := range texts {
		_, _ = h.Write([]byte(text + "\x00")) // never fails
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// maxHunk bounds each side of an edit, in bytes.
const maxHunk = 1000

// hunk is what one edit changes, without the lines at both ends that stay.
func hunk(edit Object) string {
	before := FirstText(edit.Get("old_string"), edit.Get("oldString"), edit.Get("old_str"))
	after := FirstText(edit.Get("new_string"), edit.Get("newString"), edit.Get("new_str"))
	if before == "" && after == "" {
		return ""
	}
	gone, come := strings.Split(before, "\n"), strings.Split(after, "\n")
	for len(gone) > 0 && len(come) > 0 && gone[0] == come[0] {
		gone, come = gone[1:], come[1:]
	}
	for len(gone) > 0 && len(come) > 0 && gone[len(gone)-1] == come[len(come)-1] {
		gone, come = gone[:len(gone)-1], come[:len(come)-1]
	}
	return strings.TrimPrefix(marked("-", before, gone)+marked("+", after, come), "\n")
}

// marked begins each line with mark. An empty text has no lines.
func marked(mark, text string, lines []string) string {
	if text == "" || len(lines) == 0 {
		return ""
	}
	mark = "\n" + mark + " "
	return Cut(mark+strings.Join(lines, mark), maxHunk)
}

// Argument returns the main argument of a tool call on one line; all arguments as
// JSON if there is no main one.
func Argument(input gjson.Result) string {
	if !input.IsObject() {
		return OneLine(input.String())
	}
	args := Members(input)
	if pattern := args.Text("pattern"); pattern != "" {
		if path := args.Text("path"); path != "" {
			return OneLine(pattern + " in " + path)
		}
		return OneLine(pattern)
	}
	if _, text := mainArg(args); text != "" {
		return OneLine(text)
	}
	if len(args.at) == 0 {
		return ""
	}
	return OneLine(input.Raw)
}

// mainArg finds the most telling argument; empty if there is none.
func mainArg(args Object) (name, text string) {
	for _, name := range mainArgs {
		if text := args.Text(name); text != "" {
			return name, text
		}
	}
	return "", ""
}

// Epoch reads seconds or milliseconds since 1970; zero if there are none.
func Epoch(r gjson.Result) time.Time {
	n := r.Int()
	switch {
	case n <= 0:
		return time.Time{}
	case n > 1e11:
		return time.UnixMilli(n)
	}
	return time.Unix(n, 0)
}

// Share returns a number, or -1 if there is none.
func Share(r gjson.Result) float64 {
	if r.Type != gjson.Number {
		return -1
	}
	return r.Float()
}

// Headers returns these headers of an HTTP answer, as "name: value", without empty ones.
func Headers(all Object, names ...string) []string {
	var lines []string
	for _, n := range names {
		if v := all.Text(n); v != "" {
			lines = append(lines, Cut(n+": "+v, 80))
		}
	}
	return lines
}

// Bounds of what one call asks.
const (
	maxAsks    = 8
	maxOptions = 12
	maxAsked   = 2000 // bytes of a question
)

// asks reads the questions of a tool that asks the user. Claude Code, OpenCode, Gemini CLI
// and qwen agree on {"questions":[{"question":"…","options":[{"label":"…","description":"…"}]}]};
// simpler tools have one "question".
func asks(in Object) (all []state.Ask) {
	for q := range Elements(in.Get("questions")) {
		all = appendAsk(all, Members(q))
	}
	if len(all) == 0 {
		all = appendAsk(nil, in)
	}
	return all
}

func appendAsk(all []state.Ask, q Object) []state.Ask {
	text := Cut(q.Text("question"), maxAsked)
	if text == "" || len(all) == maxAsks {
		return all
	}
	a := state.Ask{Text: text}
	for option := range Elements(q.Get("options")) {
		label := option.String()
		if option.IsObject() {
			o := Members(option)
			if label = o.Text("label"); o.Text("description") != "" {
				label += ": " + o.Text("description")
			}
		}
		if label = OneLine(label); label != "" && len(a.Options) < maxOptions {
			a.Options = append(a.Options, label)
		}
	}
	return append(all, a)
}
