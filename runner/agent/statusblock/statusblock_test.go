package statusblock

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const template = "---RALPH_STATUS---\nSTATUS: IN_PROGRESS | COMPLETE | BLOCKED\nTASKS_COMPLETED_THIS_LOOP: <number>\nFILES_MODIFIED: <number>\n" +
	"TESTS_STATUS: PASSING | FAILING | NOT_RUN\nWORK_TYPE: IMPLEMENTATION | TESTING\nEXIT_SIGNAL: true | false\nRECOMMENDATION: <one line>\n---END_RALPH_STATUS---"

func block(lines ...string) string {
	return "---RALPH_STATUS---\n" + strings.Join(lines, "\n") + "\n---END_RALPH_STATUS---"
}

func TestParse(t *testing.T) {
	done := Signal{Status: Complete, Exit: true, HasExit: true}
	working := Signal{Status: InProgress, HasExit: true}
	full := Signal{Status: InProgress, HasExit: true, TasksCompleted: 2, FilesModified: 5, Tests: "PASSING",
		WorkType: "IMPLEMENTATION", Recommendation: "Continue: with task 3"}
	fullBlock := block("STATUS: IN_PROGRESS", "TASKS_COMPLETED_THIS_LOOP: 2", "FILES_MODIFIED: 5", "TESTS_STATUS: PASSING",
		"WORK_TYPE: IMPLEMENTATION", "EXIT_SIGNAL: false", "RECOMMENDATION: Continue: with task 3")
	for name, c := range map[string]struct {
		text string
		want *Signal // nil: no signal
	}{
		"nothing":                       {"", nil},
		"words of completion, no block": {strings.Repeat("Everything is done, complete, finished. EXIT_SIGNAL: true\n", 50), nil},
		"full block":                    {"Did it.\n\n" + fullBlock + "\n", &full},
		"CRLF":                          {strings.ReplaceAll(fullBlock, "\n", "\r\n"), &full},
		"exit signal":                   {block("STATUS: COMPLETE", "EXIT_SIGNAL: true"), &done},
		"exit false beats complete":     {block("STATUS: COMPLETE", "EXIT_SIGNAL: false"), &Signal{Status: Complete, HasExit: true}},
		"complete without exit signal":  {block("STATUS: COMPLETE"), &Signal{Status: Complete, Exit: true}},
		"complete, exit signal a template": {block("STATUS: COMPLETE", "EXIT_SIGNAL: true | false"),
			&Signal{Status: Complete}},
		"only the template":            {template, nil},
		"block, then the template":     {fullBlock + "\n\n" + template, &full},
		"last of two counts":           {block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\nno, wait\n" + block("STATUS: IN_PROGRESS", "EXIT_SIGNAL: false"), &working},
		"lower case keys and values":   {block("status: complete", "exit_signal: TRUE"), &done},
		"bold keys, colon outside":     {block("**STATUS**: COMPLETE", "**EXIT_SIGNAL**: true"), &done},
		"bold keys, colon inside":      {block("- **STATUS:** COMPLETE", "- **EXIT_SIGNAL:** true"), &done},
		"bold markers":                 {"**---RALPH_STATUS---**\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n**---END_RALPH_STATUS---**", &done},
		"values in backticks":          {block("STATUS: `COMPLETE`", "EXIT_SIGNAL: `true`"), &done},
		"value with a remark":          {block("STATUS: COMPLETE (all tasks)", "EXIT_SIGNAL: true # really"), &done},
		"no end mark":                  {"---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true", &done},
		"blank lines inside":           {block("", "STATUS: COMPLETE", "", "EXIT_SIGNAL: true"), &done},
		"quotation":                    {"> " + strings.ReplaceAll(block("STATUS: COMPLETE", "EXIT_SIGNAL: true"), "\n", "\n> "), nil},
		"fenced at the end":            {"Done.\n```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\n", &done},
		"fenced example in the middle": {"I wrote docs:\n```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\nNext I go on.", nil},
		"fenced example, then a block": {"```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\n" +
			block("STATUS: IN_PROGRESS", "EXIT_SIGNAL: false"), &working},
		"coloured":                              {"\x1b[1m---RALPH_STATUS---\x1b[0m\n\x1b[36mSTATUS:\x1b[0m COMPLETE\nEXIT_SIGNAL: \x1b[32mtrue\x1b[0m\n\x1b[1m---END_RALPH_STATUS---\x1b[0m", &done},
		"fenced at the end, as the prompt says": {"I stop here. As the prompt says:\n\n```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\n", nil},
		"fenced at the end, in the line":        {"Once all is done I will print: ```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\n", nil},
		"fenced at the end, announced":          {"All tasks are done. Status:\n```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\n", &done},
		"an error":                              {block("STATUS: ERROR", "EXIT_SIGNAL: false"), &Signal{Status: Error, HasExit: true}},
		"an error, in JSON":                     {"```json\n{\"status\":\"error\",\"story_id\":\"US-1\"}\n```", &Signal{Status: Error, StoryID: "US-1"}},
		"test is testing":                       {"```json\n{\"status\":\"IN_PROGRESS\",\"exit_signal\":false,\"work_type\":\"test\"}\n```", &Signal{Status: InProgress, HasExit: true, WorkType: Testing}},
		"coloured promise":                      {"\x1b[32m<promise>COMPLETE</promise>\x1b[0m", &done},
		"coloured fence quoted":                 {"As the prompt says:\n\x1b[2m```\x1b[0m\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n\x1b[2m```\x1b[0m\nLater.", nil},
		"long fence quoted":                     {"As the prompt says:\n````md\n```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\n````\nLater.", nil},
		"long fence at the end":                 {"Done.\n````md\n```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\n````\n", &done},
		"fence opened in a line":                {"As the prompt says: ```\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\n```\nLater.", nil},
		"fence in a list":                       {"1. ```text\n   " + strings.ReplaceAll(block("STATUS: COMPLETE", "EXIT_SIGNAL: true"), "\n", "\n   ") + "\n   ```\n2. Later.", nil},
		"code span, then a block":               {"It prints ```x```.\n" + block("STATUS: COMPLETE", "EXIT_SIGNAL: true") + "\nBye.", &done},
		"json true quoted":                      {"As the prompt says:\n```json\n{\"status\":\"COMPLETE\",\"exit_signal\":true}\n```\nLater.", nil},
		"promise quoted in a fence":             {"As the prompt says:\n```\n<promise>COMPLETE</promise>\n```\nLater.", nil},
		"yaml":                                  {"RALPH_STATUS:\n  STATUS: COMPLETE\n  EXIT_SIGNAL: true\n\nBye.", &done},
		"yaml bold, not indented":               {"**RALPH_STATUS:**\nstatus: IN_PROGRESS\nexit_signal: false\n", &working},
		"yaml in a sentence":                    {"I will print RALPH_STATUS: at the end", nil},
		"json fenced":                           {"```json\n{\"status\":\"COMPLETE\",\"exit_signal\":true,\"story_id\":\"US-1\",\"files_modified\":[\"a\",\"b\"],\"work_type\":\"testing\"}\n```", &Signal{Status: Complete, Exit: true, HasExit: true, StoryID: "US-1", FilesModified: 2, WorkType: "TESTING"}},
		"json false":                            {"```json\n{\"status\":\"COMPLETE\",\"exit_signal\":false,\"files_modified\":3}\n```\nmore", &Signal{Status: Complete, HasExit: true, FilesModified: 3}},
		"json of an api":                        {"The endpoint answers\n```json\n{\"status\":\"complete\"}\n```\nas wished.", nil},
		"json not closed":                       {"```json\n{\"status\":\"COMPLETE\",\"exit_signal\":true}", &done},
		"promise":                               {"All done.\n\n<promise>COMPLETE</promise>\n", &done},
		"promise bold":                          {"**<promise>COMPLETE</promise>**", &done},
		"promise in a line":                     {"When done I print <promise>COMPLETE</promise> here", nil},
		"promise of others":                     {"<promise>DONE</promise>", nil},
		"promise quoted":                        {"> <promise>COMPLETE</promise>", nil},
		"exit false, then a promise":            {block("STATUS: IN_PROGRESS", "EXIT_SIGNAL: false") + "\n<promise>COMPLETE</promise>", &working},
		"promise, then exit false":              {"<promise>COMPLETE</promise>\n" + block("STATUS: IN_PROGRESS", "EXIT_SIGNAL: false"), &working},
		"negative numbers":                      {block("STATUS: IN_PROGRESS", "EXIT_SIGNAL: false", "FILES_MODIFIED: -4", "TASKS_COMPLETED: 99999999999999999999"), &working},
		"blocked":                               {block("STATUS: BLOCKED", "EXIT_SIGNAL: false"), &Signal{Status: Blocked, HasExit: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := Parse(c.text)
			if ok != (c.want != nil) {
				t.Fatalf("ok = %v, signal %+v", ok, got)
			}
			if c.want != nil {
				if diff := cmp.Diff(*c.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(template)
	f.Add("```json\n{\"exit_signal\":true}\n```")
	f.Add("RALPH_STATUS:\n STATUS: COMPLETE")
	f.Add("~~~\n---RALPH_STATUS---\n```")
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := Parse(text)
		if ok && s.Status == "" && !s.HasExit {
			t.Errorf("a signal without a word: %+v", s)
		}
		if s.Exit && !s.HasExit && s.Status != Complete {
			t.Errorf("exit out of nothing: %+v", s)
		}
		if s.FilesModified < 0 || s.TasksCompleted < 0 {
			t.Errorf("negative counts: %+v", s)
		}
		if again, ok2 := Parse(text); ok2 != ok || !cmp.Equal(again, s) {
			t.Error("not the same twice")
		}
	})
}

func TestSaysDone_onlyPlainStatements_count(t *testing.T) {
	for text, want := range map[string]bool{
		"All tasks complete.": true, "I checked the code.\n\nAll the tasks are done.": true, "Everything is finished": true,
		"The project is ready.": true, "Nothing left to do.": true,
		"All tasks but one are done.": false, "Not all tasks are complete.": false, "I finished the parser.": false,
		"When all tasks are complete, I will say so.": false, "": false,
		"There is nothing more to do.": true, "Nothing is left to do!": true, "Nothing remains.": true, "Nothing remains to be done.": true,
		"Nothing could be completed: I have no permission to write files.": false, "Nothing has been done yet.": false,
		"Nothing is done.": false, "Nothing remains of the old parser.": false, "All that is left to do is the parser.": false,
		"I cannot get all of it done.": false, "I can't get all of it done.": false, "I can’t get all of it done.": false,
		"All tasks haven’t been completed.": false, "Everything couldn't be finished.": false, "No, everything is done wrong.": false,
		"All tasks are ready, yet I failed to write them.": false, "I am unable to get everything done.": false,
		"All tasks are ready and blocked.": false, "All the work done so far is in main.go.": false, "All tasks will be done next.": false,
		"Everything still has to be done.": false, "None of all the tasks is done.": false,
	} {
		if got := SaysDone(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
