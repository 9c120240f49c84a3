// Package stub finds functions that are not written yet: text in, names out.
package stub

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// patterns find functions whose whole body says that it is not written yet. They
// match single trimmed lines.
var patterns = sync.OnceValue(func() (p struct {
	header, says, empty, later, comment, base, word, keyword, meant,
	hook, provisional, fixed *regexp.Regexp
}) {
	re := regexp.MustCompile
	const missing = `(?:not (?:yet )?implemented|unimplemented|implement me|to ?do\b|not supported yet|` +
		`(?:is )?not there yet|fixme|placeholder|stub)`
	p.header = re(`^(?:(?:pub(?:\([^)]*\))?|export|default|async|static|public|private|protected|internal|final|override|open|suspend|` +
		`const|unsafe|virtual|abstract) )*(?:func (?:\([^)]*\) ?)?|fn |def (?:self\.)?|fun |function\*? ?)([\w.!?]+)` +
		`|^(?:export )?(?:const|let|var) (\w+)\s*=.*(?:=>|function\b.*) *[{(]?|` +
		`^exports\.(\w+)\s*=.*(?:=>|\bfunction\b)|` +
		`^(?:(?:public|private|protected|internal|static|final|async|override|abstract|[\w<>\[\],.?]+) )*(\w+)\([^;]*\)[^;={]*\{`)
	p.says = re(`(?i)^(?:raise NotImplementedError\b|todo!\(|unimplemented!\(|TODO\(|panic!?\(.{0,40}` + missing +
		`|throw .{0,60}` + missing + `|throw new NotImplementedException\b|raise .{0,60}` + missing +
		`|fatalError\(.{0,40}` + missing +
		`|return .{0,80}(?:errors\.New|fmt\.Errorf|Err)\(.{0,40}` + missing + `)`)
	p.empty = re(`^(?:return(?: (?:nil|null|None|undefined|0|0\.0|-1|false|true|False|True|""|''|\{\}|\[\]|Ok\(\(\)\)|None))*(?:, (?:nil|0|false|""))*` +
		`|nil|null|None|0|false|Ok\(\(\))?;?\s*$`)
	p.later = re(`(?i)(?://|#|/\*|--)\s*(?:TODO|FIXME|XXX|STUB|placeholder|not (?:yet )?implemented|implement\b)`)
	p.provisional = re(`(?i)\bplaceholder (?:until|for now|implementation|value)|` +
		`\bto be (?:extended|implemented|written|completed|filled in)\b|` +
		`\b(?:dummy|fake|hard-?coded) (?:value|result|data|implementation)|\bfor now\b|` +
		`\bnot (?:yet )?implemented\b|\btodo\b`)
	p.fixed = re(`^return (?:\[[^\w]*\w?[^\w]*\]|["'][^"']*["']|\d[\d.]*|\{\}|\(\)|None|True|False|nil|null|true|` +
		`false)(?: \* \w+)?;?$`)
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

// Stub is a function that is not written yet, and the line that says so.
type Stub struct{ Name, Line string }

// Bases adds the names of classes that others in this text extend.
func Bases(text string, bases map[string]bool) {
	p := patterns()
	for line := range strings.Lines(text) {
		if m := p.base.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			for _, name := range p.word.FindAllString(m[2], -1) {
				bases[name] = true
			}
		}
	}
}

// Find returns the stubs in a text of code. bases are classes that others extend: their
// empty methods are for those to fill in.
func Find(text string, python bool, bases map[string]bool) []Stub {
	p := patterns()
	if strings.Contains(text, "//go:build ") {
		return nil // for systems that do not have it
	}
	text, _, _ = strings.Cut(text, "#[cfg(test)]")
	all := strings.Split(text, "\n")
	var found []Stub
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
			!isStub(found, function) {
			found = append(found, Stub{function, line}) // one case of several, in Rust
		}
		if m == nil || p.comment.MatchString(line) || p.keyword.MatchString(line) || i > 0 &&
			strings.HasPrefix(strings.TrimSpace(all[i-1]), "@") {
			continue // a decorator says what the function is for: @abstractmethod, @overload
		}
		name := strings.Join(m[1:], "")
		function = name
		body, whole := bodyOf(all, i, line)
		pass := python && !inherits && !p.hook.MatchString(name) && (class != "" || indent(raw) == 0)
		if whole && name != "func" && name != "function" && body.unwritten(pass) &&
			!(class != "" && (bases[class] || baseName().MatchString(class))) {
			found = append(found, Stub{name, body.says()})
		}
	}
	return found
}

func isStub(all []Stub, name string) bool {
	return slices.ContainsFunc(all, func(s Stub) bool { return s.Name == name })
}

var baseName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)base|abstract|interface|protocol|mixin|null|no-?op|dummy|silent|quiet|discard`)
})

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
