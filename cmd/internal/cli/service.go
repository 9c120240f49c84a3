package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"ralph/config"
	"ralph/runner/agent"
	"ralph/runner/agent/environ"
	"ralph/runner/rules"
	"ralph/state"
)

func (a *app) serviceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "service", Short: "Go on with an unfinished run after a reboot: install, uninstall, status",
		Long: "Go on with an unfinished run of this project after a reboot, without a question.\n\n" +
			"Unfinished is a run that was killed, or ended by SIGTERM or SIGHUP. One that ended by itself, by Ctrl-C,\n" +
			"ralph stop or ralph abort, or that is paused, is left alone; so is one that ralph reset --all forgot.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usageError("service needs one of: install, uninstall, status")
		},
	}
	var show, force bool
	install := &cobra.Command{
		Use: "install", Short: "Write and enable the service file of this project; starts nothing", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.installService(show, force) },
	}
	install.Flags().BoolVar(&show, "print", false, "show the file and write nothing")
	install.Flags().BoolVar(&force, "force", false, "also over a file that ralph did not write")
	cmd.AddCommand(install, &cobra.Command{
		Use: "uninstall", Short: "Disable and remove it; a run that is alive goes on", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.uninstallService() },
	}, &cobra.Command{
		Use: "status", Short: "Tell whether it is installed, and what it would go on with; exit code 1: not installed", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.serviceStatus() },
	})
	return cmd
}

func (a *app) installService(show, force bool) error {
	u, err := a.service()
	if err != nil {
		return err
	}
	text, err := u.manager.Text(u.Service)
	if err != nil {
		return usageError("%v", err)
	}
	if show {
		fmt.Fprint(a.out, text)
		return nil
	}
	_, err = u.found()
	switch project, _ := u.projectOf(u.path); {
	case err != nil && project != "":
		return err
	case err != nil && !force:
		return fmt.Errorf("%w; replace it with: ralph service install --force", err)
	}
	left, err := a.unattended(u)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(u.path), 0o755); err != nil {
		return fmt.Errorf("write service: %w", err)
	}
	if err := renameio.WriteFile(u.path, []byte(text), 0o644, renameio.WithTempDir(filepath.Dir(u.path)), renameio.WithStaticPermissions(0o644)); err != nil {
		return fmt.Errorf("write service: %w", err)
	}
	a.say("wrote %s", u.path)
	a.enable(u)
	if len(left) > 0 {
		a.say("note: set here, and not in the file: %s; if the run needs it, give it with: %s", strings.Join(left, ", "), u.giveWith())
	}
	return nil
}

// unattended checks that a start with no more than the file gives would need
// no person. It returns the names of the variables that may be missed then.
func (a *app) unattended(u serviceFile) (left []string, err error) {
	r := state.Open(filepath.Join(u.Dir, state.DirName))
	f := &runFlags{options: map[string]string{}}
	last, err := r.Status()
	if err != nil {
		return nil, err
	}
	if _, alive := r.Owner(); last.RunID != "" && (alive || finished(last) == "") {
		if f, err = a.again(r, last.RunID); err != nil {
			return nil, err
		}
	}
	cfg, _, err := a.loader(u.Dir, f.options).Load()
	if err != nil {
		return nil, err
	}
	left = missed(cfg, a.env)
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("check service: %w", err)
	}
	defer nothing.Close()
	bare := &app{in: nothing, out: a.out, err: a.err, dir: u.Dir, env: []string{"PATH=" + u.Path}}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			bare.env = append(bare.env, name+"="+value)
		}
	}
	settings := f.settings
	if f.resumed == "" {
		_, settings = apart(f.start(cfg)) // as the next run would keep them
	}
	bare.set(settings)
	s, err := bare.prepare(f)
	if err == nil {
		err = s.startable()
	}
	if err != nil && len(left) > 0 {
		err = fmt.Errorf("%w (checked without what is set only here: %s)", err, strings.Join(left, ", "))
	}
	return left, err
}

