package crew

import (
	"fmt"
	"strings"
	"testing"
)

func TestConflictReport_manyFiles_namesSome(t *testing.T) {
	var files []string
	for n := range 5000 {
		files = append(files, fmt.Sprintf("a/long/path/to/file%d.go", n))
	}
	why := conflictReport(files, "k").Blocking()[0].Reason
	if len(why) > 1000 || !strings.Contains(why, "file0.go") || !strings.Contains(why, "4980 more") || !strings.Contains(why, "refs/ralph-work/k") {
		t.Errorf("%d bytes: %.300s", len(why), why)
	}
}
