package agent

// This file builds the arguments of an agent CLI, and the entries of its list
// of allowed tools.

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ralph/ptyexec"
)

// PromptBy is how a CLI takes its prompt.
type PromptBy string

// The ways to pass a prompt. Standard input keeps it out of the process list and
// has no size limit.
const (
	PromptStdin PromptBy = "stdin"
	PromptArg   PromptBy = "arg"
	PromptFile  PromptBy = "file" // the path of a file
)

// The permission modes of an ArgvCall.
const (
	PermitAllowedTools = "allowed-tools"
	PermitBypass       = "bypass"
	PermitReadOnly     = "read-only" // of a reviewer
)

// Placeholders in Template.Args. The first four stand alone and are replaced by
// arguments, or by nothing if the call does not need them. Prompt and PromptPath
// may be a part of an argument.
const (
	argResume      = "{resume}"
	argPermissions = "{permissions}"
	argModel       = "{model}"
	argSettings    = "{settings}"
	argPrompt      = "{prompt}" // without it, a prompt by argument comes last
	argPromptPath  = "{prompt_file}"
)

// argValue is the placeholder for the value in the other lists of a Template.
const argValue = "{}"

// Template has the arguments of a CLI. A nil list means that the CLI has no such
// option.
type Template struct {
	Args        []string `json:"args,omitempty"` // all arguments, with placeholders
	PromptBy    PromptBy `json:"prompt_by,omitempty"`
	ResumeArgs  []string `json:"resume_args,omitempty"`
	ModelArgs   []string `json:"model_args,omitempty"`
	AllowedArgs []string `json:"allowed_args,omitempty"` // permission mode "allowed-tools", before the entries
	// ContainedArgs replace AllowedArgs in a sandbox of ralph: the CLI's own sandbox
	// cannot be set up within another. nil: AllowedArgs.
	ContainedArgs []string `json:"contained_args,omitempty"`
	AllowedItem   []string `json:"allowed_item,omitempty"` // once per entry
	BypassArgs    []string `json:"bypass_args,omitempty"`  // permission mode "bypass"
	// SettingsArgs add settings of Claude Code's form to the user's, for one call.
	SettingsArgs []string `json:"settings_args,omitempty"`
	// ReadOnlyArgs keep the CLI from changing files. nil: it cannot be kept from it.
	ReadOnlyArgs []string          `json:"read_only_args,omitempty"`
	VersionArgs  []string          `json:"version_args,omitempty"` // print the version and exit
	ModelsArgs   []string          `json:"models_args,omitempty"`  // print the names of its models, without a call
	Models       []string          `json:"models,omitempty"`       // names in its documentation
	LoginArgs    []string          `json:"login_args,omitempty"`   // end with 0 if it is logged in, without a call
	LoginFile    string            `json:"login_file,omitempty"`   // in the home folder, there once it is logged in
	Tools        map[string]string `json:"tools,omitempty"`        // Claude Code's names -> its own; "Bash" is the shell
	ShellEntry   string            `json:"shell_entry,omitempty"`  // an entry for the prefix %s of a shell command
}

// ArgvCall has the values for the arguments of one call.
type ArgvCall struct {
	Prompt         string
	PromptFile     string   // path of a file with Prompt; empty: its placeholder stays
	Model          string   // empty: the agent's own default
	Session        string   // to resume; empty: a fresh context
	Settings       string   // JSON; empty: none
	PermissionMode string   // PermitAllowedTools or PermitBypass; empty: the agent's own default
	AllowedTools   []string // entries in Claude Code's syntax or in the agent's own
	Contained      bool     // the call runs in a sandbox of ralph
}

