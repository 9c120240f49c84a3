package monitor

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"ralph/monitor/canvas"
	"ralph/state/view"
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

func screenOf(t *testing.T, p *changesPage, size [2]int) string {
	t.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	screen.SetSize(size[0], size[1])
	c := canvas.Canvas{Screen: screen, W: size[0], H: size[1]}
	p.Draw(c.Rows(0, c.H-1), scene{Model: &view.Model{Snapshot: view.Snapshot{Alive: p.Living}}})
	p.DrawAsk(c.Rows(c.H-1, 1))
	screen.Show()
	cells, w, h := screen.GetContents()
	var b strings.Builder
	for y := range h {
		for x := range w {
			b.WriteString(string(cells[y*w+x].Runes))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func changesPress(t *testing.T, p *changesPage, text string) (act keyAct) {
	t.Helper()
	for _, r := range text {
		e := tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone)
		if r == '\n' {
			e = tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModNone)
		}
		act, _ = p.Key(e)
	}
	return act
}

func TestDraw_showsFilesHunksAndCounts(t *testing.T) {
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		p := newChangesPage(changesSubject{Arg: "6", Name: "iteration 6"})
		if got := screenOf(t, p, size); !strings.Contains(got, "asking git") {
			t.Errorf("it does not say that it waits:\n%s", got)
		}
		p.Load(patch)
		got := screenOf(t, p, size)
		for _, want := range []string{"Changes of iteration 6", "2 files +2 -2", "▾ src/list.go", "@@ -1,3 +1,4 @@ func list()",
			"-    two", "+    two [red]", "old.txt (deleted)", "-gone"} {
			if !strings.Contains(got, want) {
				t.Errorf("at %v there is no %q:\n%s", size, want, got)
			}
		}
		changesPress(t, p, "\n")
		if got := screenOf(t, p, size); strings.Contains(got, "+three") || !strings.Contains(got, "▸ src/list.go") {
			t.Errorf("the file is not folded:\n%s", got)
		}
	}
}

func TestLoad_patchesOfATask_haveTheirIterations(t *testing.T) {
	p := newChangesPage(changesSubject{Arg: "T4", Name: "task T4"})
	p.Load("iteration 2: Log in\n" + patch + "iteration 5: Log in\n" + patch)
	got := screenOf(t, p, [2]int{80, 40})
	if !strings.Contains(got, "iteration 2: Log in") || !strings.Contains(got, "iteration 5: Log in") ||
		strings.Count(got, "▾") != 4 || !strings.Contains(got, "2 files +4 -4") {
		t.Error(got)
	}
}

func TestLoad_badOrEmptyPatch_saysSo(t *testing.T) {
	for text, want := range map[string]string{"": "iteration 6 changed no file", patch[:150]: "cannot be read"} {
		p := newChangesPage(changesSubject{Arg: "6", Name: "iteration 6"})
		p.Load(text)
		if got := screenOf(t, p, [2]int{80, 24}); !strings.Contains(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestKeys_undo_asksAndNamesWhatHappens(t *testing.T) {
	p := newChangesPage(changesSubject{Arg: "6", Name: "iteration 6", Run: "r1"})
	p.Load(patch)
	changesPress(t, p, "u")
	if got := screenOf(t, p, [2]int{60, 15}); !strings.Contains(got, "undo iteration 6: take 2 files back, as a new commit (y/n)") {
		t.Error(got)
	}
	if act := changesPress(t, p, "n"); act.Verb != nil {
		t.Error(act)
	}
	if got := strings.Join(changesPress(t, p, "uy").Verb, " "); got != "undo --yes --run=r1 -- 6" {
		t.Error(got)
	}
	p.Living = true
	if act := changesPress(t, p, "u"); !strings.Contains(act.Say, "when it has ended") || p.Asks() {
		t.Error(act)
	}
}
