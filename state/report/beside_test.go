package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/state"
	"ralph/state/view"
)

// besideNight is a run with four slots, of which two were on other machines: one conflict, one result whose checks failed
// together with others, and a call that was killed.
func besideNight(t *testing.T) *Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "beside.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var f Fold
	var last state.Event
	for line := range strings.Lines(string(data)) {
		if last = (state.Event{}); json.Unmarshal([]byte(line), &last) != nil {
			t.Fatal(line)
		}
		f.Add(last)
	}
	return f.Build(Source{Project: "/p", Now: last.Time})
}

// section is what follows a title in a page.
func section(page, title, end string) string {
	_, after, _ := strings.Cut(page, title)
	text, _, _ := strings.Cut(strings.TrimLeft(after, "\n"), end)
	return strings.TrimSpace(text)
}

func TestBuild_runSideBySide_saysWhatEachMachineDidAndTheMergeQueue(t *testing.T) {
	r := besideNight(t)
	want := "- machine laptop: 5 turns, 32s\n- machine build1: 3 turns, 18s\n- machine build2: 1 turn, 5.2s\n" +
		"- merge queue: 6 landed, 2 sent back: 1 for a conflict, 1 for failed checks"
	if diff := cmp.Diff(want, section(r.Text(), "## Side by side", "\n\n")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, section(r.Markdown(), "## Side by side", "\n\n")); diff != "" {
		t.Error(diff)
	}
	page, err := r.HTML()
	list := section(string(page), "<h2>Side by side</h2>\n<ul>", "</ul>")
	for _, end := range []string{"<li>", "</li>"} {
		list = strings.ReplaceAll(list, end, "")
	}
	if diff := cmp.Diff(strings.ReplaceAll(want, "- ", ""), list); diff != "" || err != nil {
		t.Error(diff, err)
	}
	data, err := json.Marshal(r)
	var got struct {
		Machines []struct {
			Name    string
			Turns   int
			Seconds float64
		}
		Queue map[string]int `json:"merge_queue"`
	}
	if err != nil || json.Unmarshal(data, &got) != nil || len(got.Machines) != 3 || got.Machines[1].Name != "build1" ||
		got.Machines[1].Turns != 3 || got.Machines[1].Seconds < 10 {
		t.Errorf("%+v %v", got, err)
	}
	if diff := cmp.Diff(map[string]int{"landed": 6, "conflicts": 1, "checks": 1, "hooks": 0}, got.Queue); diff != "" {
		t.Error(diff)
	}
	again, err := Decode(data)
	if err != nil || !slices.Equal(again.Lines(view.Took), r.Lines(view.Took)) {
		t.Errorf("read again: %v %v", again, err)
	}
}

func TestBuild_oneTurnAfterTheOther_saysNothingOfMachines(t *testing.T) {
	r := long().build()
	data, err := json.Marshal(r)
	if text := r.Text() + string(data); err != nil || strings.Contains(text, "Side by side") || strings.Contains(text, "machines") {
		t.Error(text, err)
	}
}

func TestDecode_namesOfMachinesAreHostile_pageIsInert(t *testing.T) {
	r, err := Decode([]byte(`{"machines":[{"name":"a\u001b[31m\n# b<script>","turns":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.HTML()
	if all := string(page) + r.Text(); err != nil || strings.Contains(all, "\x1b") || strings.Contains(string(page), "<script>") || strings.Contains(all, "\n# b") {
		t.Error(all, err)
	}
}

// two is a run of two turns side by side, of which only the first lands.
func two() *night {
	n := newNight()
	n.after(0, state.RunStart{Agent: "claude", Parallel: 2, Total: 2})
	for number, task := range []string{"one", "two"} {
		n.iteration, n.task = number+1, task
		n.after(1, state.IterationStart{Title: task, Agent: "claude"})
	}
	for number, task := range []string{"one", "two"} {
		n.iteration, n.task = number+1, task
		n.after(1, state.SessionStart{Model: []string{"opus", "haiku"}[number]})
	}
	return n
}

// What a turn left in its worktree is on no branch.
func TestBuild_turnsSideBySide_nameTheCommitsThatLanded(t *testing.T) {
	n := two()
	n.iteration, n.task = 1, "one"
	n.after(1, state.Commit{Landed: "ralph/r", OID: "19181e30ab8d"})
	n.after(1, state.IterationEnd{TaskDone: true})
	n.iteration, n.task = 2, "two"
	n.after(1, state.IterationEnd{Merge: state.MergeConflict})
	r := n.f.Build(Source{Project: "/p", Now: n.at, Changes: map[int]Change{1: {Commit: "d29e5f8520"}, 2: {Commit: "fd50a0320a"}}})
	if got := [][]string{r.Tasks[0].Commits, r.Tasks[1].Commits}; !cmp.Equal(got, [][]string{{"19181e30ab8d"}, {}}) {
		t.Error(got)
	}
}

func TestBuild_turnsSideBySide_costIsThatOfTheirModels(t *testing.T) {
	n := two()
	for number, task := range []string{"one", "two"} {
		n.iteration, n.task = number+1, task
		n.after(1, state.IterationEnd{Usage: state.Usage{CostUSD: float64(2 - number)}})
	}
	want := []Share{{Name: "claude opus", USD: 2}, {Name: "claude haiku", USD: 1}}
	if got := n.build().Cost.Model; !cmp.Equal(got, want) {
		t.Error(got)
	}
}
