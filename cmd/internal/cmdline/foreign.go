package cmdline

import "strings"

// ForeignFlags are flags of other programs called ralph, and what to type here
// instead. Only flags that this ralph lacks.
func ForeignFlags() map[string]string {
	hints := map[string]string{}
	for _, row := range []struct{ flags, ours string }{
		{"-b --backup --rollback", "every iteration is kept: ralph undo takes one back"},
		{"--prd --yaml --tasks --tracker --epic --epics", "name the plan with --plan FILE"},
		{"--tool --backend --claude --codex --opencode --amp", "choose the agent with --agent NAME"},
		{"--prompt-file --prompt-text", "name the file of the prompt with --prompt FILE"},
		{"--once", "make one iteration with: ralph once"},
		{"--iterations", "limit the run with --max-iterations N"},
		{"--max-runtime", "limit the run with --max-duration D"},
		{"--max-calls", "limit the calls of an hour with --calls N"},
		{"--max-retries --retry-delay", "ralph retries transient errors by itself: limit the run with --max-iterations N"},
		{"--completion-promise", "<promise>COMPLETE</promise> is always understood, with nothing to set"},
		{"--min-iterations", "COMPLETION_CLAIMS in .ralphrc says how often the agent must claim to be done"},
		{"--no-commit --auto-commit", "commits follow AUTO_COMMIT in .ralphrc"},
		{"--no-tests --skip-tests --no-lint --skip-lint --fast", "required checks always run: TEST_MODE=report keeps them from blocking"},
		{"--branch-per-task --base-branch --branch --base-ref --target-branch", "ralph works on the branch that is checked out: create it with git first"},
		{"--create-pr --draft-pr", "ralph opens no pull requests: push the branch yourself"},
		{"--allow-all", "allow every tool with --permission-mode bypass"},
		{"--no-tui --tui --theme", "ralph monitor is the screen; a run prints lines"},
		{"--resume", "continue the last run with: ralph resume"},
		{"--init", "set the project up with: ralph init"},
		{"--config --dump-defaults", "show the configuration with: ralph config"},
		{"--task-model --plan-model --variant", "choose the model with --model NAME"},
		{"--review-model --review --external-only --codex-only --tasks-only --external-review-tool --custom-review-script --max-external-iterations --review-patience", "QA and JUDGES in .ralphrc say who reviews"},
		{"--claude-command --claude-args", "name the program with AGENT_CMD in .ralphrc"},
		{"--wait", "wait for a usage limit with --on-limit wait"},
		{"--session-timeout", "bound a call with --timeout MIN"},
		{"--skip-finalize", "HOOK_ON_COMPLETE in .ralphrc is all that follows a run"},
		{"--preserve-anthropic-api-key", "agents get it, unless ENV_EXCLUDE names it"},
		{"--worktree", "use worktrees with --isolate worktree"},
		{"--config-dir", "your own settings are in ~/.config/ralph/config.yaml"},
		{"--debug", "see everything with --verbose"},
		{"--no-color", "set NO_COLOR=1"},
		{"--pass-claude-md", "agents read their own files"},
		{"--reset", "forget what was done with: ralph reset"},
		{"--watch --host --serve --port", "show runs in a browser with: ralph serve"},
		{"--no-setup", "a run sets nothing up; use ralph init"},
		{"--task-range", "choose tasks with --task ID"},
		{"--serial --sequential", "tasks run one after the other, unless PARALLEL says more"},
		{"--direct-merge", "LAND in .ralphrc says where the work goes"},
		{"--no-sandbox", "set SANDBOX=off"},
		{"--no-network", "set SANDBOX_NET=none"},
		{"--listen --remote-only --listen-port --rotate-token", "work on a run elsewhere over ssh: ralph -C DIR monitor"},
		{"--cwd", "name the project with -C DIR"},
		{"--output-dir --progress-file", "ralph keeps its files in .ralph"},
		{"--verify", "try the agent with: ralph doctor --live"},
		{"--show-tool-args", "ralph --live shows them"},
		{"--github-issue --comment-progress --auto-close --close-summary --link-issue --comment-interval --followup-label --create-followups --add-label", "ralph import reads issues; to write one, use a hook (HOOK_ON_COMPLETE)"},
		{"--sandbox-image", "name the image with SANDBOX_IMAGE in .ralphrc"},
		{"--sandbox-network --sandbox-memory --sandbox-cpus --sandbox-template --sandbox-timeout --sandbox-max-cost --sandbox-cost-alert --sandbox-id --sandbox-keep-alive --sync-include --sync-exclude", "SANDBOX=auto confines agents, SANDBOX_NET says what they reach; nothing runs in a cloud"},
		{"--queue-status --process-queue --resume-queue --queue-next --queue-clear --queue-remove --halt-on-failure", "ralph import takes issues into the plan; ralph --plan FILE works on another one"},
	} {
		for _, flag := range strings.Fields(row.flags) {
			hints[flag] = row.ours
		}
	}
	return hints
}

// ForeignVerbs are commands of other programs called ralph, and what to type
// here instead.
func ForeignVerbs() map[string]string {
	return map[string]string{
		"setup": "ralph init", "enable": "ralph init", "enable-ci": "ralph init", "install": "ralph init",
		"migrate": "ralph init", "build": "ralph run", "loop": "ralph run", "start": "ralph run",
		"continue": "ralph resume", "cancel": "ralph abort", "quit": "ralph stop", "kill": "ralph abort",
		"logs": "ralph monitor --plain", "log": "ralph monitor --plain", "watch": "ralph monitor",
		"tui": "ralph monitor", "stats": "ralph report", "metrics": "ralph report", "history": "ralph runs",
		"events": "ralph iterations", "overview": "ralph status", "list": "ralph iterations",
		"rollback": "ralph undo N", "revert": "ralph undo N", "restore": "ralph undo N", "backup": "ralph iterations",
		"convert": "ralph import", "create-prd": "ralph import", "prime": "ralph import", "queue": "ralph import",
		"template": "ralph import --list-templates", "plugins": "ralph agent list", "info": "ralph doctor",
		"clean": "ralph reset --all", "circuit": "ralph --circuit-status",
		"ping": "ralph doctor --live", "agents": "ralph agent list", "validate": "ralph config --check",
	}
}
