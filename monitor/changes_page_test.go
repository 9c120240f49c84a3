package monitor

import (
	"strings"
	"testing"
)

const patch = `diff --git a/src/list.go b/src/list.go
index 1111111..2222222 100644
--- a/src/list.go
+++ b/src/list.go
@@ -1,3 +1,4 @@ func list()
 one
-	two
+	two [red] ` + "\x1b[31m" + `
+three
 four
diff --git a/old.txt b/old.txt
deleted file mode 100644
index 1111111..0000000
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
`

// changesOver is a page of changes that waits for its patch.
func changesOver(t *testing.T, of, name string) (u *ui, p *changesPage, verbs *[]string) {
	u, verbs = recorded(t)
	p = newChanges(u, of, name)
	p.run = "r1"
	u.open("changes", p)
	return u, p, verbs
}

func TestChanges_ofAPatch_nameFilesAndCountLines(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		u, p, _ := changesOver(t, "6", "iteration 6")
		if got := u.picture(t, size); !strings.Contains(got, "asking git") {
			t.Errorf("it does not say that it waits:\n%s", got)
		}
		p.load(patch)
		got := u.picture(t, size)
		for _, want := range []string{"Changes of iteration 6", "2 files +2 -2", "src/list.go  +2 -1", "@@ -1,3 +1,4 @@ func list()",
			"-    two", "+    two [red]", "old.txt  +0 -1", "deleted file"} {
			if !strings.Contains(got, want) {
				t.Errorf("at %v there is no %q:\n%s", size, want, got)
			}
		}
		if strings.Contains(got, "+++") || strings.Contains(got, "\x1b") {
			t.Error(got)
		}
	}
}

func TestChanges_keysForFiles_moveThemToTheTop(t *testing.T) {
	u, p, _ := changesOver(t, "6", "iteration 6")
	p.load(strings.Repeat(patch, 20))
	for _, step := range []struct{ key, first string }{{"]", "old.txt"}, {"]", "src/list.go"}, {"[", "old.txt"}, {"j[", "old.txt"}, {"[[[", "src/list.go"}} {
		u.types(t, step.key)
		if got := strings.Split(u.picture(t, [2]int{80, 24}), "\n")[3]; !strings.HasPrefix(got, " "+step.first) {
			t.Errorf("after %s the first row is %q", step.key, got)
		}
	}
	u.picture(t, [2]int{80, 3})
	u.types(t, "G[]g")
}

func TestChanges_ofATask_haveTheirIterations(t *testing.T) {
	u, p, _ := changesOver(t, "T4", "task T4")
	p.load("iteration 2: Log in\n" + patch + "iteration 5: Log in\n" + patch)
	got := u.picture(t, [2]int{80, 40})
	if !strings.Contains(got, "iteration 2: Log in") || !strings.Contains(got, "iteration 5: Log in") ||
		strings.Count(got, "src/list.go  +2 -1") != 2 || !strings.Contains(got, "2 files +4 -4") {
		t.Error(got)
	}
}

func TestChanges_brokenOrEmptyPatch_showWhatThereIs(t *testing.T) {
	for text, want := range map[string]string{"": "iteration 6 changed no file", patch[:150]: "src/list.go", "no diff": "no diff"} {
		u, p, _ := changesOver(t, "6", "iteration 6")
		p.load(text)
		if got := u.picture(t, [2]int{80, 24}); !strings.Contains(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestKeys_undo_asksAndNamesWhatHappens(t *testing.T) {
	u, p, verbs := changesOver(t, "6", "iteration 6")
	p.load(patch)
	u.types(t, "u")
	if got := u.picture(t, [2]int{60, 15}); !strings.Contains(got, "undo iteration 6: take 2 files back, as a new commit (y/n)") {
		t.Error(got)
	}
	if u.types(t, "n"); len(*verbs) > 0 {
		t.Error(*verbs)
	}
	if u.types(t, "uy"); strings.Join(*verbs, "|") != "undo --yes --run=r1 -- 6" {
		t.Error(*verbs)
	}
	u.model.Alive = true
	if u.types(t, "u"); !strings.Contains(u.message, "when it has ended") || u.prompt != nil {
		t.Error(u.message)
	}
}
