package agent

// This file checks the rows that users add to the table of agents.

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"ralph/runner/agent/ending"
)

// CustomRow is a user's own agent, as in the settings file. {} in Resume, Model and
// Allowed stands for the value.
type CustomRow struct {
	Name string
	// Command is the program and its arguments. {permissions}, {model} and {resume}
	// stand for the arguments below, {prompt} or {prompt_file} for the prompt. What
	// has no placeholder is appended, in this order. Where Model is nil, {model} is
	// the name itself.
	Command []string
	Prompt  PromptBy
	Format  Format
	Pipe    bool
	Resume  []string // nil: it cannot resume a session
	Model   []string // nil: it takes no model
	Allowed []string // permission mode "allowed-tools": with {} once per entry, else once
	Bypass  []string // permission mode "bypass"
	Version []string // nil: it cannot print its version
	Models  []string // print the names of its models; nil: it cannot
	Login   []string // end with 0 if it is logged in; nil: it cannot tell
	About   string   // one line for people; empty: none
	Env     []string // NAME=value
	Keys    []string // names or globs of the variables with its keys
	// Home are the files and folders that it keeps in the home folder, relative to it; folders end in a slash.
	Home []string
	// Patterns come before the built-in ones.
	Patterns []ending.Pattern
}

// The fields of a CustomRow, as FieldError and the settings file name them.
const (
	FieldName     = "name"
	FieldCommand  = "command"
	FieldPrompt   = "prompt"
	FieldFormat   = "format"
	FieldOutput   = "output"
	FieldResume   = "resume"
	FieldModel    = "model"
	FieldAllowed  = "allowed_tools"
	FieldBypass   = "bypass"
	FieldVersion  = "version"
	FieldModels   = "models"
	FieldLogin    = "login"
	FieldAbout    = "description"
	FieldEnv      = "env"
	FieldKeys     = "env_keys"
	FieldHome     = "home"
	FieldPatterns = "patterns"
)

// FieldError is a bad field of a CustomRow.
type FieldError struct{ Field, Problem string }

func (e *FieldError) Error() string { return e.Field + " " + e.Problem }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// CustomFormats lists the wire formats.
func CustomFormats() []string {
	return []string{string(FormatClaude), string(FormatCodex), string(FormatGemini),
		string(FormatOpencode), string(FormatText)}
}

// CustomPrompts lists the ways to pass a prompt.
func CustomPrompts() []string {
	return []string{string(PromptStdin), string(PromptArg), string(PromptFile)}
}

// Spec checks the row and turns it into a Spec. It takes the names of tools and the
// way of counting from the first built-in row with the same wire format. Errors
// are *FieldError.
func (r CustomRow) Spec() (Spec, error) {
	if r.OfBuiltIn() {
		s, _ := Find(r.Name)
		s.Patterns = slices.Concat(r.Patterns, s.Patterns)
		return s, r.checkPatterns()
	}
	r, err := r.expandModel()
	if err != nil {
		return Spec{}, err
	}
	for _, check := range []func() error{r.checkName, r.checkCommand, r.checkLists, r.checkPatterns} {
		if err := check(); err != nil {
			return Spec{}, err
		}
	}
	s := Spec{
		Name: r.Name, About: r.About, Bin: r.Command[0], Install: "see its row under agents in config.yaml",
		Template: Template{Args: slices.Clone(r.Command[1:]), PromptBy: r.Prompt, VersionArgs: r.Version,
			ResumeArgs: r.Resume, ModelArgs: r.Model, BypassArgs: r.Bypass,
			ModelsArgs: r.Models, LoginArgs: r.Login},
		Pipe: r.Pipe,
		Env:  Variables{Set: r.Env, Keys: r.Keys, State: r.Home}, Format: r.Format, Patterns: r.Patterns,
	}
	if containsPlaceholder(r.Allowed, argValue) {
		s.AllowedItem = r.Allowed
	} else {
		s.AllowedArgs = r.Allowed
	}
	for _, p := range []string{argPermissions, argModel, argResume} {
		if !slices.Contains(s.Args, p) {
			s.Args = append(s.Args, p)
		}
	}
	specs := Specs()
	like := specs[slices.IndexFunc(specs, func(o Spec) bool { return o.Format == r.Format })]
	s.SessionTokens, s.SessionCost, s.CachedInInput = like.SessionTokens, like.SessionCost, like.CachedInInput
	s.Tools, s.ShellEntry, s.Guarded = like.Tools, like.ShellEntry, like.Guarded
	return s, nil
}

// OfBuiltIn reports whether the row only adds patterns to a built-in agent.
func (r CustomRow) OfBuiltIn() bool {
	_, unknown := Find(r.Name)
	return unknown == nil && len(r.Patterns) > 0 && reflect.DeepEqual(r, CustomRow{Name: r.Name, Prompt: r.Prompt, Format: r.Format, Patterns: r.Patterns})
}

