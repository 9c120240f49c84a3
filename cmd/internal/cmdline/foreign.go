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
		browser  = "show runs in a browser with: ralph serve"
		review   = "QA and JUDGES in .ralphrc say who reviews"
		hosts    = "SANDBOX=auto confines agents, SANDBOX_NET says what they reach; nothing runs in a cloud"
		queue    = "ralph import takes issues into the plan; ralph --plan FILE works on another one"
		issues   = "ralph reads issues at ralph import, and writes none: a hook can (HOOK_ON_COMPLETE)"
		remote   = "work on a run elsewhere over ssh: ralph -C DIR monitor"
	)
	return map[string]string{
		"-b": states, "--backup": states, "--rollback": states, "--prd": plan, "--yaml": plan, "--tasks": plan,
		"--tool": agent, "--backend": agent, "--claude": agent, "--codex": agent, "--opencode": agent, "--amp": agent,
		"--prompt-file":        "name the prompt with --prompt FILE",
		"--prompt-text":        "write the prompt to a file and name it with --prompt FILE",
		"--once":               "make one iteration with: ralph once",
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
		"--init":   "set the project up with: ralph init", "--config": "show the configuration with: ralph config",

		"--task-model": "choose the model with --model NAME", "--plan-model": "choose the model with --model NAME",
		"--review-model": review, "--review": review, "--external-only": review, "--codex-only": review,
		"--tasks-only": review, "--external-review-tool": review, "--custom-review-script": review,
		"--max-external-iterations": review, "--review-patience": review,
		"--claude-command": "name the program with AGENT_CMD in .ralphrc", "--claude-args": "name the program with AGENT_CMD in .ralphrc",
		"--wait": "wait for a usage limit with --on-limit wait", "--session-timeout": "bound a call with --timeout MIN",
		"--skip-finalize": "HOOK_ON_COMPLETE in .ralphrc is all that follows a run", "--preserve-anthropic-api-key": "agents get it, unless ENV_EXCLUDE names it",
		"--worktree": "use worktrees with --isolate worktree", "--branch": branches, "--base-ref": branches, "--target-branch": branches,
		"--serve": browser, "--port": browser, "--no-setup": "nothing is set up by a run: ralph init does it",
		"--tracker": plan, "--epic": plan, "--epics": plan, "--task-range": "choose tasks with --task ID",
		"--serial": "tasks run one after the other, unless PARALLEL says more", "--sequential": "tasks run one after the other, unless PARALLEL says more",
		"--direct-merge": "LAND in .ralphrc says where the work goes", "--no-sandbox": "set SANDBOX=off", "--no-network": "set SANDBOX_NET=none",
		"--theme": screen, "--listen": remote, "--remote-only": remote,
		"--show-tool-args": "ralph --live shows them", "--github-issue": issues, "--comment-progress": issues, "--auto-close": issues,
		"--close-summary": issues, "--link-issue": issues, "--create-followups": issues, "--add-label": issues,
		"--sandbox-image": "name the image with SANDBOX_IMAGE in .ralphrc", "--sandbox-network": hosts, "--sandbox-memory": hosts,
		"--sandbox-cpus": hosts, "--sandbox-template": hosts, "--sandbox-timeout": hosts, "--sandbox-max-cost": hosts,
		"--sync-include": hosts, "--sync-exclude": hosts,
		"--queue-status": queue, "--process-queue": queue, "--resume-queue": queue, "--queue-next": queue, "--queue-clear": queue,
	}
}

// ForeignVerbs are commands of other programs called ralph, and what to type
// here instead.
func ForeignVerbs() map[string]string {
	return map[string]string{
		"setup": "ralph init", "enable": "ralph init", "install": "ralph init", "migrate": "ralph init --from TOOL",
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
