package agenthooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs/termtext"
	"ralph/runner/agent/statusblock"
	"ralph/runner/gate"
	"ralph/runner/task/store"
	"ralph/runner/turn"
)

// Input is what the CLI says on stdin, as far as it matters here.
type Input struct {
	Active  bool   `json:"stop_hook_active"` // a hook has let the call continue
	Last    string `json:"last_assistant_message"`
	Session string `json:"session_id"`
	Dir     string `json:"cwd"`
	Tool    string `json:"tool_name"`
	Args    args   `json:"tool_input"`
}

// args are those of a tool call.
type args struct {
	Command  string `json:"command"`
	File     string `json:"file_path"`
	Notebook string `json:"notebook_path"`
}

// Path is the file that a tool call edits; empty: none.
func (in Input) Path() string {
	if in.Args.File != "" {
		return in.Args.File
	}
	return in.Args.Notebook
}

// AtStop is the answer when the agent wants to stop; nil: let it.
func AtStop(in Input, f Facts) any {
	count := countFile(in)
	n := 0
	if info, err := os.Lstat(count); in.Active && err == nil {
		n = int(info.Size())
	}
	why := unfinished(in.Last, f)
	// Active without a count: the file is gone, and without it there would be no end.
	if why == "" || n >= f.Most || in.Active && n == 0 || !counted(count, n) {
		_ = os.Remove(count) // of a call that has ended; else it stays in the temporary folder
		return nil
	}
	return map[string]string{"decision": "block",
		"reason": fmt.Sprintf("ralph says: continue (%d of at most %d times). %s", n+1, f.Most, why)}
}

// countFile has one byte for each continuation of a call. The CLI writes its transcript
// too late to count there.
func countFile(in Input) string {
	session := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, in.Session)
	return filepath.Join(os.TempDir(), "ralph-stop-"+session)
}

// counted adds a continuation to the n so far.
func counted(path string, n int) bool {
	if n == 0 {
		_ = os.Remove(path) // of an earlier prompt in the same session
	}
	flags := os.O_WRONLY | os.O_APPEND
	if n == 0 {
		flags |= os.O_CREATE | os.O_EXCL // not through somebody else's link
	}
	file, err := os.OpenFile(path, flags, 0o600) // file: in the temporary folder
	if err != nil {
		return false
	}
	_, err = file.WriteString("x")
	return errors.Join(err, file.Close()) == nil
}

// unfinished says what is left of the task; empty: nothing that a command can see.
func unfinished(last string, f Facts) string {
	signal, _ := statusblock.Parse(last)
	if signal.Status == statusblock.Blocked || signal.Status == statusblock.Error {
		return "" // the agent needs a person
	}
	plan := store.Read(f.Plan)
	t, known := plan.List.Find(f.Task)
	if f.Task == "" || !plan.Usable() || !known {
		return ""
	}
	if !t.Done() && !turn.ClaimsDone(last, t) {
		return fmt.Sprintf("Your task %q is still open in %s. Finish it, check it and mark it as done. "+
			"If you cannot, end with STATUS: BLOCKED and say in RECOMMENDATION what is missing.", termtext.Fit(t.Title, 200), f.Plan.Name)
	}
	if len(f.Checks) == 0 || !slices.Contains([]string{"FAILING", "NOT_RUN"}, signal.Tests) {
		return ""
	}
	rule := "the task counts only if these checks pass. Run them, and fix what fails"
	if f.Mode != "" && f.Mode != string(gate.ModeGate) {
		if signal.Tests == "FAILING" {
			return "" // perhaps only what failed before
		}
		rule = "ralph will run these checks. Run them, and fix what you broke"
	}
	return fmt.Sprintf("You report TESTS_STATUS: %s, but %s:\n%s", signal.Tests, rule, strings.Join(f.Checks, "\n"))
}

// BeforeTool is the answer before a tool call; nil: the CLI decides as without it.
func BeforeTool(in Input, f Facts) any {
	decide := func(decision, why string) any {
		return map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": "PreToolUse",
			"permissionDecision": decision, "permissionDecisionReason": why}}
	}
	if in.Tool == "AskUserQuestion" {
		return decide("deny", "Nobody is here to answer now, but ralph has noted the question for the user. "+
			"End this turn with STATUS: BLOCKED: "+
			"the task waits for the answer, and the next prompt has it.")
	}
	if why := refuse(in); why != "" {
		return decide("deny", "ralph refuses this: "+why)
	}
	if in.Tool == "Bash" && (slices.Contains(f.Checks, strings.TrimSpace(in.Args.Command)) ||
		OnlyReads(in.Args.Command)) {
		return decide("allow", "ralph allows commands that only read, and the checks of the project")
	}
	return nil
}

// AfterTool is the answer after an edit; nil: nothing was found.
func AfterTool(file, found string) any {
	if found = strings.TrimSpace(found); found == "" {
		return nil
	}
	const most = 4 << 10
	if len(found) > most {
		found = strings.ToValidUTF8(found[:most], "") + "\n[...]"
	}
	return map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": "PostToolUse",
		"additionalContext": fmt.Sprintf("ralph looked at %s after your edit and found:\n%s", file, found)}}
}

// ReadInput reads what the CLI says.
func ReadInput(data []byte) (in Input, err error) {
	if err := json.Unmarshal(data, &in); err != nil {
		return in, fmt.Errorf("read what the agent CLI says: %w", err)
	}
	return in, nil
}
