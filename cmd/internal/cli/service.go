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
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"ralph/cmd/internal/service"
	"ralph/config"
	"ralph/runner/agent"
	"ralph/runner/rules"
	"ralph/state"
	"ralph/tmux"
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

// unitFile is the service of a project and where its file is.
type unitFile struct {
	service.Service
	manager service.Manager
	path    string
}

// service describes the file of this project. It has one, by whatever link the
// project is reached.
func (a *app) service() (unitFile, error) {
	var u unitFile
	dir, err := a.project()
	if err != nil {
		return u, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return u, fmt.Errorf("find project: %w", err)
	}
	if u.manager, err = service.Of(runtime.GOOS); err != nil {
		return u, usageError("%v", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return u, fmt.Errorf("find home: %w", err)
	}
	folder := filepath.Join(home, ".config")
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		folder = dir
	}
	u.Service = service.Service{Name: service.Name(tmux.Name(dir)), Dir: dir, Path: service.AbsolutePath(os.Getenv("PATH"))}
	u.Log = filepath.Join(home, "Library", "Logs", u.Name+".log")
	u.path = u.manager.File(home, folder, u.Name)
	u.Program, err = program()
	return u, err
}

// program is how ralph was called, where that is a link that stays when ralph
// is updated; else the file itself.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find ralph: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return self, nil
	}
	if called, err = filepath.Abs(called); err != nil {
		return self, nil
	}
	one, err := os.Stat(self)
	other, otherErr := os.Stat(called)
	if err != nil || otherErr != nil || !os.SameFile(one, other) {
		return self, nil
	}
	return called, nil
}

// found tells whether the file is there. The error names a file that ralph did
// not write; a link may be one that disables the service.
func (u unitFile) found() (bool, error) {
	info, err := os.Lstat(u.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err == nil && info.Mode().IsRegular():
		var text []byte
		if text, err = os.ReadFile(u.path); err == nil && service.Ours(string(text)) {
			return true, nil
		}
	}
	if err != nil {
		return true, fmt.Errorf("read service: %w", err)
	}
	return true, usageError("%q was not written by ralph", u.path)
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
	if _, err := u.found(); err != nil && !force {
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
func (a *app) unattended(u unitFile) (left []string, err error) {
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
	s, err := bare.prepare(f)
	if err == nil {
		err = s.startable()
	}
	if err != nil && len(left) > 0 {
		err = fmt.Errorf("%w (checked without what is set only here: %s)", err, strings.Join(left, ", "))
	}
	return left, err
}

// missed names the variables of an environment that a run reads and that a
// service manager does not have by itself.
func missed(cfg *config.Config, env []string) []string {
	var names []string
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasSuffix(pair, "=") })
	for _, o := range config.Table() {
		if source := cfg.Source(o.Key); source.Kind == config.SourceEnvironment {
			names = append(names, strings.TrimPrefix(source.Where, "$"))
		}
	}
	for _, name := range append([]string{cfg.Agent}, cfg.FallbackAgents...) {
		spec, err := cfg.Spec(name)
		if err != nil {
			continue // a start refuses it
		}
		for _, row := range cfg.EnvFilter().List(spec, agent.Request{Env: env}) {
			upper := strings.ToUpper(row.Name)
			key := row.Agent == agent.EnvPasses && row.Checks == agent.EnvHeld
			setting := row.Agent == agent.EnvPasses && strings.HasPrefix(upper, strings.ToUpper(spec.Name)+"_")
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
func (u unitFile) giveWith() string {
	if u.manager.Name != "systemd" {
		return "launchctl setenv NAME VALUE"
	}
	return fmt.Sprintf("systemctl --user edit %s, or ~/.config/environment.d/ralph.conf", filepath.Base(u.path))
}

// enable has the file read at the next start of the user's service manager.
func (a *app) enable(u unitFile) {
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

// installed is the service of this project, and whether its file is there.
func (a *app) installed() (u unitFile, found bool, err error) {
	if u, err = a.service(); err == nil {
		found, err = u.found()
	}
	return u, found, err
}

func (a *app) uninstallService() error {
	u, found, err := a.installed()
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
	u, found, err := a.installed()
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
