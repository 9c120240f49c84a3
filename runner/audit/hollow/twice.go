package hollow

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

var pythonTest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:async )?def (test_\w+)\(`) })

// Twice says which test of a file of Python another one of the same name now hides; empty: none.
func Twice(path, before, after string) string {
	if !strings.HasSuffix(path, ".py") {
		return ""
	}
	had, has := map[string]int{}, map[string]int{}
	for _, m := range pythonTest().FindAllStringSubmatch(before, -1) {
		had[m[1]]++
	}
	for _, m := range pythonTest().FindAllStringSubmatch(after, -1) {
		if has[m[1]]++; has[m[1]] > 1 && had[m[1]] == 1 {
			return fmt.Sprintf("the test %q is there twice now: the second one hides the first", m[1])
		}
	}
	return ""
}