// expandModel moves {model} out of an argument of the command, together with the
// option before it, to where the arguments for a model are: without a model, both
// are left out.
func (r CustomRow) expandModel() (CustomRow, error) {
	i := slices.IndexFunc(r.Command, func(a string) bool { return strings.Contains(a, argModel) })
	if i < 1 || len(r.Model) > 0 {
		return r, nil
	}
	from := i
	if r.Command[i] == argModel && i > 1 && strings.HasPrefix(r.Command[i-1], "-") {
		from--
	}
	rest := r.Command[i+1:]
	if containsPlaceholder(rest, argModel) || strings.Contains(strings.Replace(r.Command[i], argModel, "", 1), "{") {
		return r, wrong(FieldCommand, "%q: %s may stand in one argument, without another placeholder", r.Command[i],
			argModel)
	}
	for _, a := range r.Command[from : i+1] {
		r.Model = append(r.Model, strings.Replace(a, argModel, argValue, 1))
	}
	r.Command = slices.Concat(r.Command[:from], []string{argModel}, rest)
	return r, nil
}

func (r CustomRow) checkName() error {
	if len(r.Name) > 40 || !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(r.Name) {
		return wrong(FieldName, "%q is not allowed: at most 40 letters, digits, dots, dashes and underscores, "+
			"a letter or digit first", r.Name)
	}
	if _, err := Find(r.Name); err == nil {
		return wrong(FieldName, "%q is that of a built-in agent: choose another one; "+
			"AGENT_CMD replaces the program of a built-in agent, and its row may only hold patterns", r.Name)
	}
	return nil
}

func (r CustomRow) checkCommand() error {
	if len(r.Command) == 0 || r.Command[0] == "" {
		return wrong(FieldCommand, "is missing: the program and its arguments")
	}
	if strings.ContainsAny(r.Command[0], "{}") || strings.HasPrefix(r.Command[0], "-") {
		return wrong(FieldCommand, "%q must begin with a program", strings.Join(r.Command, " "))
	}
	if !slices.Contains(CustomPrompts(), string(r.Prompt)) {
		return wrong(FieldPrompt, "%q is not one of %s", r.Prompt, strings.Join(CustomPrompts(), ", "))
	}
	if !slices.Contains(CustomFormats(), string(r.Format)) {
		return wrong(FieldFormat, "%q is not one of %s", r.Format, strings.Join(CustomFormats(), ", "))
	}
	for _, p := range []string{argPermissions, argModel, argResume} {
		for _, a := range r.Command {
			if a != p && strings.Contains(a, p) {
				return wrong(FieldCommand, "%q: %s must be an argument of its own; "+
					"what goes there is said by another key", a, p)
			}
		}
	}
	switch inFile := containsPlaceholder(r.Command, argPromptPath); {
	case r.Prompt == PromptFile && !inFile:
		return wrong(FieldCommand, "must hold %s, because prompt is file", argPromptPath)
	case r.Prompt != PromptFile && inFile:
		return wrong(FieldCommand, "holds %s, which needs prompt: file", argPromptPath)
	case r.Prompt != PromptArg && containsPlaceholder(r.Command, argPrompt):
		return wrong(FieldCommand, "holds %s, which needs prompt: arg", argPrompt)
	}
	return nil
}

// checkLists checks the lists whose entries have a form.
func (r CustomRow) checkLists() error {
	for _, f := range []struct {
		field string
		args  []string
	}{{FieldResume, r.Resume}, {FieldModel, r.Model}} {
		if len(f.args) > 0 && !containsPlaceholder(f.args, argValue) {
			return wrong(f.field, "must hold {} where the value goes, such as --%s {}", f.field)
		}
	}
	assignment := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	for _, f := range []struct {
		field   string
		entries []string
		valid   func(entry string) bool
		problem string
	}{
		{FieldEnv, r.Env, assignment.MatchString, "is not NAME=value"},
		{FieldKeys, r.Keys, func(key string) bool { return validEnvEntry(key) && key[0] != '!' },
			"is not the name of a variable; * and ? stand for any text or character"},
		{FieldHome, r.Home, func(name string) bool {
			return filepath.IsLocal(name) && filepath.Clean(name) != "." && name[0] != '~'
		}, "is not a file or folder in the home folder, such as .aider/ or .aider.conf.yml"},
	} {
		for _, entry := range f.entries {
			if !f.valid(entry) {
				return wrong(f.field, "%q %s", entry, f.problem)
			}
		}
	}
	return nil
}

// PatternNone in a settings file marks text to ignore, even if a built-in pattern
// matches it.
const PatternNone = "none"

// patternClasses lists the classes that a pattern can have.
func patternClasses() []string {
	names := []string{PatternNone}
	for _, i := range ending.Classes() {
		names = append(names, string(i.Class))
	}
	return names
}

func (r CustomRow) checkPatterns() error {
	for _, p := range r.Patterns {
		if p.Class != ending.Unknown && !slices.Contains(patternClasses(), string(p.Class)) {
			return wrong(FieldPatterns, "%q is not one of %s", p.Class, strings.Join(patternClasses(), ", "))
		}
		re, err := regexp.Compile(`(?im)` + p.Match)
		if err != nil {
			return wrong(FieldPatterns, "%q is not a regular expression: %v", p.Match, err)
		}
		if re.MatchString("") {
			return wrong(FieldPatterns, "%q matches every text", p.Match)
		}
	}
	return nil
}
