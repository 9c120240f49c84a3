package preflight

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/scaffold"
	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/runner/git"
	"ralph/state"
)

// Unagreed lists what in the project this user has not agreed to, and without
// which no run starts.
func (p *Project) Unagreed() ([]config.Untrusted, error) {
	return p.loader.Untrusted(p.claims()...)
}

// UnagreedChecks are the detected checks, if this user has not agreed to run
// what ralph detects here. One consent covers the project, also for what is
// detected later: by then, ralph's own runs have written the code.
func (p *Project) UnagreedChecks() ([]config.Untrusted, error) {
	rows, detected := p.Checks()
	if !detected {
		return nil, nil
	}
	claim := DetectedChecks(p.loader, commands(rows)...)
	if known, err := p.loader.Trusted(claim); known || err != nil {
		return nil, err
	}
	return []config.Untrusted{claim}, nil
}

// Detected shows the checks that ralph detects because no option names any; empty: none.
func (p *Project) Detected() []string {
	rows, detected := p.Checks()
	if !detected {
		return nil
	}
	return commands(rows)
}

// DetectedChecks is the consent to run what is detected in a project; lines
// show the commands.
func DetectedChecks(loader config.Loader, lines ...string) config.Untrusted {
	return loader.Claim("detected checks", lines...)
}

// commands lists the commands of checks.
func commands(rows []gate.Check) []string {
	return termtext.Each(rows, func(c gate.Check) string { return fmt.Sprintf("detected check %s: %s", c.Name, c.Reproduce()) })
}

// claims are what a run needs consent to, apart from settings and checks: the
// locations of the project, its prompt and its plan.
func (p *Project) claims() (claims []config.Untrusted) {
	for _, name := range []string{state.DirName, ".ralphrc"} {
		if uid, ok := owner(filepath.Join(p.Dir, name)); ok && uid != p.uid {
			claims = append(claims, p.loader.Claim(fmt.Sprintf("owner %s %d", name, uid),
				fmt.Sprintf("%s belongs to another user (number %d)", filepath.Join(p.Dir, name), uid)))
		}
	}
	if root, ok := git.Root(p.above); ok && p.above != "" && root != p.Dir && inside(p.Dir, root) {
		claims = append(claims, p.loader.Claim("above "+root,
			fmt.Sprintf("the project is %s, above the repository %s that you are in", p.Dir, root)))
	}
	if claim, ok := p.planProgram(); ok {
		claims = append(claims, claim)
	}
	for _, f := range []struct{ what, key, path string }{{"prompt", "PROMPT_FILE", p.Prompt},
		{"plan", "PLAN_FILE", p.Plan}} {
		if real := p.outside(f.key, f.path); real != "" {
			claims = append(claims,
				p.loader.Claim(f.what+" "+real,
					fmt.Sprintf("the %s %s is outside the project: %s", f.what, f.path, real)))
		}
	}
	return claims
}

// outside is the real path of a file that is outside of the project; empty: it is
// inside, or the user has named it themselves.
func (p *Project) outside(key, path string) string {
	source := p.Config.Source(key)
	if path == "" || source.Kind != config.SourceDefault && !ofProject(source) {
		return ""
	}
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || inside(dir, real) {
		return "" // a file that is gone is an error of its own
	}
	return real
}

// inside reports whether path is dir or lies in it.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// owner is the user that a file belongs to; false: it is not there.
func owner(path string) (uid int, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	return int(info.Sys().(*syscall.Stat_t).Uid), true
}

// missing has a line for each check that would be detected if its program were installed. Fast linters only repeat
// others.
func (p *Project) missing() (lines []string) {
	has, detected := p.Checks()
	if !p.Config.DetectChecks || len(has) > 0 && !detected {
		return nil
	}
	for _, c := range p.installable() {
		if c.Kind != gate.KindLintFast && !slices.ContainsFunc(has, func(o gate.Check) bool { return o.Name == c.Name }) {
			lines = append(lines, fmt.Sprintf("the detected check %s (%s) does not run, because its program is not installed: "+
				"install it, or name other checks, or set DETECT_CHECKS=false", c.Name, c.Reproduce()))
		}
	}
	return lines
}

// installable are the checks that would be detected if every program were installed.
func (p *Project) installable() []gate.Check {
	return scaffold.Checks(p.Dir, func(string) bool { return true })
}

// AgreeChecks makes sure that this user agrees to run detected checks: in a
// fresh clone, `make test` is a stranger's program. Without a terminal it leaves
// them out and says so.
func (p *Project) AgreeChecks(f *cmdline.Factory) error {
	if rows, _ := p.Checks(); len(rows) == 0 && p.Config.DetectChecks && len(p.installable()) == 0 {
		// What a later run detects was made by this one, or after it. Without
		// a record, that run asks.
		_ = f.Record(p.loader, []config.Untrusted{DetectedChecks(p.loader)})
	}
	p.LeftOut = p.missing()
	left, err := p.UnagreedChecks()
	if err != nil || len(left) == 0 {
		return err
	}
	lines := cmdline.Lines(left)
	if f.CanAsk() {
		f.Note("ralph found checks in this project, and runs them after each turn if you agree:\n  %s",
			strings.Join(lines, "\n  "))
		if f.Agree("Run them?") {
			return f.Record(p.loader, left)
		}
	}
	rows, _ := p.Checks()
	for _, c := range rows {
		p.LeftOut = append(p.LeftOut, fmt.Sprintf("the detected check %s (%s) does not run, because you have not agreed to it: "+
			"ralph trust allows it, DETECT_CHECKS=false leaves it out", c.Name, c.Reproduce()))
	}
	p.Config.DetectChecks = false
	f.Warn("left out, because you have not agreed to run what was detected: " + strings.Join(lines, "; ") +
		"; agree with: ralph trust")
	return nil
}
