package cli

import (
	"bufio"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"ralph/config"
	"ralph/runner"
	"ralph/runner/rules"
	"ralph/state"
)

func (a *app) configCommand() *cobra.Command {
	var check, env bool
	values := map[string]string{}
	cmd := &cobra.Command{
		Use: "config", Short: "Show every effective option and where its value came from", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.project()
			if err != nil {
				return err
			}
			cfg, warnings, err := a.loader(dir, values).Load()
			for _, w := range warnings {
				a.warn(w)
			}
			if err != nil {
				return err
			}
			if check && env {
				return usageError("config takes one of --check and --env")
			}
			if env {
				return a.printEnv(cfg)
			}
			if check {
				a.say("the configuration of %s is valid (%d warnings)", dir, len(warnings))
				return nil
			}
			return a.printConfig(cfg)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only validate")
	cmd.Flags().BoolVar(&env, "env", false, "show which variables of the environment the agent and the checks get; never a value")
	addOptions(cmd.Flags(), values)
	return cmd
}

// printConfig writes a row an option. On a terminal long values go on in the
// next rows, so that the sources stay in their column; on a narrow one the
// sources stand before the values.
func (a *app) printConfig(cfg *config.Config) error {
	rows, width := cfg.Rows(), a.width()
	key, source := 0, 0
	for _, row := range rows {
		key, source = max(key, len(row.Key)), max(source, utf8.RuneCountInString(row.Source.String()))
	}
	room := width - key - source - 4 // 2 between columns
	if width == 0 {
		room = math.MaxInt
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		if room < 16 {
			a.say("%s: %s", row.Key, row.Source)
			for _, part := range wrap(row.Value, max(width-4, 1)) {
				a.say("    %s", part)
			}
			continue
		}
		key, source := row.Key, row.Source.String()
		for _, part := range wrap(row.Value, room) {
			fmt.Fprintf(w, "%s\t%s\t%s\n", key, part, source)
			key, source = "", ""
		}
	}
	return w.Flush()
}

// wrap cuts text into parts of at most width characters, behind a comma, else a
// space, where there is one. No text is one empty part.
func wrap(text string, width int) []string {
	var parts []string
	rest := []rune(text)
	for len(rest) > width {
		cut, head := width, string(rest[:width])
		for _, sep := range []string{",", " "} {
			if i := strings.LastIndex(head, sep); i >= 0 {
				cut = utf8.RuneCountInString(head[:i+1])
				break
			}
		}
		parts, rest = append(parts, string(rest[:cut])), rest[cut:]
	}
	return append(parts, string(rest))
}

func (a *app) trustCommand() *cobra.Command {
	return &cobra.Command{
		Use: "trust", Short: "Allow this project's files to decide which programs run and which secrets they get", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.project()
			if err != nil {
				return err
			}
			loader := a.loader(dir, nil)
			u, err := loader.Untrusted()
			if err != nil {
				return err
			}
			if u == nil {
				a.say("nothing to trust: no project file decides which programs run or which secrets they get, or you have agreed before")
				return nil
			}
			// An agent could agree to what it has written itself.
			if owner, alive := state.Open(filepath.Join(dir, state.DirName)).Owner(); alive {
				return fmt.Errorf("nothing was agreed to while a run is alive: %w", &state.LockedError{Owner: owner})
			}
			if err := config.Trust(loader.StateHome(), *u); err != nil {
				return err
			}
			a.say("trusted for this project, until one of them changes:\n  %s", strings.Join(u.Lines, "\n  "))
			return nil
		},
	}
}

// askTrust refuses what a project file decides about programs and secrets until
// this user has agreed to it.
func (a *app) askTrust(loader config.Loader) error {
	u, err := loader.Untrusted()
	if err != nil || u == nil {
		return err
	}
	settings := strings.Join(u.Lines, "\n  ")
	if !isatty.IsTerminal(a.in.Fd()) {
		return usageError("%s decides which programs run or which secrets they get, and you have not agreed to it: %s; agree with: ralph trust", u.File, strings.Join(u.Lines, "; "))
	}
	fmt.Fprintf(a.err, "%s decides which programs ralph runs or which secrets they get:\n  %s\nAllow it, now and until it changes? [y/N] ", u.File, inert(settings))
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &exitError{rules.ExitUsage, "not trusted; nothing was run"}
	}
	return config.Trust(loader.StateHome(), *u)
}

// dryRun shows what a run would do.
func (a *app) dryRun(s *setup) error {
	p, err := runner.Preview(s.cfg.Options, runner.Deps{Dir: s.dir, Agents: s.find, Env: a.env, Prompt: s.prompt, Plan: s.plan})
	if err != nil {
		return err
	}
	a.say("# command line (the prompt goes to its standard input)\n%s\n", quoteArgs(p.Args))
	if s.plan != "" {
		a.say("# plan %s: %d of %d done, next: %s\n", s.plan, p.Done, p.Total, p.Next)
	}
	a.say("# prompt\n%s", p.Prompt)
	return nil
}

// quoteArgs writes an argv so that a shell reads it back.
func quoteArgs(args []string) string {
	quoted := make([]string, len(args))
	for i, s := range args {
		// Quoted as a whole, NAME=value would be no assignment any more.
		if name, value, found := strings.Cut(s, "="); found && name != "" && quoteWord(name) == name {
			quoted[i] = name + "=" + quoteWord(value)
		} else {
			quoted[i] = quoteWord(s)
		}
	}
	return strings.Join(quoted, " ")
}

func quoteWord(s string) string {
	word, err := syntax.Quote(s, syntax.LangPOSIX)
	if err != nil { // control characters, for which a POSIX shell has no escape
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return word
}
