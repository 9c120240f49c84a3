package audit

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
)

// stubPatterns find functions whose whole stubBody says that it is not written yet. They
// match single trimmed lines.
var stubPatterns = sync.OnceValue(func() (p struct {
	header, says, empty, later, comment, base, word, keyword, meant, hook *regexp.Regexp
}) {
	re := regexp.MustCompile
	const missing = `(?:not (?:yet )?implemented|unimplemented|implement me|to ?do\b|not supported yet|` +
		`(?:is )?not there yet|coming soon|fixme|placeholder|stub)`
	p.header = re(`^(?:(?:pub(?:\([^)]*\))?|export|default|async|static|public|private|protected|internal|final|override|open|suspend|` +
		`const|unsafe|virtual|abstract) )*(?:func (?:\([^)]*\) ?)?|fn |def (?:self\.)?|fun |function\*? ?)([\w.!?]+)` +
		`|^(?:export )?(?:const|let|var) (\w+)\s*=.*(?:=>|function\b.*) *[{(]?|` +
		`^exports\.(\w+)\s*=.*(?:=>|\bfunction\b)|` +
		`^(?:(?:public|private|protected|internal|static|final|async|override|abstract|[\w<>\[\],.?]+) )*(\w+)\([^;]*\)[^;={]*\{`)
	p.says = re(`(?i)^(?:raise NotImplementedError\b|todo!\(|unimplemented!\(|TODO\(|panic!?\(.{0,40}` + missing +
		`|throw .{0,60}` + missing + `|throw new NotImplementedException\b|raise .{0,60}` + missing +
		`|fatalError\(.{0,40}` + missing +
		`|(?:print|echo|console\.log|fmt\.Print\w*|puts)\b.{0,60}\b(?:coming soon|not (?:yet )?implemented)\b` +
		`|return .{0,80}(?:errors\.New|fmt\.Errorf|Err)\(.{0,40}` + missing + `)`)
	p.empty = re(`^(?:return(?: (?:nil|null|None|undefined|0|0\.0|-1|false|true|False|True|""|''|\{\}|\[\]|Ok\(\(\)\)|None))*(?:, (?:nil|0|false|""))*` +
		`|nil|null|None|0|false|:|Ok\(\(\))?;?\s*$`)
	p.later = re(`(?i)(?://|#|/\*|--)\s*(?:TODO|FIXME|XXX|STUB|placeholder|not (?:yet )?implemented|implement\b)`)
	p.comment = re(`^(?://|#(?:[^!\[]|$)|/\*|\*|--|"""|''')`)
	p.base = re(`^(?:export )?(?:default )?(?:abstract )?(?:class|trait|interface|protocol|module)\s+(\w+)(.*)$`)
	p.word = re(`[\pL_][\pL\pN_]{3,}`)
	p.keyword = re(`^(?:\} ?)?(?:if|else|elif|for|while|switch|match|catch|return|new|with|using|lock|synchronized|` +
		`case|try|do|await|go|defer)\b`)
	p.meant = re(`(?i)hook|overr?id|sub-?class|no-?op\b|nothing|by default|called|callback|implemented (?:by|in)|` +
		`must (?:be )?implement|is unsupported|not supported (?:on|by|for|in)|not available|intentional|` +
		`deliberate|GOOS`)
	p.hook = re(`^(?:__\w+__|(?:on|handle|visit|pre|post|before|after|log|enter|exit|leave)_?\w*|close|flush|open|` +
		`start|stop|shutdown|setUp\w*|tearDown\w*|noop|f)$`)
	return p
})

// stub is a function that is not written yet, and the line that says so.
type stub struct{ Name, Line string }

// addBases adds the names of classes that others in this text extend.
func addBases(text string, bases map[string]bool) {
	p := stubPatterns()
	for line := range strings.Lines(text) {
		if m := p.base.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			for _, name := range p.word.FindAllString(m[2], -1) {
				bases[name] = true
			}
		}
	}
}

