package config

import (
	"errors"
	"ralph/runner/agent"
	"ralph/state/option"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// EnvFilter decides which environment variables agents and checks get.
func (c *Config) EnvFilter() agent.EnvFilter {
	return agent.EnvFilter{Exclude: c.EnvExclude}
}

// Words splits a command line into words by the shell's quoting, and expands ${NAME} from env, which has the form of
// os.Environ. The error names any other shell syntax in it.
func Words(text string, env []string) ([]string, error) {
	words, problem := splitWords(text, Loader{Env: env}.envMap())
	if problem != "" {
		return nil, errors.New(problem)
	}
	return words, nil
}

// splitWords splits a command line into words by the shell's quoting, and expands
// ${NAME}. Any other shell syntax is a problem.
func splitWords(text string, env map[string]string) (words []string, problem string) {
	plain := quote(text) +
		" is not a plain command line: a program and its arguments, quoted where they hold spaces or signs"
	if !option.Printable(text) {
		return nil, plain
	}
	// With x in front, the shell's parser does not take "time" for a reserved word.
	tree, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader("x "+text), "")
	if err != nil || len(tree.Stmts) != 1 {
		return nil, plain
	}
	stmt := tree.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(stmt.Redirs) > 0 || stmt.Semicolon.IsValid() {
		return nil, plain
	}
	r := &rcReader{env: env, vars: map[string]string{}}
	for _, word := range call.Args[1:] {
		var out strings.Builder
		if err := r.expand(&out, word.Parts, false); err != nil {
			problem := (*UsageError)(nil)
			if errors.As(err, &problem) {
				return nil, strings.TrimSuffix(problem.Problem, onlyData)
			}
			return nil, plain
		}
		if lit := word.Lit(); strings.HasPrefix(lit, "~") {
			return nil, "~ is not expanded: write ${HOME}"
		}
		words = append(words, out.String())
	}
	if len(r.warnings) > 0 {
		return nil, quote(text) + " holds a ${NAME} that is not set"
	}
	return words, ""
}
