// Package mutate makes small changes to code that its tests should notice: text in, text out.
package mutate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mutant is a line of a file that was changed.
type Mutant struct {
	Path, Func string
	Was, Now   string // the line, without its indentation
	text       string // the whole line as it was
}

// In returns a text with the mutated line. It returns false if the line does not stand there exactly once.
func (m Mutant) In(text string) (string, bool) {
	indent := m.text[:len(m.text)-len(strings.TrimLeft(m.text, " \t"))]
	before, after, ok := strings.Cut("\n"+text+"\n", "\n"+m.text+"\n")
	if !ok || strings.Contains("\n"+after, "\n"+m.text+"\n") {
		return text, false
	}
	return strings.TrimSuffix((before + "\n" + indent + m.Now + "\n" + after)[1:], "\n"), true
}

// patterns match single trimmed lines.
var patterns = sync.OnceValue(func() (p struct{ header, keyword, comment, effect *regexp.Regexp }) {
	re := regexp.MustCompile
	p.header = re(`^(?:(?:pub(?:\([^)]*\))?|export|default|async|static|const|unsafe) )*(?:func (?:\([^)]*\) ?)?|fn |def (?:self\.)?|function\*? ?)(\w+)` +
		`|^(?:export )?(?:const|let|var) (\w+)\s*=.*(?:=>|\bfunction\b.*) *[{(]?|^(?:module\.)?exports\.(\w+)\s*=.*(?:=>|\bfunction\b)` +
		`|^(?:(?:static|async|get|set) )*(\w+)\s*\([^;]*\)\s*\{$`)
	p.keyword = re(`^(?:\} ?)?(?:if|else|elif|for|while|switch|match|catch|return|new|with|case|try|do|until)\b`)
	p.comment = re(`^(?://|#|/\*|\*|--|"""|'''|for\b|while\b|until\b|loop\b)`) // and what may never end then
	// A function that does something to the world is left alone: half of it may do harm.
	p.effect = re(`(?i)\b(?:rm|rmdir|mv|cp|dd|kill\w*|unlink\w*|remove\w*|delete\w*|rmtree|truncate|drop|exec\w*|spawn\w*|system|popen|subprocess|` +
		`write\w*|save\w*|send\w*|post|put|patch|request\w*|fetch|http\w*|urllib|sql|cursor|connect|open|create\w*|mkdir\w*|rename\w*|` +
		`chmod|chown|os\.\w+|fs\.\w+|curl|wget|git|docker|sudo|eval)\b`)
	return p
})

// Code reports whether lines of this file can be changed.
func Code(name string) bool {
	return slices.Contains([]string{".go", ".py", ".js", ".mjs", ".cjs", ".ts", ".rs", ".sh", ".bash", ".rb", ".java", ".kt", ".php"}, path.Ext(name))
}

// Of returns mutants of the wanted functions in a file, at most three for each. They change different lines if there are
// enough. A function that touches anything outside the program has none.
func Of(name, text string, wanted func(function string) bool) (all []Mutant) {
	if !Code(name) {
		return nil
	}
	text, _, _ = strings.Cut(text, "#[cfg(test)]")
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		function := header(lines[i])
		if function == "" {
			continue
		}
		end := i + 1
		for end < len(lines) && (strings.TrimSpace(lines[end]) == "" || indent(lines[end]) > indent(lines[i])) {
			end++
		}
		if wanted(function) && !patterns().effect.MatchString(strings.Join(lines[i+1:end], "\n")) {
			all = append(all, inside(name, function, lines[i+1:end])...)
		}
	}
	return all
}

func header(line string) string {
	p := patterns()
	line = strings.TrimSpace(line)
	m := p.header.FindStringSubmatch(line)
	if m == nil || p.keyword.MatchString(line) {
		return ""
	}
	return strings.Join(m[1:], "")
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

const perFunction = 3

// inside returns the mutants of one function: the last lines first, for they make its result.
func inside(name, function string, body []string) (all []Mutant) {
	for round := range 2 { // a second change of a line only if there are too few lines
		for _, raw := range slices.Backward(body) {
			line := strings.TrimSpace(raw)
			if line == "" || patterns().comment.MatchString(line) {
				continue
			}
			if ways := changed(line, path.Ext(name)); len(ways) > round {
				all = append(all, Mutant{Path: name, Func: function, Was: line, Now: ways[round], text: raw})
			}
			if len(all) == perFunction {
				return all
			}
		}
	}
	return all
}

// change is a way to change a line.
type change struct {
	from *regexp.Regexp
	to   string
	ext  string // only in files whose names end so; empty: in all
}

var changes = sync.OnceValue(func() (all []change) {
	add := func(from, to, ext string) { all = append(all, change{regexp.MustCompile(from), to, ext}) }
	add(`^return [^;]+$`, `return None`, ".py")
	add(`^return [^;]+;?$`, `return undefined`, ".js .mjs .cjs")
	for _, pair := range [][2]string{{"==", "!="}, {"!=", "=="}, {"===", "!=="}, {"!==", "==="}, {"<=", ">"}, {">=", "<"}, {"<", ">="}, {">", "<="},
		{"&&", "||"}, {"||", "&&"}, {"-", "+"}, {"*", "+"}, {"/", "*"}, {"%", "+"}, {"-=", "+="}, {"*=", "+="}} {
		add(` `+regexp.QuoteMeta(pair[0])+` `, ` `+strings.ReplaceAll(pair[1], "$", "$$")+` `, "")
	}
	add(`([\w)\]]) \+ ([\w(])`, `$1 - $2`, "")
	add(`([\w)\]]) \+= (\d)`, `$1 -= $2`, "")
	add(` and `, ` or `, ".py")
	add(` or `, ` and `, ".py")
	add(`\bnot (\w)`, `$1`, ".py")
	add(`-eq`, `-ne`, ".sh .bash")
	add(`-(?:lt|le)\b`, `-ge`, ".sh .bash")
	add(`-(?:gt|ge)\b`, `-lt`, ".sh .bash")
	add(`\$\(\((\w+|\$\w+) \* `, `$$(($1 + `, ".sh .bash")
	add(`\btrue\b`, `false`, ".go .js .mjs .cjs .ts .rs .rb .java .kt .php")
	add(`\bfalse\b`, `true`, ".go .js .mjs .cjs .ts .rs .rb .java .kt .php")
	add(`\bTrue\b`, `False`, ".py")
	add(`\bFalse\b`, `True`, ".py")
	add(`([ (,\[=-])([0-9]+)\b`, `${1}1$2`, "") // 5 becomes 15
	add(`([\w\])])([+*])(["'/])`, `$1$3`, "")   // of a pattern
	add(`\.(?:lower|upper|strip|title|trim|trim\w+|toLowerCase|toUpperCase|sort|reverse|to_lowercase|to_uppercase)\(\)`, ``, "")
	add(`"([^"\\%{}$]+)"`, `"x$1"`, "")
	add(`'([^'\\%{}$]+)'`, `'x$1'`, ".py .js .mjs .cjs .ts .rb .php .sh .bash")
	return all
})

// changed returns the ways to change a line; each changes one place.
func changed(line, ext string) (all []string) {
	for _, c := range changes() {
		if c.ext != "" && !slices.Contains(strings.Fields(c.ext), ext) {
			continue
		}
		at := c.from.FindStringSubmatchIndex(line)
		if at == nil {
			continue
		}
		now := line[:at[0]] + string(c.from.ExpandString(nil, c.to, line, at)) + line[at[1]:]
		if now != line && !slices.Contains(all, now) {
			all = append(all, now)
		}
	}
	return all
}
