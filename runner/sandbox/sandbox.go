// Package sandbox contains commands: a profile turns a command into one that can
// only touch what a Place allows.
//
// Agents, checks and hooks all go through Wrap. A command runs with what the user asked for, or not at all.
package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/ptyexec/confine"
	"ralph/runner/agent"
	"ralph/runner/sandbox/gitkeep"
	"ralph/state/option"
)

// Settings are what the user asked for.
type Settings struct {
	Sandbox    string   `json:"mode,omitempty"` // name of a profile; empty: Off
	SandboxNet []string `json:"net,omitempty"`  // as in SANDBOX_NET; empty: netAll
	// SandboxRead are paths in the home folder that commands may read: absolute, or below ~/.
	SandboxRead []string `json:"read,omitempty"`
	// SandboxImage is what podman and docker run; empty: DefaultImage.
	SandboxImage string `json:"image,omitempty"`
}

// Contained is the sandbox for the commands of one project. It is part of an Assignment.
type Contained struct {
	Settings         // as Resolve returned them
	Project  Project `json:"project,omitzero"`
	// Records is the folder of this machine that keeps what to put back of git; empty: it is kept in memory.
	Records string `json:"-"`
	// Since is when ralph began to start contained programs here.
	Since time.Time `json:"-"`
}

// Values of SANDBOX that are not profiles.
const (
	Off  = "off"
	Auto = "auto" // the strongest that works here
)

// Options returns the rows of the option table that fill s.
func (s *Settings) Options() []option.Row {
	return []option.Row{{
		Group: "Sandbox", Key: "SANDBOX", Flag: "sandbox", Arg: "NAME", YAML: "sandbox.mode",
		Aliases: []string{"SANDBOX_PROVIDER", "RALPH_USE_DOCKER"}, Spellings: map[string]string{
			"yes": "docker", "true": "docker", "1": "docker", "no": Off, "false": Off, "0": Off, "none": Off,
			"local": Off, "host": Off, "bubblewrap": "bwrap",
		},
		Kind: option.Enum, Default: Off, Values: slices.Concat([]string{Off}, Names(), []string{Auto}), Weakens: weaker,
		Field: &s.Sandbox,
		Help: "Contain agents and checks. auto takes the strongest sandbox that works here; " +
			"without one, ralph does not start.",
	}, {
		Group: "Sandbox", Key: "SANDBOX_NET", YAML: "sandbox.net", Kind: option.List, Default: netAll,
		Weakens: widerNetwork, Field: &s.SandboxNet,
		Takes: func(entries []string) bool { _, err := parseNetwork(entries); return err == nil },
		What:  "all, none, or a comma list of HOST, *.HOST, HOST:PORT and :PORT",
		Help:  "What contained programs may connect to.",
	}, {
		Group: "Sandbox", Key: "SANDBOX_READ", YAML: "sandbox.read", Kind: option.List, Trust: true, Field: &s.SandboxRead,
		Takes: func(paths []string) bool {
			return !slices.ContainsFunc(paths, func(path string) bool { return !isNamed(path) })
		},
		What: "a comma list of paths in your home folder, such as ~/data",
		Help: "What else of your home folder contained programs may read, besides the project, toolchains and the agent's own files.",
	}, {
		Group: "Sandbox", Key: "SANDBOX_IMAGE", Aliases: []string{"RALPH_DOCKER_IMAGE"}, YAML: "sandbox.image",
		Kind: option.String, Default: DefaultImage, Field: &s.SandboxImage, Trust: true, Safe: []string{DefaultImage},
		Help: "The image that SANDBOX=" + strings.Join(Engines(), " or ") + " runs; packaging/sandbox.Dockerfile makes the default one.",
	}}
}

// isNamed reports whether a path can be one of SANDBOX_READ.
func isNamed(path string) bool {
	rest := strings.TrimPrefix(path, "~")
	return strings.HasPrefix(rest, "/") && strings.Trim(rest, "/.") != "" && !slices.Contains(strings.Split(rest, "/"), "..")
}

// weaker reports whether a value of SANDBOX may contain commands less than the user's own value.
func weaker(own, value string) bool {
	rank := func(name string, auto int) int {
		switch i := slices.Index(Names(), name); {
		case name == Auto:
			return auto
		case i >= 0:
			return i
		}
		return len(Names())
	}
	return own != value && rank(value, len(Names())-1) > rank(own, 0)
}