// findStubs returns the stubs in a text of code. bases are classes that others extend: their
// empty methods are for those to fill in.
func findStubs(text string, python bool, bases map[string]bool) []stub {
	p := stubPatterns()
	if strings.Contains(text, "//go:build ") {
		return nil // for systems that do not have it
	}
	text = productOf(text)
	all := strings.Split(text, "\n")
	var found []stub
	class, inherits, classIndent, function := "", false, 0, ""
	for i, raw := range all {
		line := strings.TrimSpace(raw)
		if m := p.base.FindStringSubmatch(line); m != nil {
			class, classIndent = m[1], indent(raw)
			inherits = p.word.MatchString(strings.ReplaceAll(m[2], "object", ""))
		} else if line != "" && indent(raw) <= classIndent && !strings.HasPrefix(line, "}") &&
			!p.comment.MatchString(line) {
			class, inherits = "", false
		}
		m := p.header.FindStringSubmatch(line)
		if function != "" && strings.Contains(line, "todo!(") && !p.comment.MatchString(line) &&
			!slices.ContainsFunc(found, func(s stub) bool { return s.Name == function }) {
			found = append(found, stub{function, line}) // one case of several, in Rust
		}
		if m == nil || p.comment.MatchString(line) || p.keyword.MatchString(line) || i > 0 &&
			strings.HasPrefix(strings.TrimSpace(all[i-1]), "@") {
			continue // a decorator says what the function is for: @abstractmethod, @overload
		}
		name := strings.Join(m[1:], "")
		function = name
		stubBody, whole := bodyOf(all, i, line)
		pass := python && !inherits && !p.hook.MatchString(name) && (class != "" || indent(raw) == 0)
		if whole && name != "func" && name != "function" && stubBody.unwritten(pass) &&
			!(class != "" && (bases[class] || baseName().MatchString(class))) {
			found = append(found, stub{name, stubBody.says()})
		}
	}
	return found
}

var baseName = lazy.Regexp(`(?i)base|abstract|interface|protocol|mixin|null|no-?op|dummy|silent|quiet|discard`)

// stubBody are the statements and comments of a function.
type stubBody struct{ code, comments []string }

// longestStub is the number of lines of the longestStub stubBody that can be a stub.
const longestStub = 12

// inlineBody matches what follows a header on its line: after the colon in Python, else in
// braces or behind an arrow.
var inlineBody = sync.OnceValue(func() (p struct{ python, other *regexp.Regexp }) {
	p.python = regexp.MustCompile(`\)\s*(?:->[^:]*)?:\s*(.*)$`)
	p.other = regexp.MustCompile(`(?:=>\s*([^{\s].*)|\{\s*(.*?)\s*\}?[;,]?)$`)
	return p
})

// bodyOf reads the function whose header is line i. It returns false if the function is
// longer than a stub, or has no stubBody here.
func bodyOf(all []string, i int, header string) (b stubBody, whole bool) {
	pattern := inlineBody().other
	if strings.HasPrefix(header, "def ") || strings.HasPrefix(header, "async def ") {
		pattern = inlineBody().python
	}
	if m := pattern.FindStringSubmatch(header); m != nil {
		if line := strings.TrimSpace(strings.Join(m[1:], "")); line != "" && !stubPatterns().comment.MatchString(line) {
			b.add(line)
			return b, true
		}
	}
	first := i + 1
	for open := parens(header); open > 0 && !strings.HasSuffix(header, "{") && first < len(all); first++ { // parameters on lines of their own
		open += parens(all[first])
	}
	quoted := false // in a docstring of several lines
	for n, raw := range all[first:] {
		line := strings.TrimSpace(raw)
		switch {
		case line == "":
			continue
		case quoted || strings.HasPrefix(line, `"""`):
			ends := strings.Count(line, `"""`)
			quoted = quoted != (ends%2 == 1)
			b.comments = append(b.comments, line)
			continue
		case indent(raw) <= indent(all[i]) || n > longestStub && len(b.code) > 1:
			return b, n <= longestStub
		}
		b.add(line)
	}
	return b, true
}

func parens(line string) int { return strings.Count(line, "(") - strings.Count(line, ")") }

func (b *stubBody) add(line string) {
	p := stubPatterns()
	if p.comment.MatchString(line) || len(b.code) == 0 && strings.HasPrefix(line, `"`) {
		b.comments = append(b.comments, line)
		return
	}
	b.code = append(b.code, line)
}

// unwritten reports whether the stubBody is that of a stub. In Python, a lone pass is.
func (b stubBody) unwritten(python bool) bool {
	p := stubPatterns()
	if len(b.code) != 1 {
		return len(b.code) == 0 && p.later.MatchString(strings.Join(b.comments, "\n"))
	}
	line := b.code[0]
	if p.meant.MatchString(strings.Join(b.comments, "\n") + line) {
		return false
	}
	if at := p.later.FindStringIndex(line); at != nil && p.empty.MatchString(strings.TrimSpace(line[:at[0]])) {
		return true
	}
	if p.says.MatchString(line) {
		return true
	}
	if python && (line == "pass" || line == "...") {
		return true
	}
	return p.empty.MatchString(line) && p.later.MatchString(strings.Join(b.comments, "\n"))
}

func (b stubBody) says() string {
	if len(b.code) > 0 {
		return b.code[0]
	}
	return b.comments[len(b.comments)-1]
}
