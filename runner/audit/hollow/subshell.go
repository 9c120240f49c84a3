package hollow

import (
	"regexp"
	"strings"
	"sync"
)

var shell = sync.OnceValue(func() (p struct{ counts, reads, function, loop, other *regexp.Regexp }) {
	re := regexp.MustCompile
	p.counts = re(`\b(\w+)=\$\(\( *\$?(\w+) *\+|\(\( *(\w+)\+\+ *\)\)`)
	p.reads = re(`(?m)(?:\[\[? "?|\bexit "?|\bexit \$\(\( *)\$\{?(\w+)\b.*$`)
	p.function = re(`(?ms)^(?:function )?(\w+) *\(\) *\{\n(.*?)^\}`)
	p.loop = re(`(?ms)^([ \t]*)[^\n#]*\| *while\b[^\n]*(?:; *done\b[^\n]*$|\n.*?^[ \t]*done\b)`)
	p.other = re(`\blastpipe\b|^#![^\n]*(?:zsh|ksh)`)
	return p
})

// subshell returns the loop behind a pipe in which a script counts failures: it runs in a shell of its own, and what
// is read after it has not changed. It is empty if there is none.
func subshell(text string) string {
	p := shell()
	if p.other.MatchString(text) {
		return ""
	}
	counted := func(body string) (all []string) {
		for _, m := range p.counts.FindAllStringSubmatch(body, -1) {
			if m[1] == m[2] {
				all = append(all, m[1]+m[3])
			}
		}
		return all
	}
	by := map[string][]string{} // what a function counts
	for _, m := range p.function.FindAllStringSubmatch(text, -1) {
		by[m[1]] = counted(m[2])
	}
	for _, at := range p.loop.FindAllStringIndex(text, -1) {
		lost := counted(text[at[0]:at[1]])
		for _, word := range strings.FieldsFunc(text[at[0]:at[1]],
			func(r rune) bool { return strings.ContainsRune(" \t\n;|&", r) }) {
			lost = append(lost, by[word]...)
		}
		after := text[at[1]:]
		for _, read := range p.reads.FindAllStringSubmatchIndex(after, -1) {
			for _, name := range lost {
				more := regexp.MustCompile(`\b` + name + `=\$\(\( *\$?` + name + `\b`) // counts on from the lost value
				again := regexp.MustCompile(`(?m)(?:^|[;&|]|\bdo|\bthen|\blocal|\bread)[ \t]*` + name + `(?:=|$)`)
				if after[read[2]:read[3]] == name && !again.MatchString(more.ReplaceAllString(after[:read[0]], "")) {
					line, _, _ := strings.Cut(text[at[0]:at[1]], "\n")
					return strings.TrimSpace(line)
				}
			}
		}
	}
	return ""
}
