package report

import (
	"strings"
	"testing"
)

func TestPatch_twoFiles_openEachWithItsCounts(t *testing.T) {
	got, more := Patch("diff --git a/x.sql b/x.sql\nindex 1..2 100644\n--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a comment\n+++ i\n same\n"+
		"diff --git a/b <c> b/b <c>\nnew file mode 100644\n@@ -0,0 +1 @@\n+<b>\n", 1<<20)
	for _, want := range []string{
		`<summary><code>x.sql</code> <span class="good">+1</span> <span class="bad">−1</span></summary>`,
		`<span class="del">--- a comment</span><span class="add">+++ i</span><span class=""> same</span>`,
		`<code>b &lt;c&gt;</code> <span class="good">+1</span> <span class="bad">−0</span>`, `<span class="add">+&lt;b&gt;</span>`, "new file mode",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "index 1..2") || strings.Contains(got, "a/x.sql") || more != 0 {
		t.Errorf("%d more, and the head of a file is there twice:\n%s", more, got)
	}
}

func TestPatch_tooLong_saysHowMuchIsMissing(t *testing.T) {
	got, more := Patch("diff --git a/x b/x\n@@ -0,0 +1,1000 @@\n"+strings.Repeat("+0123456789\n", 1000), 5000)
	if shown := strings.Count(got, `class="add"`); shown+more != 1000 || len(got) > 6000 {
		t.Errorf("%d shown, %d more, %d bytes", shown, more, len(got))
	}
	if strings.Contains(got, "<details open") {
		t.Error("a long file is open")
	}
}
