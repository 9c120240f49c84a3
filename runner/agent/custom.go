package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ralph/runner/agent/argv"
	"ralph/runner/agent/environ"
)

// Custom is a row of the user's own, as the settings file has it. Arguments are
// words; those of Resume, Model and Allowed hold {} where the value goes.
type Custom struct {
	Name string
	// Command is the program and its arguments. {permissions}, {model} and
	// {resume} stand where the arguments below go, {prompt} or {prompt_file}
	// where the prompt goes; what has no place comes last, in this order.
	Command []string
	Prompt  argv.PromptBy
	Format  Format
	Pipe    bool
	Resume  []string // nil: it cannot go on with a session
	Model   []string // nil: it takes no model
	Allowed []string // permission mode "allowed-tools": with {} once per entry, else once
	Bypass  []string // permission mode "bypass"
	Version []string // nil: it cannot tell its version
	Env     []string // NAME=value
	Keys    []string // names or globs of the variables that hold its keys
	// Patterns are looked at before the built-in ones.
	Patterns []Pattern
}

// The fields of a Custom, as FieldError and the settings file name them.
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
	FieldEnv      = "env"
	FieldKeys     = "env_keys"
	FieldPatterns = "patterns"
)

// FieldError is what is wrong with one field of a Custom, and what is allowed.
type FieldError struct{ Field, Problem string }

func (e *FieldError) Error() string { return e.Field + " " + e.Problem }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Formats lists the wire formats.
func Formats() []string {
	return []string{string(FormatClaude), string(FormatCodex), string(FormatGemini), string(FormatOpencode), string(FormatText)}
}

// Prompts lists the ways to hand over a prompt.
func Prompts() []string {
	return []string{string(PromptStdin), string(PromptArg), string(PromptFile)}
}

// Spec checks the row and completes it: the way of counting and of naming tools
// is that of the first built-in row with the same wire format. Errors are
// *FieldError.
func (c Custom) Spec() (Spec, error) {
	for _, check := range []func() error{c.checkName, c.checkCommand, c.checkValues, c.checkEnv, c.checkKeys, c.checkPatterns} {
		if err := check(); err != nil {
			return Spec{}, err
		}
	}
	s := Spec{
		Name: c.Name, Bin: c.Command[0], Install: "see its row under agents in config.yaml",
		Template: argv.Template{Args: slices.Clone(c.Command[1:]), PromptBy: c.Prompt, VersionArgs: c.Version,
			ResumeArgs: c.Resume, ModelArgs: c.Model, BypassArgs: c.Bypass},
		Pipe: c.Pipe,
		Env:  environ.Agent{Set: c.Env, Keys: c.Keys}, Format: c.Format, Patterns: c.Patterns,
	}
	if argv.Contains(c.Allowed, argv.Value) {
		s.AllowedItem = c.Allowed
	} else {
		s.AllowedArgs = c.Allowed
	}
	for _, p := range []string{argv.Permissions, argv.Model, argv.Resume} {
		if !slices.Contains(s.Args, p) {
			s.Args = append(s.Args, p)
		}
	}
	specs := Specs()
	like := specs[slices.IndexFunc(specs, func(o Spec) bool { return o.Format == c.Format })]
	s.SessionTokens, s.SessionCost, s.CachedInInput = like.SessionTokens, like.SessionCost, like.CachedInInput
	s.Tools, s.ShellEntry, s.Guarded = like.Tools, like.ShellEntry, like.Guarded
	return s, nil
}

func (c Custom) checkName() error {
	if len(c.Name) > 40 || !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(c.Name) {
		return wrong(FieldName, "%q is not allowed: at most 40 letters, digits, dots, dashes and underscores, a letter or digit first", c.Name)
	}
	if _, err := Lookup(c.Name); err == nil {
		return wrong(FieldName, "%q is that of a built-in agent: choose another one; AGENT_CMD replaces the program of a built-in agent", c.Name)
	}
	return nil
}

func (c Custom) checkCommand() error {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return wrong(FieldCommand, "is missing: the program and its arguments")
	}
	if strings.ContainsAny(c.Command[0], "{}") || strings.HasPrefix(c.Command[0], "-") {
		return wrong(FieldCommand, "%q must begin with a program", strings.Join(c.Command, " "))
	}
	if !slices.Contains(Prompts(), string(c.Prompt)) {
		return wrong(FieldPrompt, "%q is not one of %s", c.Prompt, strings.Join(Prompts(), ", "))
	}
	if !slices.Contains(Formats(), string(c.Format)) {
		return wrong(FieldFormat, "%q is not one of %s", c.Format, strings.Join(Formats(), ", "))
	}
	for _, p := range []string{argv.Permissions, argv.Model, argv.Resume} {
		for _, a := range c.Command {
			if a != p && strings.Contains(a, p) {
				return wrong(FieldCommand, "%q: %s must be an argument of its own; what goes there is said by another key", a, p)
			}
		}
	}
	switch inFile := argv.Contains(c.Command, argv.PromptPath); {
	case c.Prompt == PromptFile && !inFile:
		return wrong(FieldCommand, "must hold %s, because prompt is file", argv.PromptPath)
	case c.Prompt != PromptFile && inFile:
		return wrong(FieldCommand, "holds %s, which needs prompt: file", argv.PromptPath)
	case c.Prompt != PromptArg && argv.Contains(c.Command, argv.Prompt):
		return wrong(FieldCommand, "holds %s, which needs prompt: arg", argv.Prompt)
	}
	return nil
}

func (c Custom) checkValues() error {
	for _, f := range []struct {
		field string
		args  []string
	}{{FieldResume, c.Resume}, {FieldModel, c.Model}} {
		if len(f.args) > 0 && !argv.Contains(f.args, argv.Value) {
			return wrong(f.field, "must hold {} where the value goes, such as --%s {}", f.field)
		}
	}
	return nil
}

func (c Custom) checkEnv() error {
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	for _, kv := range c.Env {
		if !name.MatchString(kv) {
			return wrong(FieldEnv, "%q is not NAME=value", kv)
		}
	}
	return nil
}

func (c Custom) checkKeys() error {
	for _, key := range c.Keys {
		if !environ.ValidEntry(key) || strings.HasPrefix(key, "!") {
			return wrong(FieldKeys, "%q is not the name of a variable; * and ? stand for any text or character", key)
		}
	}
	return nil
}

// PatternNone in a settings file is text that means nothing, although a
// built-in pattern would match it.
const PatternNone = "none"

// PatternClasses lists the classes that the text of a CLI can mean.
func PatternClasses() []string {
	var names []string
	for _, i := range Classes() {
		switch i.Class {
		case ClassCompletedTurn, ClassNoFinalRecord, ClassHangSilent, ClassHangAfterResult, ClassTimeoutIdle, ClassTimeoutWithWork:
		default:
			names = append(names, string(i.Class))
		}
	}
	return append(names, PatternNone)
}

func (c Custom) checkPatterns() error {
	for _, p := range c.Patterns {
		if p.Class != ClassUnknown && !slices.Contains(PatternClasses(), string(p.Class)) {
			return wrong(FieldPatterns, "%q is not one of %s", p.Class, strings.Join(PatternClasses(), ", "))
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
