package agent

import (
	"net/url"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const shellTool = "Bash"

// shellEntries are the tools that run shell commands, each with the form of its
// allow entry.
var shellEntries = [...][2]string{{shellTool, "Bash(%:*)"}, {"run_shell_command", "run_shell_command(%)"}}

// withSubcommand are programs whose subcommand belongs in an allow entry.
var withSubcommand = []string{"apt", "brew", "bun", "cargo", "composer", "deno", "docker", "dotnet", "gh", "git", "go",
	"gradle", "helm", "kubectl", "make", "mix", "mvn", "npm", "npx", "pip", "pnpm", "poetry", "python", "rails",
	"rake", "uv", "yarn"}

// harmless are programs that only read, filter or change directory. The rules do
// not refuse a compound command because of them.
var harmless = []string{"cat", "cd", "cut", "echo", "false", "grep", "head", "pwd", "sort", "tail", "tr", "true",
	"uniq", "wc"}

// AllowEntry returns the entry of ALLOWED_TOOLS that would have allowed a refused
// call, in the syntax of the agent that made it. arg is the main argument of the
// call.
func AllowEntry(tool, arg string) string {
	for _, e := range shellEntries {
		if tool != e[0] {
			continue
		}
		if prefix := commandPrefix(arg); prefix != "" {
			return strings.Replace(e[1], "%", prefix, 1)
		}
	}
	if tool == "WebFetch" {
		if u, err := url.Parse(arg); err == nil && u.Host != "" {
			return "WebFetch(domain:" + u.Hostname() + ")"
		}
	}
	return tool
}

// commandPrefix returns the program and subcommand of the first command that is
// not harmless.
func commandPrefix(command string) string {
	words := strings.Fields(command)
	if parts := commands(command); len(parts) > 0 {
		i := slices.IndexFunc(parts, func(p []string) bool { return !slices.Contains(harmless, p[0]) })
		words = parts[max(i, 0)]
	}
	switch {
	case len(words) == 0:
		return ""
	case len(words) > 1 && slices.Contains(withSubcommand, words[0]) && !strings.HasPrefix(words[1], "-"):
		return words[0] + " " + words[1]
	}
	return words[0]
}

// CompoundAllowed reports whether a refused call is a compound shell command (joined
// commands, a pipe or a redirection) of which the list allows every part. Then
// the rules refused only the form.
func CompoundAllowed(tool, arg string, allowed []string) bool {
	if !runsShell(tool) {
		return false
	}
	parts := commands(arg)
	if len(parts) == 0 || len(parts) == 1 && !strings.ContainsAny(arg, "<>|&;") {
		return false
	}
	named := false
	for _, words := range parts {
		if slices.ContainsFunc(allowed, func(entry string) bool { return allows(entry, words) }) {
			named = true
		} else if !slices.Contains(harmless, words[0]) {
			return false
		}
	}
	return named
}

func runsShell(tool string) bool {
	return slices.ContainsFunc(shellEntries[:], func(e [2]string) bool { return e[0] == tool })
}

// allows reports whether an entry of the list allows a simple command.
func allows(entry string, words []string) bool {
	name, arg, some := strings.Cut(strings.TrimSpace(entry), "(")
	if !runsShell(name) {
		return false
	}
	arg = strings.TrimSpace(strings.TrimSuffix(arg, ")"))
	prefix := strings.TrimSpace(strings.TrimRight(arg, ":* "))
	command := strings.Join(words, " ")
	if !some || prefix == "" {
		return true
	}
	return command == prefix || (prefix != arg || name != shellTool) && strings.HasPrefix(command, prefix+" ")
}

// commands splits a shell command into its simple commands, including those in
// substitutions. It returns nil when the command does not parse.
func commands(command string) [][]string {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	var out [][]string
	printer := syntax.NewPrinter()
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		words := make([]string, 0, len(call.Args))
		for _, w := range call.Args {
			var b strings.Builder
			_ = printer.Print(&b, w) // a Builder cannot fail
			words = append(words, b.String())
		}
		out = append(out, words)
		return true
	})
	return out
}
