package ending

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
)

// Limits of Failures.
const (
	maxFailures  = 20  // of one call; it keeps the newest
	maxSaid      = 400 // runes of Failure.Text
	maxSaidLines = 8   // that make it up
)

// Failure is a tool call that failed.
type Failure struct {
	Tool string `json:"tool"`
	Arg  string `json:"arg,omitempty"`
	// Text is what stays the same when the tool fails again for the same reason.
	Text string `json:"text"`
}

// Failures are the tool calls that failed and were not repeated with success. The zero
// value is ready to use.
type Failures []Failure

// Add takes the result of a tool call. A look that finds nothing is not a failure, and
// neither is a result that does not say what failed.
func (f *Failures) Add(call Failure, failed bool) {
	f.Forget(call.Tool, call.Arg)
	if !failed || looks(call) {
		return
	}
	if call.Text = essence(call.Text); call.Text == "" {
		return
	}
	if len(*f) >= maxFailures {
		*f = slices.Delete(*f, 0, len(*f)-maxFailures+1)
	}
	*f = append(*f, call)
}

// Forget drops a call: it succeeded at last, or it was refused, which is not a failure.
func (f *Failures) Forget(tool, arg string) {
	*f = slices.DeleteFunc(*f, func(o Failure) bool { return o.Tool == tool && o.Arg == arg })
	if len(*f) == 0 {
		*f = nil // as it survives JSON
	}
}

// Texts returns what each failure says, without repeats.
func (f Failures) Texts() []string {
	var texts []string
	for _, one := range f {
		if text := strings.ToLower(one.Tool) + ": " + one.Text; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// looks reports whether the call only looks at something.
func looks(call Failure) bool {
	switch strings.ToLower(call.Tool) {
	case "read", "glob", "grep", "ls", "read_file", "read_many_files", "list_directory", "search_file_content",
		"webfetch", "websearch":
		return true
	}
	rest := strings.NewReplacer("&&", "\n", "||", "\n", ";", "\n", "|", "\n").Replace(call.Arg)
	for part := range strings.Lines(rest) {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "cd", "ls", "cat", "grep", "rg", "find", "fd", "head", "tail", "sed", "wc", "stat", "file", "test", "[",
			"which", "command", "type", "pwd", "echo", "true", "diff":
		case "git":
			if len(words) < 2 || !slices.Contains([]string{"log", "status", "diff", "show", "grep", "branch",
				"rev-parse", "ls-files"}, words[1]) {
				return false
			}
		default:
			return false
		}
	}
	return call.Arg != ""
}

var (
	// failureRE matches the lines of a tool's output that say what failed.
	failureRE = lazy.Regexp(`(?i)fail|error|exception|panic|fatal|expected|undefined|undeclared|cannot|can't|` +
		`could not|unable to|not (found|permitted|defined|exist)|no such|does not|denied|refused|missing|` +
		`invalid|unexpected|unresolved|unknown|timed? ?out|✗|✘|✕|×|❌`)
	// folderRE matches the folders before a file: they differ between workspaces, while
	// its name says which file it is.
	folderRE = lazy.Regexp(`(~|\.{1,2}|[\w.@+-]+)?(/[\w.@+-]+)*/([\w.@+-]+)`)
	exitRE   = lazy.Regexp(`(?i)^\W*(command )?(failed|exited|exit|error)?[ :,]*(with )?(exit )?(code|` +
		`status)? ?[:=]? ?\d+\W*$`)
)

// essence is what a failed result says, without what differs from time to time: its first
// lines that name a failure, else its last line. Tests may run in any order, so the lines
// are sorted. Empty: it says nothing but an exit code.
func essence(text string) string {
	var named []string
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || exitRE().MatchString(line) {
			continue
		}
		if last = line; !failureRE().MatchString(line) || len(named) >= maxSaidLines {
			continue
		}
		if line = Normalize(folderRE().ReplaceAllString(line, "$3")); !slices.Contains(named, line) {
			named = append(named, line)
		}
	}
	if len(named) == 0 && last != "" {
		named = []string{Normalize(folderRE().ReplaceAllString(last, "$3"))}
	}
	slices.Sort(named)
	said := []rune(strings.Join(named, "; "))
	return string(said[:min(len(said), maxSaid)])
}

// maxRead is how many bytes of a text Normalize and Until read.
const maxRead = 4 << 10

type replacement struct {
	re *regexp.Regexp
	by string
}

// The longer and more exact ones come first.
var variable = sync.OnceValue(func() []replacement {
	var out []replacement
	for _, r := range [...][2]string{
		{`https?://\S+`, "<url>"},
		{`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`, "<address>"},
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "<id>"},
		{`\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d)?([.,]\d+)?(z|[+-]\d\d:?\d\d)?`, "<time>"},
		{`\b\d{1,2}:\d\d(:\d\d)?([.,]\d+)?( ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b`, "<time>"},
		{`\b(req|msg|ses|toolu|call|thread)_[a-z0-9]+`, "<id>"},
		{`(~|\.{1,2})?(/[\w.@+-]+){2,}/?`, "<path>"},
		{`\b0x[0-9a-f]+\b`, "<hex>"},
		{`\b([0-9a-f]*[a-f][0-9a-f]*\d|[0-9a-f]*\d[0-9a-f]*[a-f])[0-9a-f]{5,}\b`, "<hex>"},
		{`\b\d+([.,]\d+)*\s?(ms|milliseconds?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|[smhd])\b`, "<span>"},
		{`\d+([.,]\d+)*`, "<n>"},
	} {
		out = append(out, replacement{regexp.MustCompile(r[0]), r[1]})
	}
	return out
})

// Normalize replaces what differs between two occurrences of the same error:
// numbers, ids, times, spans, paths, addresses. Texts with the same result are the
// same error. The result has at most 300 runes.
func Normalize(errText string) string {
	s := strings.ToLower(strings.ToValidUTF8(errText[:min(len(errText), maxRead)], ""))
	for _, v := range variable() {
		s = v.re.ReplaceAllString(s, v.by)
	}
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300])
	}
	return s
}

var epoch = lazy.Regexp(`\|\d{10,13}\b`)

// Shown is an error text for people: without a time in seconds since 1970, which stands
// beside it as a time of day.
func Shown(errText string) string { return epoch().ReplaceAllString(errText, "") }
