package hollow

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var pythonTest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:class (\w+)|(?:async )?def (test_\w+)\(|` +
		`[ \t]+(?:async )?def (test_\w+)\(self\b)`)
})

// Twice says which test of a file of Python another one of the same name now hides; empty: none.
func Twice(path, before, after string) string {
	if !strings.HasSuffix(path, ".py") {
		return ""
	}
	had, has := pythonTests(before), pythonTests(after)
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if has[name] > 1 && had[name] == 1 {
			return fmt.Sprintf("the test %q is there twice now: the second one hides the first", name)
		}
	}
	return ""
}

// pythonTests counts the tests of a file by name, that of its class before it.
func pythonTests(text string) map[string]int {
	all, class := map[string]int{}, ""
	for _, m := range pythonTest().FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] != "":
			class = m[1] + "."
		case m[2] != "":
			all[m[2]]++
		default:
			all[class+m[3]]++
		}
	}
	return all
}