// Build returns the arguments of a call, without the program.
func (t Template) Build(c ArgvCall) []string {
	var args []string
	for _, a := range t.Args {
		switch a {
		case argResume:
			args = appendValue(args, t.ResumeArgs, c.Session)
		case argModel:
			args = appendValue(args, t.ModelArgs, c.Model)
		case argSettings:
			args = appendValue(args, t.SettingsArgs, c.Settings)
		case argPermissions:
			args = append(args, t.permissions(c)...)
		default:
			args = append(args, a)
		}
	}
	switch {
	case t.PromptBy == PromptArg:
		prompt := c.Prompt
		if strings.HasPrefix(prompt, "-") {
			prompt = "\n" + prompt // or the CLI takes it for an option
		}
		if !containsPlaceholder(t.Args, argPrompt) {
			args = append(args, argPrompt)
		}
		return replaceAll(args, argPrompt, prompt)
	case t.PromptBy == PromptFile && c.PromptFile != "":
		return replaceAll(args, argPromptPath, c.PromptFile)
	}
	return args
}

// Advice tells the user how to let the agent make a tool call that it refused although it had this list.
func (t Template) Advice(agent, tool, arg string, allowed []string) string {
	if len(t.AllowedItem) == 0 {
		return fmt.Sprintf("allow it in the settings of %s itself, or choose PERMISSION_MODE=%s", agent, PermitBypass)
	}
	add := "add " + AllowEntry(tool, arg, allowed...) + " to ALLOWED_TOOLS"
	if WritesFile(tool, arg) {
		add += ", and let the agent run it without the redirection to a file, which only the entry " + shellTool + " allows"
	}
	return add
}

// claudeReadOnly are the arguments that leave Claude Code only the tools that read. Settings
// of the user may allow others: those are refused by name.
func claudeReadOnly() []string {
	return []string{"--permission-mode", "default", "--allowedTools", "Read", "Glob", "Grep",
		"--disallowedTools", "Write", "Edit", "MultiEdit", "NotebookEdit", shellTool}
}

// AsksUser reports whether a tool of this name asks the user a question. That of an MCP server has the
// server's name before it: mcp__SERVER__ask_user.
func AsksUser(tool string) bool {
	tool = strings.ToLower(tool)
	return strings.HasSuffix(tool, "__ask_user") ||
		slices.Contains([]string{"askuserquestion", "ask_user_question", "ask_user", "question"}, tool)
}

// geminiTools translates the names of tools to those of Gemini CLI and of its
// forks, which call some of them differently.
func geminiTools(edit, todo, search string) map[string]string {
	return map[string]string{"Bash": "run_shell_command", "Write": "write_file", "Read": "read_file", "Edit": edit,
		"Glob": "glob", "Grep": "grep_search", "TodoWrite": todo, "WebFetch": "web_fetch", "WebSearch": search}
}

// TakesModel reports whether a call can name this model.
func (t Template) TakesModel(model string) bool {
	return len(t.ModelArgs) > 0 && !strings.HasPrefix(model, "-")
}

// containsPlaceholder reports whether any argument holds the placeholder.
func containsPlaceholder(args []string, placeholder string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, placeholder) })
}

func replaceAll(args []string, placeholder, value string) []string {
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, placeholder, value)
	}
	return args
}

// appendValue appends template with the value filled in, if there is a value.
func appendValue(args, template []string, value string) []string {
	if value == "" || strings.HasPrefix(value, "-") { // it would be an option, not a session or a model
		return args
	}
	return append(args, replaceAll(slices.Clone(template), argValue, value)...)
}

func (t Template) permissions(c ArgvCall) []string {
	switch c.PermissionMode {
	case PermitBypass:
		return t.BypassArgs
	case PermitReadOnly:
		if c.Contained && t.ContainedArgs != nil {
			return t.ContainedArgs // its own sandbox does not work there
		}
		return t.ReadOnlyArgs
	case PermitAllowedTools:
		args := slices.Clone(t.AllowedArgs)
		if c.Contained && t.ContainedArgs != nil {
			args = slices.Clone(t.ContainedArgs)
		}
		if len(c.AllowedTools) == 0 && len(t.AllowedItem) > 0 && t.AllowedItem[0] == argValue {
			return args[:max(0, len(args)-1)] // an option with an empty list would swallow the next argument
		}
		for _, entry := range c.AllowedTools {
			args = appendValue(args, t.AllowedItem, t.entry(entry))
		}
		return args
	}
	return nil
}

