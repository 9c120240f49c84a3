package agenthooks

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ralph/state"
)

// reading are programs that only read, whatever their arguments say.
var reading = []string{"basename", "cat", "cmp", "cut", "diff", "dirname", "du", "echo", "false", "file", "grep",
	"head", "ls", "nl", "pwd", "realpath", "stat", "tail", "test", "tr", "true", "wc", "which"}

// readingGit are subcommands of git that only read.
var readingGit = []string{"blame", "diff", "log", "ls-files", "rev-parse", "show", "status"}

// OnlyReads reports whether a shell command does nothing but read files of the project. It
// is sure: a command that it cannot judge does not pass.
func OnlyReads(command string) bool {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	ok := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.File, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.Comment:
		case *syntax.Stmt:
			ok = ok && !n.Background && !n.Coprocess && !n.Negated
		case *syntax.BinaryCmd:
			ok = ok && n.Op != syntax.PipeAll
		case *syntax.DblQuoted:
			ok = ok && !n.Dollar
		case *syntax.Redirect:
			ok = ok && (n.Op == syntax.DplOut && n.Word.Lit() == "1" || n.Op == syntax.RdrOut &&
				n.Word.Lit() == "/dev/null")
		case *syntax.CallExpr:
			ok = ok && len(n.Assigns) == 0 && readsOnly(n.Args)
		default: // expansions, substitutions, loops, functions
			ok = false
		}
		return ok
	})
	return ok
}

// readsOnly judges one simple command of literal words.
func readsOnly(args []*syntax.Word) bool {
	words := make([]string, len(args))
	for i, a := range args {
		word, literal := text(a)
		if !literal || i > 0 && leaves(word) {
			return false
		}
		words[i] = word
	}
	if words[0] != "git" {
		return slices.Contains(reading, words[0])
	}
	writes := func(word string) bool { // --output, and options that start programs
		return strings.HasPrefix(word, "--ou") || strings.HasPrefix(word, "--ex") || strings.HasPrefix(word, "--te")
	}
	return len(words) > 1 && slices.Contains(readingGit, words[1]) && !slices.ContainsFunc(words[2:], writes)
}

// text is a word without quotes; literal is false if the shell would expand it.
func text(w *syntax.Word) (word string, literal bool) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			word += strings.ReplaceAll(p.Value, `\`, "")
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			word += p.Value
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				word += lit.Value
			}
		default:
			return "", false
		}
	}
	return word, true
}

// leaves reports whether an argument may name something outside of the project, or a
// file that holds keys.
func leaves(word string) bool {
	_, value, _ := strings.Cut(word, "=")
	for _, w := range []string{word, value} {
		if strings.HasPrefix(w, "/") && w != "/dev/null" || strings.HasPrefix(w, "~") || strings.Contains(w, "..") ||
			strings.HasPrefix(filepath.Base(w), ".env") {
			return true
		}
	}
	return strings.HasPrefix(word, "-") && strings.ContainsAny(word, "/~")
}

// refuse says why a tool call must not be made; empty: nothing speaks against it.
func refuse(in Input) string {
	if path := in.Path(); path != "" {
		return refuseEdit(in.Dir, path)
	}
	if in.Tool != "Bash" {
		return ""
	}
	return refuseLine(in.Args.Command)
}

// refuseLine refuses a command line for sh.
func refuseLine(line string) (why string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return ""
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if why == "" {
				why = refuseCommand(plainWords(n.Args))
			}
		case *syntax.BinaryCmd:
			if why == "" && (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && downloads(n.X) && isShell(n.Y) {
				why = "it runs what it downloads"
			}
		}
		return true
	})
	return why
}

// plainWords are the words as far as they are literal.
func plainWords(args []*syntax.Word) []string {
	words := make([]string, 0, len(args))
	for _, a := range args {
		if word, ok := text(a); ok {
			words = append(words, word)
			continue
		}
		var b strings.Builder
		_ = syntax.NewPrinter().Print(&b, a) // a Builder cannot fail
		words = append(words, strings.Trim(b.String(), `"`))
	}
	return words
}