// Place says what a command may read and write.
type Place struct {
	Dir   string   // the project, which the command may write
	Write []string // other writable paths: a git dir elsewhere, the agent's own state
	// Project has the locked paths; a missing one stays missing. Open are files in it that are
	// writable nevertheless. Landlock cannot do this: see docs/sandbox.md.
	Project Project
	Open    []string
	Notes   []string // names in .ralph that the command may write and create: they prove nothing
	// ReadOnly are existing paths in the project that the command may not write, see Lockable.
	ReadOnly []string
	// Agent is the agent that the command starts: its State is writable, its Fixed read-only. It gets copies of its Copied,
	// which are removed at its end; Landlock cannot do that. The zero value: none.
	Agent agent.Variables
	// Reads are paths in the home folder that the command may read, too, as in SANDBOX_READ.
	Reads []string
	Keep  gitkeep.Place
	// PutBack is told what ralph put back after the command, because git starts it; nil: nobody is.
	PutBack func(gitkeep.Replaced)
}

// profile is a row of the table: all that the program knows about a sandbox. The zero value is none.
type profile struct {
	name string
	// works tries the profile. The error says what is missing, and how to get it.
	works func(Settings) error
	// locks is true if the profile can make parts of the project read-only.
	locks  bool
	engine *engine // commands run with the programs of its image; nil: with those of this machine
	below  int     // processes between the one that wrap starts and the program itself
	wrap   func(ptyexec.Command, *view, network) (ptyexec.Command, error)
	// filters says why the profile cannot do what a network asks for; empty: it can. Nil: programs have a network of
	// their own, and a proxy lets them out.
	filters func(network) string
	lacks   func() string // what it does not do on this kernel; empty: nothing. Nil: it does everything.
}

// profiles returns the sandboxes, the strongest first.
func profiles() []profile {
	podman := &engine{name: "podman", install: "apt install podman, dnf install podman", keepsID: true,
		kill: []string{"--time", "0"}} // else rm sends SIGTERM and waits
	docker := &engine{name: "docker", install: "apt install docker.io, or see docs.docker.com/engine/install"}
	return []profile{
		{name: podman.name, works: podman.works, locks: true, engine: podman, below: 1, wrap: podman.wrap}, // below: --init
		{name: docker.name, works: docker.works, locks: true, engine: docker, below: 1, wrap: docker.wrap},
		{name: "bwrap", works: bwrapWorks, locks: true, below: 2, wrap: bwrap}, // itself, and the first process of its own
		{name: "landlock", works: landlockWorks, wrap: landlock, filters: landlockFilters,
			lacks: func() string { return lacks(confine.Version()) }},
	}
}

// profile returns the row of the sandbox; the zero value: none, or Auto.
func (s Settings) profile() profile {
	i := slices.IndexFunc(profiles(), func(p profile) bool { return p.name == s.Sandbox })
	if i < 0 {
		return profile{}
	}
	return profiles()[i]
}

// refuses says why the profile cannot do what a network asks for; empty: it can.
func (p profile) refuses(n network) string {
	if p.filters == nil {
		return noProxy(n)
	}
	return p.filters(n)
}

// Names returns the sandboxes, the strongest first.
func Names() []string {
	return termtext.Each(profiles(), func(p profile) string { return p.name })
}

// On is true if commands run in a sandbox.
func (s Settings) On() bool { return s.Sandbox != "" && s.Sandbox != Off }

// Locks is true if commands can only read the files that control ralph and the user's programs.
func (s Settings) Locks() bool { return s.profile().locks }

// Below is how many processes of the sandbox are between the one that Wrap starts and the program itself.
func (s Settings) Below() int {
	if s.NeedsProxy() {
		return s.profile().below + 1 // the bridge to the proxy
	}
	return s.profile().below
}

// Resolve replaces Auto with the strongest sandbox that works on this machine, and
// tries a sandbox that the user named. The error says what is missing, and how to get
// it.
func (s Settings) Resolve() (Settings, error) {
	net, err := parseNetwork(s.SandboxNet)
	switch {
	case err != nil:
		return s, err
	case !s.On() && !net.All:
		return s, fmt.Errorf("SANDBOX_NET=%s needs SANDBOX=%s, or %s", strings.Join(s.SandboxNet, ","),
			strings.Join(Names(), ", "), Auto)
	case !s.On():
		return s, nil
	}
	var missing []string
	for _, p := range profiles() {
		if s.Sandbox != Auto && s.Sandbox != p.name {
			continue
		}
		err := p.works(s)
		why := p.refuses(network{netRules: net})
		if err == nil && why == "" {
			s.Sandbox = p.name
			return s, nil
		}
		if err != nil {
			why = err.Error()
		}
		missing = append(missing, p.name+": "+why)
	}
	return s, fmt.Errorf("SANDBOX=%s does not work here: %s", s.Sandbox, strings.Join(missing, "; "))
}