// entry translates an allow entry from Claude Code's syntax to the CLI's.
func (t Template) entry(e string) string {
	e = strings.TrimSpace(e)
	name, arg, _ := strings.Cut(e, "(")
	own, known := t.Tools[name]
	if !known {
		return e
	}
	prefix := strings.TrimSpace(strings.TrimRight(strings.TrimSuffix(arg, ")"), ":* "))
	if name != shellTool || prefix == "" {
		return own
	}
	return fmt.Sprintf(t.ShellEntry, prefix)
}

// Request describes one call to an agent.
type Request struct {
	ArgvCall          // its arguments; an empty PromptFile: see Prepare
	Program  []string // program and arguments that replace Spec.Bin; nil: Spec.Bin
	Dir      string   // working directory
	Env      []string // environment to start from, NAME=value
	Filter   EnvFilter
	Root     bool // the call runs as the superuser
}

// Command builds the command of a call. The caller sets time limits and the size of the terminal.
func (s Spec) Command(r Request) ptyexec.Command {
	args := s.Build(r.ArgvCall)
	c := ptyexec.Command{Args: slices.Concat(s.program(r), args), Dir: r.Dir, Env: s.env(r), Pipe: s.Pipe}
	if s.PromptBy != PromptArg && s.PromptBy != PromptFile {
		c.Stdin = strings.NewReader(r.Prompt)
	}
	return c
}

func (s Spec) program(r Request) []string {
	if len(r.Program) > 0 {
		return slices.Clone(r.Program)
	}
	return []string{s.Bin}
}

// Prepare is Command for a call that starts now. For an agent that takes its
// prompt as a file, it writes a temporary file with mode 0600; done removes it.
func (s Spec) Prepare(r Request) (c ptyexec.Command, done func(), err error) {
	done = func() {}
	if s.PromptBy == PromptFile && r.PromptFile == "" {
		file, err := os.CreateTemp("", "ralph-prompt-*.md")
		if err == nil {
			r.PromptFile = file.Name()
			done = func() { _ = os.Remove(file.Name()) }
			_, err = file.WriteString(r.Prompt)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			done()
			return c, func() {}, fmt.Errorf("write prompt file: %w", err)
		}
	}
	return s.Command(r), done, nil
}

// Inquiry asks the program something that costs no call, such as its version. It
// uses only Program, Dir, Env and Filter of r.
func (s Spec) Inquiry(args []string, r Request) ptyexec.Command {
	return ptyexec.Command{Args: append(s.program(r), args...), Dir: r.Dir, Env: s.env(r), Pipe: true}
}

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
// call. Of a compound command, it is for the first part that the list does not allow yet.
func AllowEntry(tool, arg string, allowed ...string) string {
	for _, e := range shellEntries {
		if tool != e[0] {
			continue
		}
		if prefix := commandPrefix(arg, allowed); prefix != "" {
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
// neither harmless nor allowed.
func commandPrefix(command string, allowed []string) string {
	words := strings.Fields(command)
	if parts := commands(command); len(parts) > 0 {
		words = parts[0]
		open := slices.DeleteFunc(parts, func(p []string) bool { return slices.Contains(harmless, p[0]) || allowsOne(allowed, p) })
		if len(open) > 0 {
			words = open[0]
		}
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
		if allowsOne(allowed, words) {
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

// WritesFile reports whether a call redirects the output of a shell command to a file. Claude Code asks before it does that,
// whatever entries allow the command; an agent with another name for the tool has rules of its own.
func WritesFile(tool, command string) (writes bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil || tool != shellTool {
		return false
	}
	to := []syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll}
	syntax.Walk(file, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		writes = writes || ok && slices.Contains(to, r.Op) && r.Word.Lit() != os.DevNull
		return true
	})
	return writes
}

// allowsOne reports whether one of the entries allows a simple command.
func allowsOne(allowed, words []string) bool {
	return slices.ContainsFunc(allowed, func(entry string) bool { return allows(entry, words) })
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
