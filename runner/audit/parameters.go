package audit

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ralph/logs/lazy"
)

// functionRE matches the start of a function, with its name and its parameters.
var functionRE = sync.OnceValue(func() *regexp.Regexp {
	const list = `\(([^()]*(?:\([^()]*\)[^()]*)*)\)`
	return regexp.MustCompile(`\b(?:func(?: \([^)]*\))?|def|fn|fun|function\*?) (\w+)\s*(?:<[^>]*>)?` + list +
		`|\b(?:const|let|var|exports\.|this\.) ?(\w+)\s*=\s*(?:async )?(?:function\*?\s*\w*\s*)?` + list + `\s*(?:=>|\{)` +
		`|\b(?:const|let|var) (\w+)\s*=\s*(?:async )?(\w+)\s*=>` +
		`|(?m:^)[ \t]+(?:static |async )*(\w+)` + list + `\s*\{`)
})

// innermostRE matches brackets without others in them.
var innermostRE = lazy.Regexp(`([\[({<])[^\[\](){}<>]*[\])}>]`)

// changedParameters returns the functions of a text that a call from before no longer fits, and whether they take
// fewer parameters now. A new parameter with a default value fits, and so does another name.
func changedParameters(before, after string) map[string]bool {
	all, is := map[string]bool{}, parameters(after)
	for name, was := range parameters(before) {
		for _, old := range was {
			fits := func(now string) bool {
				more, ok := strings.CutPrefix(now, old)
				return ok && strings.Trim(more, "or") == ""
			}
			if now := is[name]; len(now) > 0 && !slices.ContainsFunc(now, fits) {
				all[name] = len(now[0]) < len(old) && !strings.Contains(now[0], "{")
			}
		}
	}
	return all
}

// parameters returns the parameters of the functions in a text, by name, with a letter for each: p plain, o optional,
// r all the rest, { taken apart, * "those that follow have names".
func parameters(text string) map[string][]string {
	all := map[string][]string{}
	for _, m := range functionRE().FindAllStringSubmatch(text, -1) {
		name, kinds := m[1]+m[3]+m[5]+m[7], ""
		for p := range strings.SplitSeq(innermostRE().ReplaceAllString(m[2]+m[4]+m[6]+m[8], "$1"), ",") {
			switch p = strings.TrimSpace(p); {
			case p == "":
			case p == "*":
				kinds += "*"
			case strings.HasPrefix(p, "*"), strings.Contains(p, "..."):
				kinds += "r"
			case strings.HasPrefix(p, "{"), strings.HasPrefix(p, "["):
				kinds += "{"
			case strings.Contains(p, "="), strings.Contains(p, "?:"):
				kinds += "o"
			default:
				kinds += "p"
			}
		}
		if !slices.Contains(reserved(), name) {
			all[name] = append(all[name], kinds)
		}
	}
	return all
}