// missed names the variables of an environment that an agent reads and that a
// service manager does not have by itself. Options are kept with each run.
func missed(cfg *config.Config, env []string) []string {
	var names []string
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasSuffix(pair, "=") })
	for _, name := range append([]string{cfg.Agent}, cfg.FallbackAgents...) {
		spec, err := cfg.Spec(name)
		if err != nil {
			continue // a start refuses it
		}
		for _, row := range cfg.EnvFilter().List(spec, agent.Request{Env: env, Model: cfg.Model}) {
			upper := strings.ToUpper(row.Name)
			key := row.Agent == environ.Passes && row.Checks == environ.Held
			setting := row.Agent == environ.Passes && strings.HasPrefix(upper, strings.ToUpper(spec.Name)+"_")
			where := strings.HasSuffix(upper, "_BASE_URL") || strings.HasSuffix(upper, "_PROXY") || slices.Contains([]string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"}, row.Name)
			if key || setting || where {
				names = append(names, row.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// giveWith is how a person gives a variable to the service.
func (u serviceFile) giveWith() string {
	if u.manager.Name != "systemd" {
		return "launchctl setenv NAME VALUE"
	}
	return fmt.Sprintf("systemctl --user edit %s, or ~/.config/environment.d/ralph.conf", filepath.Base(u.path))
}

// enable has the file read at the next start of the user's service manager.
func (a *app) enable(u serviceFile) {
	name := filepath.Base(u.path)
	if u.manager.Name != "systemd" {
		a.say("an unfinished run in %s goes on when you log in after a reboot", u.Dir) // launchd reads the folder then; to load it now would start it
		return
	}
	err := manage("daemon-reload")
	if err == nil {
		err = manage("enable", name)
	}
	if err != nil {
		a.say("not enabled: %v", err)
		a.say("enable it with: systemctl --user daemon-reload && systemctl --user enable %s", name)
	} else {
		a.say("enabled: an unfinished run in %s goes on after a reboot", u.Dir)
	}
	if !lingers() {
		a.say("it does so when you log in; as soon as the machine is up with: loginctl enable-linger")
	}
}

// manage asks the user's own systemd.
func manage(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", append([]string{"--user", "--quiet"}, args...)...).CombinedOutput()
	if err == nil {
		return nil
	}
	if said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n"); said != "" {
		return fmt.Errorf("systemctl --user %s: %s", args[0], inert(said))
	}
	return fmt.Errorf("systemctl --user %s: %w", args[0], err)
}

// lingers tells whether the user's systemd runs without a login.
func lingers() bool {
	me, err := user.Current()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "loginctl", "show-user", me.Username, "--property=Linger", "--value").Output()
	return err == nil && strings.TrimSpace(string(out)) == "yes"
}

func (a *app) uninstallService() error {
	u, err := a.service()
	if _, gone := os.Lstat(a.dir); a.dir != "" && errors.Is(gone, fs.ErrNotExist) { // its service is still there
		var dir string
		if dir, err = filepath.Abs(a.dir); err == nil {
			u, err = serviceOf(dir)
		}
	}
	if err != nil {
		return err
	}
	found, err := u.found()
	if err != nil {
		return err
	}
	if !found {
		a.say("not installed: there is no %s", u.path)
		return nil
	}
	managed := u.manager.Name == "systemd"
	if managed && manage("disable", filepath.Base(u.path)) != nil {
		// What enable made; without a manager nothing else removes it.
		_ = os.Remove(filepath.Join(filepath.Dir(u.path), "default.target.wants", filepath.Base(u.path)))
	}
	if err := os.Remove(u.path); err != nil {
		return fmt.Errorf("remove service: %w", err)
	}
	if managed {
		_ = manage("daemon-reload") // a manager that does not answer has not read it
	}
	a.say("removed %s", u.path)
	return nil
}

func (a *app) serviceStatus() error {
	u, err := a.service()
	if err != nil {
		return err
	}
	for _, dir := range u.lost() {
		a.say("lost       the service of %s, which is gone; remove it with: %s", dir, quoteArgs([]string{"ralph", "service", "uninstall", "-C", dir}))
	}
	found, err := u.found()
	if err != nil {
		return err
	}
	if !found {
		a.say("not installed; see: ralph service install --help")
		return &exitError{code: rules.ExitError}
	}
	a.say("installed  %s", u.path)
	if u.manager.Name == "systemd" {
		if err := manage("is-enabled", filepath.Base(u.path)); err != nil {
			a.say("enabled    no (%v)", err)
		} else {
			a.say("enabled    yes")
		}
	}
	last, err := state.Open(filepath.Join(u.Dir, state.DirName)).Status()
	if err != nil {
		return err
	}
	if why := finished(last); why != "" {
		a.say("goes on    with nothing: %s", why)
	} else {
		a.say("goes on    with run %s", last.RunID)
	}
	return nil
}
