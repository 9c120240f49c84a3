package turn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ralph/state"
)

const (
	goesOn = "\n---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\nRECOMMENDATION: fix the failed build, all tasks complete then\n---END_RALPH_STATUS---\n"
	ends   = "\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n"
)

func TestWords_finalMessages(t *testing.T) {
	for name, c := range map[string]struct {
		final string
		want  state.Hints
	}{
		"nothing":                           {"", state.Hints{}},
		"plain work":                        {"I wrote the parser and its tests.", state.Hints{}},
		"a word of completion":              {"The parser is done.", state.Hints{Confidence: 25, Completion: []string{"done"}}},
		"one phrase, not its parts":         {"All tasks are complete!", state.Hints{Confidence: 25, Completion: []string{"all tasks are complete"}}},
		"several":                           {"All tasks complete. I finished; project ready.", state.Hints{Confidence: 75, Completion: []string{"all tasks complete", "project ready", "finished"}}},
		"in capitals, over two lines":       {"ALL TASKS\nDone.", state.Hints{Confidence: 25, Completion: []string{"done"}}},
		"denied":                            {"The parser is not yet done. Isn't complete.", state.Hints{}},
		"a part of a word":                  {"The abandoned, incompleted error-handling.", state.Hints{}},
		"no work":                           {"There is nothing to do: it is already implemented.", state.Hints{Confidence: 50, NoWork: []string{"nothing to do", "already implemented"}}},
		"already done is not work":          {"It was already done.", state.Hints{Confidence: 25, NoWork: []string{"already done"}}},
		"stuck":                             {"I was unable to reach the host: it failed.", state.Hints{Stuck: []string{"unable to", "failed"}}},
		"no errors":                         {"The build has no errors, and 0 tests failed.", state.Hints{}},
		"code about errors":                 {"I added error handling: it returns an error, throws errors, and prints the error message.", state.Hints{}},
		"what was fixed":                    {"I fixed the failing test and repaired the error.", state.Hints{}},
		"done, but stuck":                   {"Done, but the deployment failed.", state.Hints{Completion: []string{"done"}, Stuck: []string{"failed"}}},
		"code and quotations":               {"See `failed`.\n```\nerror: all tasks complete\n```\n> nothing to do", state.Hints{}},
		"a block that says complete":        {"I wrote the parser." + ends, state.Hints{Confidence: 100}},
		"a block outweighs words":           {"Done, finished, completed." + goesOn, state.Hints{Confidence: 20, Completion: []string{"completed", "finished", "done"}}},
		"the block has no words of its own": {"I wrote it." + goesOn, state.Hints{}},
		"a curly apostrophe":                {"I can’t reach the host.", state.Hints{Stuck: []string{"can't"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, hintsIn(c.final), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzWords(f *testing.F) {
	f.Add("done `" + ends)
	f.Fuzz(func(t *testing.T, final string) {
		if h := hintsIn(final); h.Confidence < 0 || h.Confidence > 100 {
			t.Errorf("confidence %d", h.Confidence)
		}
	})
}
