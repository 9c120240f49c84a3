package cmdline

// ForeignFlags are flags of other programs called ralph, and what to type here
// instead. Only flags that this ralph lacks.
func ForeignFlags() map[string]string {
	const (
		states   = "every iteration is kept: ralph undo takes one back"
		checks   = "required checks always run: TEST_MODE=report keeps them from blocking"
		plan     = "name the plan with --plan FILE"
		agent    = "choose the agent with --agent NAME"
		branches = "ralph works on the branch that is checked out: create it with git first"
		request  = "ralph opens no pull requests: push the branch yourself"
		commits  = "commits follow AUTO_COMMIT in .ralphrc"
		screen   = "ralph monitor is the screen; a run prints lines"
	)
	return map[string]string{
		"-b": states, "--backup": states, "--rollback": states,
		"--tool": agent, "--backend": agent, "--claude": agent, "--codex": agent, "--opencode": agent, "--amp": agent,
		"--prd": plan, "--yaml": plan, "--tasks": plan,
		"--prompt-file":        "name the prompt with --prompt FILE",
		"--prompt-text":        "write the prompt to a file and name it with --prompt FILE",
		"--iterations":         "limit the run with --max-iterations N",
		"--max-runtime":        "limit the run with --max-duration D",
		"--max-calls":          "limit the calls of an hour with --calls N",
		"--max-retries":        "ralph retries transient errors by itself: limit the run with --max-iterations N",
		"--retry-delay":        "ralph chooses the delay between retries by itself",
		"--completion-promise": "<promise>COMPLETE</promise> is always understood, with nothing to set",
		"--min-iterations":     "COMPLETION_CLAIMS in .ralphrc says how often the agent must claim to be done",
		"--no-commit":          commits, "--auto-commit": commits,
		"--no-tests": checks, "--skip-tests": checks, "--no-lint": checks, "--skip-lint": checks, "--fast": checks,
		"--branch-per-task": branches, "--base-branch": branches, "--create-pr": request, "--draft-pr": request,
		"--allow-all": "allow every tool with --permission-mode bypass",
		"--no-tui":    screen, "--tui": screen,
		"--resume": "continue the last run with: ralph resume",
		"--init":   "set the project up with: ralph init",
		"--config": "show the configuration with: ralph config",
	}
}

// ForeignVerbs are commands of other programs called ralph, and what to type
// here instead.
func ForeignVerbs() map[string]string {
	return map[string]string{
		"setup": "ralph init", "enable": "ralph init", "install": "ralph init", "migrate": "ralph init",
		"build": "ralph run", "loop": "ralph run", "start": "ralph run", "continue": "ralph resume",
		"cancel": "ralph abort", "quit": "ralph stop", "kill": "ralph abort",
		"logs": "ralph monitor --plain", "log": "ralph monitor --plain", "watch": "ralph monitor",
		"tui": "ralph monitor", "stats": "ralph report", "metrics": "ralph report", "history": "ralph runs",
		"events": "ralph iterations", "overview": "ralph status", "list": "ralph iterations",
		"rollback": "ralph undo N", "revert": "ralph undo N", "restore": "ralph undo N", "backup": "ralph iterations",
		"clean": "ralph reset --all", "circuit": "ralph --circuit-status",
		"ping": "ralph agent test", "agents": "ralph agent list", "validate": "ralph config --check",
	}
}
