package agent

import "testing"

func TestAllowEntry(t *testing.T) {
	for _, c := range []struct {
		tool, arg, want string
	}{
		{"Bash", "npm test", "Bash(npm test:*)"},
		{"Bash", "npm test -- --run 2>&1 | tail -5", "Bash(npm test:*)"},
		{"Bash", "cd sub && FOO=1 go vet ./...", "Bash(go vet:*)"},
		{"Bash", "./run.sh --all", "Bash(./run.sh:*)"},
		{"Bash", "git -C x status", "Bash(git:*)"},
		{"Bash", "echo hi > f", "Bash(echo:*)"},
		{"Bash", "if [", "Bash(if:*)"},
		{"Bash", "", "Bash"},
		{"run_shell_command", "cargo build", "run_shell_command(cargo build)"},
		{"Write", "a.txt", "Write"},
		{"WebFetch", "https://go.dev/doc", "WebFetch(domain:go.dev)"},
		{"mcp__db__query", "select", "mcp__db__query"},
	} {
		if got := AllowEntry(c.tool, c.arg); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.tool, c.arg, got, c.want)
		}
	}
}

func TestAdvice_isAboutWhatTheListDoesNotAllow(t *testing.T) {
	claude, err := Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"Bash(npm test:*)"}
	const without = ", and let the agent run it without the redirection to a file, which only the entry Bash allows"
	for command, want := range map[string]string{
		"npm test | tee log.txt":             "add Bash(tee:*) to ALLOWED_TOOLS",
		"npm test && npm run x":              "add Bash(npm run:*) to ALLOWED_TOOLS",
		"npm run x > out.txt":                "add Bash(npm run:*) to ALLOWED_TOOLS" + without,
		"npm run x 2>&1 | grep a >> out.txt": "add Bash(npm run:*) to ALLOWED_TOOLS" + without,
		"npm run x >/dev/null 2>&1 <in.txt":  "add Bash(npm run:*) to ALLOWED_TOOLS",
		"grep -c '>' a.txt && npm run x":     "add Bash(npm run:*) to ALLOWED_TOOLS",
		"for f in a b; do make a &> l; done": "add Bash(make a:*) to ALLOWED_TOOLS" + without,
	} {
		if got := claude.Advice("claude", "Bash", command, allowed); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestCompound(t *testing.T) {
	allowed := []string{"Read", "Bash(git add:*)", "Bash(git commit:*)", "Bash(mvn *)", "Bash(make)", "run_shell_command(npm test)"}
	for _, c := range []struct {
		name, command string
		want          bool
	}{
		{"Bash", "git add -A && git commit -m 'x; y | z'", true},
		{"Bash", "mvn -q test 2>&1 | tail -20", true},
		{"Bash", "cd sub; mvn test", true},
		{"Bash", "git add . && rm -rf x", false},
		{"Bash", "git add $(rm x)", false},
		{"Bash", "git add .", false}, // not compound: refused for another reason
		{"Bash", "make > out.txt", true},
		{"Bash", "make all > out.txt", false},
		{"Bash", "echo a | tail", false}, // nothing of it is on the list
		{"Bash", "git addx . && git add y", false},
		{"Bash", "git add 'unclosed", false},
		{"run_shell_command", "npm test | tail", true},
		{"Read", "git add . && git add y", false},
	} {
		if got := CompoundAllowed(c.name, c.command, allowed); got != c.want {
			t.Errorf("%s %q: %v, want %v", c.name, c.command, got, c.want)
		}
	}
	if !CompoundAllowed("Bash", "a | b", []string{"Bash"}) {
		t.Error("an entry for the whole tool allows every part")
	}
}

func TestAsks(t *testing.T) {
	for tool, want := range map[string]bool{
		"AskUserQuestion": true, "ask_user": true, "question": true, "mcp__human__ask_user": true,
		"mcp__db__question": false, "Bash": false, "ask_user_feedback_form": false,
	} {
		if got := AsksUser(tool); got != want {
			t.Errorf("%s: %t", tool, got)
		}
	}
}