// through are programs that run another one.
var through = []string{"command", "env", "exec", "nice", "nohup", "time", "timeout", "xargs"}

func refuseCommand(words []string) string {
	for len(words) > 1 && slices.Contains(through, filepath.Base(words[0])) {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=") ||
			strings.Trim(words[0], "0123456789smh") == "") {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	if line := nested(words); line != "" {
		return refuseLine(line)
	}
	args := words[1:]
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) })
	}
	switch name := filepath.Base(words[0]); {
	case slices.Contains([]string{"sudo", "su", "doas"}, name):
		return "it takes the rights of another user"
	case slices.Contains([]string{"shutdown", "reboot", "halt", "poweroff"}, name), strings.HasPrefix(name, "mkfs"):
		return "it is about the whole machine"
	case name == "dd" && slices.ContainsFunc(args,
		func(a string) bool { return strings.HasPrefix(a, "of=/dev/") && a != "of=/dev/null" }):
		return "it writes to a device"
	case name == "rm" && recursive(args) && has("/", "/*", "~", "~/", "$HOME", "${HOME}", "$HOME/", ".", "./", "..",
		"*", "./*", ".git", ".git/", ".ralph", ".ralph/"):
		return "it deletes far more than a task needs"
	case name == "git":
		return refuseGit(args)
	}
	return ""
}

// nested is the command line that a command runs in a shell; empty: none that is known.
func nested(words []string) string {
	if words[0] == "eval" {
		return strings.Join(words[1:], " ")
	}
	if !slices.Contains([]string{"sh", "bash", "zsh", "dash"}, filepath.Base(words[0])) {
		return ""
	}
	for i, word := range words[1:] {
		if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "c") &&
			i+2 < len(words) {
			return words[i+2]
		}
	}
	return ""
}

func recursive(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "--recursive" || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") &&
			strings.ContainsAny(a, "rR")
	})
}

// refuseGit refuses what takes work away that no commit holds, or the remote's history.
func refuseGit(args []string) string {
	for len(args) > 1 && strings.HasPrefix(args[0], "-") { // options before the subcommand
		if args[0] == "-C" || args[0] == "-c" {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	sub, args := args[0], args[1:]
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) })
	}
	const loses = "it can take away work that is not committed"
	switch {
	case sub == "reset" && has("--hard"), sub == "clean" && !has("-n", "--dry-run"), sub == "stash" &&
		!has("list", "show"), sub == "checkout" && has(".", "-f", "--force"), sub == "restore" && has(".", "*"):
		return loses
	case sub == "push" && (has("-f", "--force", "--mirror", "--delete", "-d") ||
		slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "+") })):
		return "it overwrites what others have"
	case sub == "filter-branch", sub == "update-ref" && has("-d"):
		return "it rewrites history"
	}
	return ""
}

func downloads(s *syntax.Stmt) bool { return runs(s, "curl", "wget") }
func isShell(s *syntax.Stmt) bool {
	return runs(s, "sh", "bash", "zsh", "dash", "python", "python3", "node", "perl", "ruby")
}

func runs(s *syntax.Stmt, names ...string) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && slices.Contains(names, filepath.Base(plainWords(call.Args)[0]))
}

// refuseEdit keeps the agent's file tools out of git's folder and of ralph's own state.
func refuseEdit(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	parts := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
	if slices.Contains(parts, ".git") {
		return "files of git are not edited by hand"
	}
	i := slices.Index(parts, state.DirName)
	if i < 0 || i+1 >= len(parts) {
		return ""
	}
	for _, f := range state.Files() {
		if first, _, _ := strings.Cut(f.Name, "/"); first == parts[i+1] {
			return "the file is ralph's own state"
		}
	}
	return ""
}
