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
	Weak       bool   // a number or text that says little about what the function does: a default, the size of a buffer
	text       string // the whole line as it was
	nth, times int    // which of so many equal lines of the file it is
}

// In returns a text with the mutated line. It returns false if the line does not stand there as often as in the text
// that the mutant is from.
func (m Mutant) In(text string) (string, bool) {
	lines := strings.Split(text, "\n")
	var at []int
	for i, line := range lines {
		if line == m.text {
			at = append(at, i)
		}
	}
	if len(at) != m.times {
		return text, false
	}
	lines[at[m.nth]] = m.text[:indent(m.text)] + m.Now
	return strings.Join(lines, "\n"), true
}

// patterns match single trimmed lines.
var patterns = sync.OnceValue(func() (p struct{ header, keyword, comment, effect, opens *regexp.Regexp }) {
	re := regexp.MustCompile
	p.header = re(`^(?:(?:pub(?:\([^)]*\))?|export|default|async|static|const|unsafe) )*(?:func (?:\([^)]*\) ?)?|` +
		`fn |def (?:self\.)?|function\*? ?)(\w+)|` +
		`^(?:export )?(?:const|let|var) (\w+)\s*=.*(?:=>|\bfunction\b.*) *[{(]?|` +
		`^(?:module\.)?exports\.(\w+)\s*=.*(?:=>|\bfunction\b)|^(?:(?:static|async|get|set) )*(\w+)\s*\([^;]*\)\s*\{$`)
	p.keyword = re(`^(?:\} ?)?(?:if|else|elif|for|while|switch|match|catch|return|new|with|case|try|do|until)\b`)
	// Besides comments: what may never end then, and logs.
	p.comment = re(`^(?://|#|/\*|\*|--|"""|'''|for\b|while\b|until\b|loop\b|` +
		`(?:[\w.]+\.)?_?(?i:log|logger|logging|slog)\.)`)
	// It ends parameters on lines of their own.
	p.opens = re(`^\).*[{:]$`)
	// A function that starts, kills, sends or deletes something is left alone: half of it may do harm.
	p.effect = re(`(?i)\bos\.\w+|\bfs\.\w+|\b(?:shutil|subprocess|exec\w*|spawn\w*|system|popen|https?|requests|` +
		`fetch|urllib|sql|cursor|sockets?|connect|unlink\w*|rmtree|kill\w*|eval)\b|` +
		`(?:^|[;|&(]|\b(?:then|do|else|sudo)\b)\s*(?:rm|rmdir|mv|cp|dd|ln|chmod|chown|curl|wget|git|docker|sudo|ssh)\s`)
	return p
})

// Code reports whether lines of this file can be changed.
func Code(name string) bool {
	return slices.Contains([]string{".go", ".py", ".js", ".mjs", ".cjs", ".ts", ".rs", ".sh", ".bash", ".rb", ".java",
		".kt", ".php"}, path.Ext(name))
}

// Of returns mutants of the wanted functions in a file, at most so many for each. They change different lines if there
// are enough. A function that touches anything outside the program has none.
func Of(name, text string, most int, wanted func(function string) bool) (all []Mutant) {
	if !Code(name) {
		return nil
	}
	code, _, _ := strings.Cut(text, "#[cfg(test)]")
	lines := strings.Split(text, "\n")
	for i := range strings.Count(code, "\n") {
		function := header(lines[i])
		if function == "" || !wanted(function) {
			continue
		}
		if from, last := body(lines, i); !patterns().effect.MatchString(strings.Join(lines[from:last], "\n")) {
			all = append(all, part{name, function, lines, from, last}.mutants(most)...)
		}
	}
	return all
}

// Planted is a file of tests that fails as soon as it runs; empty: its language is not known.
func Planted(name, text string) string {
	first, rest := "", text
	if strings.HasPrefix(text, "#!") {
		first, rest, _ = strings.Cut(text, "\n")
		first += "\n"
	}
	switch path.Ext(name) {
	case ".sh", ".bash":
		return first + "exit 1\n" + rest
	case ".py":
		return first + "assert False, 'planted'\n" + rest
	case ".js", ".mjs", ".cjs", ".ts":
		return first + "throw new Error('planted');\n" + rest
	case ".go":
		return text + "\nfunc init() { panic(\"planted\") }\n"
	case ".rs":
		return text + "\ncompile_error!(\"planted\");\n"
	}
	return ""
}

// Bodies returns the functions of a text of code, by name.
func Bodies(text string) map[string]string {
	code, _, _ := strings.Cut(text, "#[cfg(test)]")
	lines, all := strings.Split(code, "\n"), map[string]string{}
	for i, line := range lines {
		if function := header(line); function != "" {
			from, last := body(lines, i)
			all[function] += strings.Join(lines[from:last], "\n")
		}
	}
	return all
}

// body returns the first line of the body of a function that begins at this line, and the line after it.
func body(lines []string, at int) (from, last int) {
	if last = end(lines, at); last < len(lines) && patterns().opens.MatchString(strings.TrimSpace(lines[last])) {
		at, last = last, end(lines, last)
	}
	return at + 1, last
}

