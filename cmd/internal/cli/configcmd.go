package cli

import (
	"bufio"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"ralph/config"
	"ralph/runner"
	"ralph/runner/rules"
)

func (a *app) configCommand() *cobra.Command {
	var check bool
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
				fmt.Fprintln(a.err, "ralph: warning:", w)
			}
			if err != nil {
				return err
			}
			if check {
				a.say("the configuration of %s is valid (%d warnings)", dir, len(warnings))
				return nil
			}
			return a.printConfig(cfg)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only validate")
	addOptions(cmd.Flags(), values)
	return cmd
}

func (a *app) printConfig(cfg *config.Config) error {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, row := range cfg.Rows() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", row.Key, row.Value, row.Source)
	}
	return w.Flush()
}

func (a *app) trustCommand() *cobra.Command {
	return &cobra.Command{
		Use: "trust", Short: "Allow this project's files to decide which programs run", Args: cobra.NoArgs,
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
				a.say("nothing to trust: no project file decides which programs run, or you have agreed before")
				return nil
			}
			if err := config.Trust(loader.StateHome(), *u); err != nil {
				return err
			}
			a.say("trusted for this project, until one of them changes:\n  %s", strings.Join(u.Lines, "\n  "))
			return nil
		},
	}
}

// askTrust refuses to run programs that a project file names until this user
// has agreed to them.
func (a *app) askTrust(loader config.Loader) error {
	u, err := loader.Untrusted()
	if err != nil || u == nil {
		return err
	}
	settings := strings.Join(u.Lines, "\n  ")
	if !isatty.IsTerminal(a.in.Fd()) {
		return usageError("%s decides which programs run, and you have not agreed to it: %s; agree with: ralph trust", u.File, strings.Join(u.Lines, "; "))
	}
	fmt.Fprintf(a.err, "%s decides which programs ralph runs:\n  %s\nRun them, now and until they change? [y/N] ", u.File, settings)
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
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(plainChars, r) }) {
			s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		quoted[i] = s
	}
	return strings.Join(quoted, " ")
}

const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+"
