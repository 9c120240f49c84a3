package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/cmd/internal/preflight"
	"ralph/cmd/internal/service"
	"ralph/runner/agent"
)

type installOptions struct {
	*cmdline.Factory
	print, force bool
}

func newInstallCmd(f *cmdline.Factory) *cobra.Command {
	o := &installOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "install", Short: "Write and enable the service file of this project; does not start a run",
		Args:    cmdline.NoArgs,
		Example: "  ralph service install --print    # look at the file first\n  ralph service install",
		RunE:    func(*cobra.Command, []string) error { return installRun(o) },
	}
	cmd.Flags().BoolVar(&o.print, "print", false, "Show the file, but write nothing.")
	cmd.Flags().BoolVar(&o.force, "force", false, "Replace a file that ralph did not write.")
	return cmd
}

func installRun(o *installOptions) error {
	e, err := entry(o.Factory)
	if err != nil {
		return err
	}
	text, err := e.Manager.Text(e.Service)
	if err != nil {
		return cmdline.UsageError("%v", err)
	}
	if o.print {
		fmt.Fprint(o.Out, text)
		return nil
	}
	_, err = e.Installed()
	foreign := (*service.ForeignError)(nil)
	switch isForeign := errors.As(err, &foreign); {
	case isForeign && foreign.Project != "":
		return cmdline.UsageError("%v", err)
	case isForeign && !o.force:
		return cmdline.UsageError("%v; replace it with: ralph service install --force", err)
	case err != nil && !isForeign:
		return err
	}
	onlyHere, err := checkUnattended(o.Factory, e)
	if err != nil {
		return err
	}
	if err := e.Write(text); err != nil {
		return err
	}
	o.Say("wrote %s", e.File)
	sayEnabled(o.Factory, e)
	if len(onlyHere) > 0 {
		o.Say("note: set in this shell but not in the service: %s; if the run needs it, set it with: %s",
			strings.Join(onlyHere, ", "), e.SetWith())
	}
	return nil
}

func sayEnabled(f *cmdline.Factory, e service.Entry) {
	if err := e.Enable(); err != nil {
		f.Say("not enabled: %v", err)
		f.Say("enable it with: %s", e.EnableWith())
	} else {
		f.Say("enabled: an interrupted run in %s resumes after a reboot", e.Dir)
	}
	switch {
	case e.AtBoot():
	case e.Manager.Boot != "":
		f.Say("it resumes when you log in; to resume at boot, run: %s", e.Manager.Boot)
	default:
		f.Say("it resumes when you log in")
	}
}

// checkUnattended makes sure that the service can start the run without a person. It
// returns the variables of this shell that the run may need.
func checkUnattended(f *cmdline.Factory, e service.Entry) (onlyHere []string, err error) {
	r := cmdline.OpenState(e.Dir)
	last, err := r.Status()
	if err != nil {
		return nil, err
	}
	var run preflight.LastRun
	if _, alive := r.Owner(); last.RunID != "" && (alive || preflight.Finished(last) == "") {
		if run, err = preflight.FindRun(f.Loader(e.Dir, nil), r, last.RunID); err != nil {
			return nil, err
		}
	}
	cfg, _, err := f.Loader(e.Dir, run.Options).Load()
	if err != nil {
		return nil, err
	}
	if run.ID == "" {
		run.Settings = preflight.StartSettings(preflight.StartWords(cfg, false)) // as the next run would record them
	}
	onlyHere = readHere(f.Env, cfg)
	nothing, err := os.Open(os.DevNull) // file: a device
	if err != nil {
		return nil, fmt.Errorf("check service: %w", err)
	}
	defer nothing.Close()
	bare := &cmdline.Factory{In: nothing, Out: f.Out, Err: f.Err, Dir: e.Dir, Env: bareEnv(e, run.Settings)}
	p, err := preflight.Load(bare, run.Options)
	if err == nil {
		err = p.Startable()
	}
	if err == nil {
		err = p.AgreeChecks(bare) // says what the run would leave out
	}
	if err != nil && len(onlyHere) > 0 {
		err = fmt.Errorf("%w (checked without what only this shell sets: %s)", err, strings.Join(onlyHere, ", "))
	}
	return onlyHere, err
}

// bareEnv returns the environment that the service manager gives to the run.
func bareEnv(e service.Entry, settings []string) []string {
	env := []string{"PATH=" + e.Path}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return preflight.SetEnv(env, settings)
}

// readHere names the variables that the agents read and that a service manager
// does not set. Options are kept with each run.
func readHere(env []string, cfg *config.Config) []string {
	var names []string
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasSuffix(pair, "=") })
	for _, name := range append([]string{cfg.Agent}, cfg.FallbackAgents...) {
		spec, err := cfg.Spec(name)
		if err != nil {
			continue // a start refuses it
		}
		for _, row := range cfg.EnvFilter().List(spec, agent.Request{ArgvCall: agent.ArgvCall{Model: cfg.Model}, Env: env}) {
			upper := strings.ToUpper(row.Name)
			key := row.Agent == agent.EnvPasses && row.Checks == agent.EnvHeld
			setting := row.Agent == agent.EnvPasses && strings.HasPrefix(upper, strings.ToUpper(spec.Name)+"_")
			where := strings.HasSuffix(upper, "_BASE_URL") || strings.HasSuffix(upper, "_PROXY") ||
				row.Name == "XDG_CONFIG_HOME" || row.Name == "XDG_STATE_HOME"
			if key || setting || where {
				names = append(names, row.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
