package lang

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Check is one statement of a test that compares something.
type Check struct {
	Shape  string   // without values, negations, spaces, and what only people read
	Values []string // what it compares with, and how, in order
	Inputs []string // values that it hands to what is tested
	Row    bool     // of a table: inputs and values cannot be told apart
}

// Key is the same for checks of which nothing but the layout differs.
func (c Check) Key() string {
	return c.Place() + "\x00" + strings.Join(c.Values, "\x00\x00")
}

// Place is the same for checks that may differ in what they compare with.
func (c Check) Place() string {
	return c.Shape + "\x00" + strings.Join(c.Inputs, "\x00\x00")
}

const maxStatement = 60 // lines; a longer one is no single comparison

var parts = sync.OnceValue(func() (p struct{ token, wanted, condition, opposite, lists, single *regexp.Regexp }) {
	p.token = regexp.MustCompile(`(\x01[\x01\n]*)|((?:-|\b)\d[\w.]*)|(\.?[A-Za-z_\x80-\xff][\w.]*)|([!=]==?|!|[<>]=?)|([(\[{])|([)\]}])|(,)`)
	p.wanted = regexp.MustCompile(`(?i)^\s*(?:const |let |var |let mut )?(?:want|wanted|expect|expected|exp|golden|should_be)\w*(?::[^=]+)?\s*:?=[^=]`)
	p.condition = regexp.MustCompile(`^\s*(?:\} )?(?:else )?(?:el)?if\b`)
	p.opposite = regexp.MustCompile(`Not|not_|^not$|^is$|True|False|Truthy|Falsy|^true$|^false$|_eq$|_ne$|is_ok$|is_err$|is_some$|is_none$|^NoError$|^Error$`)
	p.lists = regexp.MustCompile(`~(?:,~)+,?`)
	p.single = regexp.MustCompile(`(?i)(?:assert|true|false|nil|null|none|error|ok|empty)$`)
	return p
})

// Checks cuts a test into the statements that compare and all its other lines.
func (l *Language) Checks(s Source) (checks []Check, rest []string) {
	texts, codes := strings.Split(s.Text, "\n"), strings.Split(s.Code, "\n")
	head := l.Extent == Parens // the first line names the test
	for i := 0; i < len(codes); i++ {
		line := Source{texts[i], codes[i]}
		switch {
		case strings.TrimSpace(line.Code) == "" || l.Message.MatchString(line.Code):
		case l.Assertion.MatchString(line.Code) || parts().wanted.MatchString(line.Code) || parts().condition.MatchString(line.Code):
			for n := 0; open(line.Code) > 0 && n < maxStatement && i+1 < len(codes); n++ {
				i++
				line = line.Add(Source{"\n" + texts[i], "\n" + codes[i]})
			}
			checks = append(checks, l.check(line))
		case l.rowsOf(line.Text, line.Code) > 0:
			c := l.check(line)
			c.Row = true
			checks = append(checks, c)
		case !head || !l.Test.MatchString(line.Code):
			rest = append(rest, strings.TrimSpace(line.Text))
		}
		head = head && strings.TrimSpace(line.Code) == ""
	}
	return checks, rest
}

// open counts the brackets that a statement has not closed; the one of the block
// below a condition does not count.
func open(code string) int {
	if parts().condition.MatchString(code) {
		code = strings.TrimSuffix(strings.TrimSpace(code), "{")
	}
	n := 0
	for i := range len(code) {
		switch code[i] {
		case '(', '[', '{':
			n++
		case ')', ']', '}':
			n--
		}
	}
	return n
}

// reader takes a statement apart.
type reader struct {
	l     *Language
	src   Source
	shape strings.Builder
	check Check
	calls []bool // open brackets: what is inside is handed to what is tested
	outer int    // depth of the call that asserts, 0: none seen; -1: left
	args  int    // arguments that it may still have
}

func (l *Language) check(s Source) Check {
	r := reader{l: l, src: s}
	at := 0
	for _, m := range parts().token.FindAllStringSubmatchIndex(s.Code, -1) {
		r.plain(s.Code[at:m[0]])
		at = m[1]
		if !r.token(m) {
			break
		}
	}
	r.check.Shape = parts().lists.ReplaceAllString(r.shape.String(), "~")
	return r.check
}

// plain is what no token is: brackets of strings, spaces, signs.
func (r *reader) plain(s string) {
	for _, c := range s {
		if !strings.ContainsRune(" \t\r\n\"'`;", c) {
			r.shape.WriteRune(c)
		}
	}
}

// token reads one; false: what follows is only for people.
func (r *reader) token(m []int) bool {
	text := r.src.Text[m[0]:m[1]]
	switch {
	case m[2] >= 0, m[4] >= 0:
		r.value(text)
	case m[6] >= 0:
		r.name(text)
	case m[8] >= 0:
		r.check.Values = append(r.check.Values, text)
	case m[10] >= 0:
		r.push(m[0])
		r.shape.WriteString(text)
	case m[12] >= 0:
		if len(r.calls) == r.outer {
			r.outer = -1
		}
		r.calls = r.calls[:max(len(r.calls)-1, 0)]
		r.shape.WriteString(text)
	default:
		return r.comma(m[0])
	}
	return true
}

func (r *reader) value(text string) {
	if slices.Contains(r.calls, true) {
		r.check.Inputs = append(r.check.Inputs, text)
	} else {
		r.check.Values = append(r.check.Values, text)
	}
	r.shape.WriteByte('~')
}

func (r *reader) name(text string) {
	switch text {
	case "true", "false", "True", "False", "nil", "None", "null", "undefined":
		r.value(text)
		return
	}
	for part := range strings.SplitSeq(text, ".") {
		if o := parts().opposite.FindString(part); o != "" {
			r.check.Values = append(r.check.Values, o)
			part = strings.Replace(part, o, "", 1)
		}
		r.shape.WriteString(part)
	}
}

// push opens a bracket: of a call, or of a list or a group.
func (r *reader) push(at int) {
	before := strings.TrimSuffix(r.src.Code[:at], "!")
	start := len(before)
	for start > 0 && (wordByte(before[start-1]) || before[start-1] == '.') {
		start--
	}
	name := before[start:]
	asserts := name != "" && r.l.Assertion.MatchString(before[start:]+r.src.Code[len(before):at]+"(")
	if asserts && r.outer == 0 {
		r.outer, r.args = len(r.calls)+1, 2
		if parts().single.MatchString(name) {
			r.args = 1
		}
	}
	call := r.src.Code[at] == '(' && name != "" && !asserts && !r.l.Compares.MatchString(name[strings.LastIndexByte(name, '.')+1:])
	r.calls = append(r.calls, call)
}

// comma says whether what follows it still compares.
func (r *reader) comma(at int) bool {
	r.shape.WriteByte(',')
	if len(r.calls) == 0 {
		return !strings.HasPrefix(strings.TrimSpace(r.src.Code), "assert ")
	}
	if len(r.calls) != r.outer {
		return true
	}
	if strings.HasSuffix(r.src.Code[:at], "(t") {
		return true
	}
	r.args--
	return r.args > 0
}