// Trial is the result of trying one sandbox.
type Trial struct {
	Name string
	Err  error // nil: it works
}

// Try tries every sandbox, the strongest first.
func (s Settings) Try() []Trial {
	var out []Trial
	for _, p := range profiles() {
		out = append(out, Trial{p.name, p.works(s)})
	}
	return out
}

// maxProcesses is how many processes and threads the user may have before a contained program can start no more: more
// than a desktop and a build have, and few enough to survive a fork bomb.
const maxProcesses = 8192

// Box is a sandbox for one place. The zero value contains nothing.
type Box struct {
	Settings // as Resolve returned it
	Place
	Route Route // zero: SANDBOX_NET needs none
}

// Box returns the sandbox for the checks of a project, which get no agent's login.
func (c Contained) Box(dir, plan string) Box {
	b := Box{Settings: c.Settings, Place: Place{Dir: dir, Project: c.Project, Reads: c.SandboxRead,
		Keep: gitkeep.Place{Records: c.Records, Since: c.Since}}}
	if plan != "" {
		b.Open = []string{plan}
	}
	return b
}

// Lockable returns paths if all are in the project and the sandbox can lock them, else nil.
func (c Contained) Lockable(paths []string) []string {
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(filepath.Dir(path))
		path = filepath.Join(real, filepath.Base(path))
		if err != nil || !c.Locks() || !within(path, c.Project.Dir) || linkIn(c.Project.Dir, path) != "" {
			return nil
		}
	}
	return paths
}

// controlNames are files and folders with settings that ralph and shells read.
func controlNames() []string { return []string{".ralph/", ".ralphrc", ".envrc"} }

// At inspects a project before an agent works in it, so that nothing the agent leaves decides where git keeps its
// files. names are files and folders in it that control ralph or the user's programs; folders end with a slash. At
// removes what a sandbox left there when the machine went down. The error says why ralph cannot contain the project.
func (s Settings) At(dir string, names []string) (Contained, error) {
	c := Contained{Settings: s, Since: time.Now()}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return c, fmt.Errorf("find the project: %w", err)
	}
	names = append(controlNames(), names...)
	c.Project = Project{Repository: gitkeep.Repository{Dir: real}, Locked: slices.Compact(slices.Sorted(slices.Values(names)))}
	c.Project.locate()
	if s.On() && within(newHome(os.Environ(), nil).dir, filepath.Dir(c.Project.DotGit)) {
		c.Project.Git, c.Project.DotGit = nil, "" // the repository of the home folder has all of it
	}
	place := Place{Dir: real, Project: c.Project, Reads: s.SandboxRead}
	c.Project.made().Tidy()
	if s.profile().name == "" {
		return c, nil
	}
	v, err := look(place, ptyexec.Command{Args: []string{"sh"}}, s.Locks())
	if err != nil {
		return c, fmt.Errorf("SANDBOX=%s: %w", s.Sandbox, err)
	}
	for _, path := range v.hidden {
		if within(path, real) && !s.Locks() {
			return c, fmt.Errorf("SANDBOX=%s: the project %s contains %s, which it cannot hide there; "+
				"use SANDBOX=bwrap", s.Sandbox, real, path)
		}
	}
	return c, nil
}

// For returns the same for a copy of the project in which no agent has worked. It ignores a .git above the copy: that
// one belongs to something else.
func (c Contained) For(dir string) (Contained, error) {
	copied, err := c.At(dir, c.Project.Locked)
	copied.Records = c.Records
	if !c.Since.IsZero() {
		copied.Since = c.Since
	}
	if filepath.Dir(copied.Project.DotGit) != copied.Project.Dir {
		copied.Project.Git, copied.Project.DotGit = nil, ""
	}
	return copied, err
}

// Wrap returns the command in the sandbox; write are more paths that it may write.
// Without a sandbox, Wrap returns the command unchanged.
func (b Box) Wrap(c ptyexec.Command, write ...string) (ptyexec.Command, error) {
	if !b.On() {
		return c, nil
	}
	p := b.profile()
	if p.name == "" {
		return c, fmt.Errorf("unknown sandbox %q; known: %s", b.Sandbox, strings.Join(Names(), ", "))
	}
	net, err := parseNetwork(b.SandboxNet)
	if err != nil {
		return c, err
	}
	b.Write = slices.Concat(b.Write, write)
	v, err := look(b.Place, c, p.locks)
	v.image = b.image()
	if err == nil {
		c.Env = slices.Concat(programEnv(c.Env), v.env)
		c, err = p.wrap(c, &v, network{net, b.Route})
	}
	c.Cover = &v.places
	b.keepGit(&c)
	return c, err
}
