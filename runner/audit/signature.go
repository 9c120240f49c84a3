package audit

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// signatureChange says how the parameters of a function changed.
type signatureChange struct {
	Fewer bool // there are fewer than before
}

// definition is a name that code defines, in many languages: not a local variable.
var definition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\bfunc (?:\([^)]*\) )?|` +
		`\b(?:def|class|function|fn|struct|enum|trait|interface|type|object|fun|module) |` +
		`\bexports\.|(?m:^)(?:export )?(?:const|let|var) )(\w+)|(?m:^)[ \t]+(?:\w+ )*(\w+)\([^()]*\) *\{$`)
})

// calls match calls of functions, not of methods.
var calls = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|[^.\w])(\w+)\(`) })

// definedNames returns the names that a text defines.
func definedNames(text string) map[string]bool {
	return namesIn(definition().FindAllStringSubmatch(text, -1))
}

// mentionedNames returns the names that a text defines or calls.
func mentionedNames(text string) map[string]bool {
	return namesIn(append(definition().FindAllStringSubmatch(text, -1), calls().FindAllStringSubmatch(text, -1)...))
}

func namesIn(found [][]string) map[string]bool {
	all := map[string]bool{}
	for _, m := range found {
		if name := strings.Join(m[1:], ""); name != "" && !slices.Contains(reserved(), name) {
			all[name] = true
		}
	}
	return all
}

func reserved() []string {
	return []string{"if", "for", "while", "switch", "catch", "with", "else", "function", "return"}
}

// headers match the start of a function: its name, then its parameters.
var headers = sync.OnceValue(func() []*regexp.Regexp {
	const list = `\(([^()]*(?:\([^()]*\)[^()]*)*)\)`
	return []*regexp.Regexp{
		regexp.MustCompile(`\b(?:func(?: \([^)]*\))?|(?:async )?(?:def|fn|fun|function)\*?) (\w+)\s*(?:<[^>]*>)?` +
			list),
		regexp.MustCompile(`\b(?:const|let|var|exports\.|this\.) ?(\w+)\s*=\s*(?:async )?(?:function\*?\s*\w*\s*)?` +
			list + `\s*(?:=>|\{)`),
		regexp.MustCompile(`\b(?:const|let|var) (\w+)\s*=\s*(?:async )?(\w+)\s*=>`),
		regexp.MustCompile(`(?m)^[ \t]+(?:static |async )*(\w+)` + list + `\s*\{`),
	}
})

// changedSignatures returns the functions of a text that a call from before does not fit any more. A new
// parameter with a default value fits, another name of a parameter does, too.
func changedSignatures(before, after string) map[string]signatureChange {
	was, is := signatures(before), signatures(after)
	all := map[string]signatureChange{}
	for name, old := range was {
		if len(is[name]) == 0 {
			continue // it is gone
		}
		for _, o := range old {
			if !slices.ContainsFunc(is[name], func(n []string) bool { return fits(o, n) }) {
				new := is[name][0]
				all[name] = signatureChange{Fewer: len(new) < len(o) && !slices.Contains(new, taken)}
			}
		}
	}
	return all
}

// fits reports whether the arguments for old parameters fit new ones.
func fits(old, new []string) bool {
	return len(new) >= len(old) && slices.Equal(old, new[:len(old)]) &&
		!slices.ContainsFunc(new[len(old):], func(kind string) bool { return kind != optional && kind != rest })
}

// The parameterKinds of parameters.
const (
	required = "required"
	optional = "optional"
	rest     = "rest"
	keywords = "keywords" // all that follow have to be namesIn
	taken    = "taken"    // taken apart: {a, b}
)

// signatures returns the parameters of all functions in a text, as parameterKinds.
func signatures(text string) map[string][][]string {
	all := map[string][][]string{}
	for _, re := range headers() {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(reserved(), m[1]) {
				all[m[1]] = append(all[m[1]], parameterKinds(m[2]))
			}
		}
	}
	return all
}

func parameterKinds(list string) []string {
	all := []string{}
	for _, p := range splitList(list) {
		switch p = strings.TrimSpace(p); {
		case p == "":
		case p == "*":
			all = append(all, keywords)
		case strings.HasPrefix(p, "*"), strings.Contains(p, "..."):
			all = append(all, rest)
		case strings.HasPrefix(p, "{"), strings.HasPrefix(p, "["):
			all = append(all, taken)
		case strings.Contains(p, "="), strings.Contains(p, "?:"):
			all = append(all, optional)
		default:
			all = append(all, required)
		}
	}
	return all
}

// splitList cuts a list at the commas that are not in brackets.
func splitList(list string) []string {
	var all []string
	depth, start := 0, 0
	for i, c := range list {
		switch c {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
		case ',':
			if depth == 0 {
				all, start = append(all, list[start:i]), i+1
			}
		}
	}
	return append(all, list[start:])
}
