package audit

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ralph/runner/audit/lang"
)

var suppressing = sync.OnceValue(func() (p struct{ asked, made, madeFile *regexp.Regexp }) {
	p.asked = regexp.MustCompile(`(?i)\b(?:suppress\w*|nolint|noqa|ts-ignore|ts-expect-error|eslint-disable|type: ?ignore|nosec|baseline|lint exceptions?)\b`)
	p.made = regexp.MustCompile(`(?i)code generated|@generated|auto-?generated|do not edit`)
	p.madeFile = regexp.MustCompile(`(?:^|/)(?:gen|generated|dist|build|vendor|node_modules|third_party)/|\.pb\.go$|_pb2\w*\.py$|\.(?:min|gen|generated)\.\w+$`)
	return p
})

// compareSuppressions finds code in which more linters are switched off for a
// place than before. What left another file may have moved.
func compareSuppressions(files []File, task string) []Finding {
	if suppressing().asked.MatchString(task) {
		return nil
	}
	added, moved := make([][]string, len(files)), map[string]int{}
	for i, f := range files {
		l := lang.Of(f.Path)
		if l == nil || len(f.Before) > maxText || len(f.After) > maxText || servesTests(l, f.Path) {
			continue
		}
		was, is := l.Suppressions(f.Before), l.Suppressions(f.After)
		added[i] = without(is, was)
		// Another directive in the place of an old one is no more than before.
		added[i] = added[i][:min(len(added[i]), max(len(is)-len(was), 0))]
		for _, s := range without(was, is) {
			moved[s]++
		}
	}
	var found []Finding
	for i, f := range files {
		var left []string
		for _, s := range added[i] {
			if moved[s]--; moved[s] < 0 {
				left = append(left, s)
			}
		}
		if len(left) > 0 && !made(f) {
			found = append(found, Finding{Kind: KindSuppressionAdded, File: f.Path, Doubt: true,
				Text: fmt.Sprintf("%s: %s", number(len(left), "1 check is switched off for a place in the code", "%d checks are switched off for places in the code"), list(left))})
		}
	}
	return found
}

// servesTests says whether a file is a test or lies with the tests.
func servesTests(l *lang.Language, path string) bool {
	return shapes().testFolder.MatchString(path) || l.TestFiles.MatchString(path) && !l.Inline()
}

// made says whether another program wrote the file.
func made(f File) bool {
	head := f.After[:min(len(f.After), 300)]
	return suppressing().madeFile.MatchString(f.Path) || strings.Contains(head, "\n") && suppressing().made.MatchString(head)
}