// end is the line after a block that begins at this one.
func end(lines []string, from int) int {
	at := from + 1
	for at < len(lines) && (strings.TrimSpace(lines[at]) == "" || indent(lines[at]) > indent(lines[from])) {
		at++
	}
	return at
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

// part is a function in the lines of a file.
type part struct {
	path, function string
	lines          []string
	from, end      int
}

// mutants returns at most so many mutants, of its last lines first, for they make its result. Weak ones, and a second
// change of a line, are there only if there are too few others.
func (p part) mutants(most int) (all []Mutant) {
	for round := range 4 {
		for i := p.end - 1; i >= p.from && len(all) < most; i-- {
			line := strings.TrimSpace(p.lines[i])
			if line == "" || patterns().comment.MatchString(line) {
				continue
			}
			if ways := changed(line, path.Ext(p.path), round >= 2); len(ways) > round%2 {
				all = append(all, Mutant{Path: p.path, Func: p.function, Was: line, Now: ways[round%2],
					Weak: round >= 2, text: p.lines[i], nth: count(p.lines[:i], p.lines[i]),
					times: count(p.lines, p.lines[i])})
			}
		}
	}
	return all
}

func count(lines []string, line string) (n int) {
	for _, other := range lines {
		if other == line {
			n++
		}
	}
	return n
}

// change is a way to change a line.
type change struct {
	from *regexp.Regexp
	to   string
	ext  string // only in files whose names end so; empty: in all
	weak bool   // outside of a return
}

var changes = sync.OnceValue(func() (all []change) {
	add := func(from, to, ext string) {
		all = append(all, change{from: regexp.MustCompile(from), to: to, ext: ext})
	}
	weak := func(from, to, ext string) {
		all = append(all, change{from: regexp.MustCompile(from), to: to, ext: ext, weak: true})
	}
	add(`^return [^;]+$`, `return None`, ".py")
	add(`^return [^;]+;?$`, `return undefined`, ".js .mjs .cjs")
	for _, pair := range [][2]string{{"==", "!="}, {"!=", "=="}, {"===", "!=="}, {"!==", "==="}, {"<=", ">"},
		{">=", "<"}, {"<", ">="}, {">", "<="},
		{"&&", "||"}, {"||", "&&"}, {"-", "+"}, {"*", "+"}, {"/", "*"}, {"%", "+"}, {"-=", "+="}, {"*=", "+="}} {
		add(` `+regexp.QuoteMeta(pair[0])+` `, ` `+strings.ReplaceAll(pair[1], "$", "$$")+` `, "")
	}
	add(`^((?:\} )?(?:else )?if )([^;{]+)( \{)$`, `$1!($2)$3`, ".go .rs")
	add(`^(if .+; )(\w+)( \{)$`, `$1!$2$3`, ".go")
	add(`^((?:\} )?(?:else )?if \()(.+)(\) (?:\{|return\b.*|throw\b.*|[\w.]+\(.*\);?))$`, `$1!($2)$3`,
		".js .mjs .cjs .ts .java .kt .php")
	add(`^((?:el)?if )(.+):$`, `${1}not ($2):`, ".py")
	add(`^(?:await )?[\w.]+\.\w+\(.*\);?$`, ``, ".go .rs .js .mjs .cjs .ts .java .kt .php")
	add(`^(?:this|self)\.\w+ [+*/-]?= .+;?$`, ``, ".js .mjs .cjs .ts .rs .java .kt .php")
	add(`^(?:[\w.]+\.\w+\(.*\)|self\.\w+ [+*/-]?= .+|raise\b.*)$`, `pass`, ".py")
	add(`^throw .+;?$`, `;`, ".js .mjs .cjs .ts .java .php")
	add(`^delete\(.*\)$`, ``, ".go")
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
	weak(`([ (,\[=-])([0-9]+)\b`, `${1}1$2`, "") // 5 becomes 15
	add(`([\w\])])([+*])(["'/])`, `$1$3`, "")    // of a pattern
	add(`\.(?:lower|upper|strip|title|trim|trim\w+|toLowerCase|toUpperCase|sort|reverse|to_lowercase|`+
		`to_uppercase)\(\)`, ``, "")
	weak(`"([^"\\%{}$]+)"`, `"x$1"`, "")
	weak(`'([^'\\%{}$]+)'`, `'x$1'`, ".py .js .mjs .cjs .ts .rb .php .sh .bash")
	return all
})

// changed returns the ways to change a line, weak or not; each changes one place. All changes of a row of values are
// weak.
func changed(line, ext string, weak bool) (all []string) {
	row, result := strings.HasSuffix(line, ","), strings.HasPrefix(line, "return")
	for _, c := range changes() {
		if weak != (row || c.weak && !result) || c.ext != "" && !slices.Contains(strings.Fields(c.ext), ext) {
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
