package memory

import (
	"slices"
	"strings"

	"ralph/logs/termtext"
)

// orders are words that a lesson about code does not need, by what is wrong with them.
var orders = []struct {
	why   string
	words []string
}{
	{"it speaks about ralph's own files and signals",
		[]string{".ralph", "ralphrc", "ralph_status", "exit_signal", "<promise", "status: complete", "status block",
			"fix_plan", "ralph "}},
	{"it gives orders about permissions", []string{"permission", "--dangerously", "bypass", "sudo ", "allowed_tools",
		"allowedtools", "sandbox", "--no-verify",
		"--force", "force-push", "force push", "credentials", "api key", "secret key", "chmod 777", "curl | sh",
		"trust prompt", "disable security", "git hook", "commit hook", "push hook", "hook_", "hookspath",
		"the hook", "your hook", "ralph's hook", "claude hook"}},
	{"it speaks to the agent instead of about the project",
		[]string{"ignore all", "ignore previous", "ignore the above", "ignore earlier", "previous instructions",
			"prior instructions", "disregard", "system prompt", "you are now", "new instructions", "your task",
			"instructions", "the judge", "the reviewer", "approve this", "act as"}},
}

// weakening are words that weaken proof if the text also has a word for it.
var (
	weakening = []string{"skip", "skipp", "disabl", "delet", "remov", "ignor", "comment out", "commented out", "weaken",
		"mark as", "mark all", "always pass", "not run", "never run",
		"don't run", "no need to run", "without running", "need not", "bypass", "xfail", "silence", "suppress", "lower",
		"exclud", "turn off", "fake", "hardcod", "hard-cod", "no longer check", "stub"}
	proof = []string{"test", "check", "lint", "assert", "coverage", "pipeline", "spec", "verif", "audit", "box", "hook",
		"criteria", "review"}
)

// Refuse returns why ralph does not keep a text as a lesson; empty: it does. It refuses too much rather than too
// little: a lost lesson costs less than one that manipulates an agent.
func Refuse(text string) string {
	lower := " " + strings.ToLower(termtext.Unwrap(text)) + " "
	for _, o := range orders {
		for _, w := range o.words {
			if strings.Contains(lower, w) {
				return o.why
			}
		}
	}
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(lower, w) })
	}
	if has(weakening) && has(proof) {
		return "it gives orders about tests and checks"
	}
	return ""
}
