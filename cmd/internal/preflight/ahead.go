package preflight

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
)

// whenReady is the consent to a check that begins when there is something to check. If its command changes,
// the user has to agree again.
func (p *Project) whenReady(c namedAnalysis) config.Untrusted {
	return p.loader.Claim("when ready "+c.Name+" "+c.AnalysisCommand.Command,
		fmt.Sprintf("the %s check %q, as soon as there is code or a test", c.Name, c.AnalysisCommand.Command))
}

// askAhead asks whether a check that is not ready may begin by itself when it is.
func (p *Project) askAhead(f *cmdline.Factory, in *bufio.Reader, c namedAnalysis) error {
	if c.AnalysisCommand.Command == "" || !f.CanAsk() {
		return nil
	}
	yes, err := f.Confirm(in,
		fmt.Sprintf("Make %q the %s check by itself, as soon as there is code or a test?", c.AnalysisCommand.Command, c.Name),
		"no")
	if err != nil || !yes {
		return err
	}
	return f.Record(p.loader, []config.Untrusted{p.whenReady(c)})
}

// BeginAgreed begins the waiting checks that the user has agreed to, and says which are left out because nobody can
// be asked. has are the checks of the project after that.
func (p *Project) BeginAgreed(f *cmdline.Factory) (has []string, begun bool, err error) {
	rows, _ := p.Checks()
	for _, row := range rows {
		has = append(has, row.Name)
	}
	for _, c := range analysesBegun(p.Dir) {
		key := strings.ToUpper(c.Name) + "_COMMAND"
		agreed, err := config.Trusted(p.loader.StateHome(), p.whenReady(c))
		switch {
		case slices.Contains(has, c.Name):
		case err != nil:
			return has, begun, fmt.Errorf("begin the %s check: %w", c.Name, err)
		case agreed:
			p.Config.Choose(key, c.AnalysisCommand.Command, "answer")
			has, begun = append(has, c.Name), true
			f.Note("the %s check begins, as agreed: %s", c.Name, cmdline.Inert(c.AnalysisCommand.Command))
		case !f.CanAsk():
			f.Note("the %s check stays out, because nobody has agreed to it: %s; run ralph on a terminal, or set %s",
				c.Name, cmdline.Inert(c.AnalysisCommand.Command), key)
		}
	}
	return has, begun, nil
}
