// Package sandbox contains commands: a profile turns a command into one that can
// only touch what a Place allows.
//
// Agents, checks and hooks all go through Wrap. What the user asked for holds, or
// nothing starts: nothing is ever run with less than that.
package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ralph/config/option"
	"ralph/ptyexec"
)

// Settings is what the user asked for.
type Settings struct {
	Sandbox    string   `json:"mode,omitempty"` // name of a profile; empty: Off
	SandboxNet []string `json:"net,omitempty"`  // as in SANDBOX_NET; empty: NetAll
	// SandboxImage is what podman and docker run; empty: DefaultImage.
	SandboxImage string `json:"image,omitempty"`
}

// Contained is what contains the commands of one project. It is part of an Assignment.
type Contained struct {
	Settings         // as Resolve returned them
	Project  Project `json:"project,omitzero"`
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
		Help:  "Contain agents and checks. auto takes the strongest sandbox that works here; without one, ralph does not start.",
	}, {
		Group: "Sandbox", Key: "SANDBOX_NET", YAML: "sandbox.net", Kind: option.List, Default: NetAll, Weakens: wider,
		Field: &s.SandboxNet, Takes: func(entries []string) bool { _, err := parseNet(entries); return err == nil },
		What: "all, none, or a comma list of HOST, *.HOST, HOST:PORT and :PORT",
		Help: "What contained programs may connect to.",
	}, {
		Group: "Sandbox", Key: "SANDBOX_IMAGE", Aliases: []string{"RALPH_DOCKER_IMAGE"}, YAML: "sandbox.image",
		Kind: option.String, Default: DefaultImage, Field: &s.SandboxImage, Trust: true, Safe: []string{DefaultImage},
		Help: "The image that SANDBOX=podman or docker runs; ralph sandbox build builds the default one.",
	}}
}

// weaker reports whether a value of SANDBOX contains less than the user's own may do.
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

// Place is what a command works on.
type Place struct {
	Dir   string   // the project: it may be written
	Write []string // more that may be written: a git dir elsewhere, the agent's own state
	// Project has what is locked; a missing path stays missing. Open are files in it that may
	// be written all the same. Landlock cannot do this: see docs/sandbox.md.
	Project Project
	Open    []string
	Notes   []string // names in .ralph that may be written, and made: they prove nothing
	// ReadOnly are existing paths in the project that may not be written, see Lockable.
	ReadOnly []string
	Kept     Kept
	// HomeHidden are names in the home folder that other agents keep.
	HomeHidden []string
}

// Kept is what an agent keeps between calls, as names in the home folder of the command;
// folders end in a slash. The zero value is nothing.
type Kept struct {
	Write  []string // a missing folder is made
	Locked []string // in Write, but may only be read: programs and settings that it takes outside, too
	// Copied are files in Write that it writes itself although they have such settings. The
	// command gets a copy, which ends with it. Landlock cannot do this: see docs/sandbox.md.
	Copied []string
}

// profile is a row of the table.
type profile struct {
	name string
	// works tries the profile. The error says what is missing, and how to get it.
	works func(Settings) error
	// locks is true when the profile keeps Place.Locked from being written.
	locks bool
	wrap  func(ptyexec.Command, *view, network) (ptyexec.Command, error)
	// filters says why the profile cannot do what a network asks for; empty: it can.
	filters func(network) string
}

// profiles are the sandboxes, the strongest first.
func profiles() []profile {
	podman, docker := engine("podman"), engine("docker")
	return []profile{
		{name: "podman", works: podman.works, locks: true, wrap: podman.wrap, filters: noProxy},
		{name: "docker", works: docker.works, locks: true, wrap: docker.wrap, filters: noProxy},
		{name: "bwrap", works: bwrapWorks, locks: true, wrap: bwrap, filters: noProxy},
		{name: "landlock", works: landlockWorks, wrap: landlock, filters: landlockFilters},
	}
}

// Names returns the sandboxes, the strongest first.
func Names() []string {
	var names []string
	for _, p := range profiles() {
		names = append(names, p.name)
	}
	return names
}

// On is true when commands are contained.
func (s Settings) On() bool { return s.Sandbox != "" && s.Sandbox != Off }

// Locks is true when what steers ralph and the user's programs can only be read.
func (s Settings) Locks() bool {
	return slices.ContainsFunc(profiles(), func(p profile) bool { return p.name == s.Sandbox && p.locks })
}

// Resolve replaces Auto by the strongest sandbox that works on this machine, and
// tries the one that was asked for. The error says what is missing, and how to get
// it.
func (s Settings) Resolve() (Settings, error) {
	net, err := parseNet(s.SandboxNet)
	switch {
	case err != nil:
		return s, err
	case !s.On() && !net.all:
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
		why := p.filters(net)
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

// Trial is what came of trying one sandbox.
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

// mostProcesses is how many processes and threads of the user there may be for a
// contained program to start another: more than a desktop and a build have, and few
// enough to survive a fork bomb.
const mostProcesses = 8192

// Box is a sandbox for one place. The zero value contains nothing.
type Box struct {
	Settings // as Resolve returned it
	Place
	Route Route // zero: SANDBOX_NET needs none
}

// Box contains the checks of a project: they get no agent's login. hidden are
// what agents keep, as in Place.HomeHidden.
func (c Contained) Box(dir, plan string, hidden []string) Box {
	b := Box{Settings: c.Settings, Place: Place{Dir: dir, Project: c.Project, HomeHidden: hidden}}
	if plan != "" {
		b.Open = []string{plan}
	}
	return b
}

// Lockable are the paths, if all are in the project and can be locked there; else nil.
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

// steering are the names that ralph and shells read.
func steering() []string { return []string{".ralph/", ".ralphrc", ".envrc"} }

// At looks at a project before an agent works in it: where git keeps its files is taken
// from now on, not from what the agent leaves. names are files and folders in it that
// steer ralph or the user's programs; folders end in a slash. It removes what a sandbox
// left there when the machine went down. The error says why the project cannot be
// contained.
func (s Settings) At(dir string, names []string) (Contained, error) {
	c := Contained{Settings: s}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return c, fmt.Errorf("look at the project: %w", err)
	}
	names = append(steering(), names...)
	if isDir(filepath.Join(real, ".beads")) { // ralph starts bd, and bd starts these
		names = append(names, ".beads/hooks/", ".beads/config.yaml", ".beads/redirect")
	}
	c.Project = Project{Dir: real, Locked: slices.Compact(slices.Sorted(slices.Values(names)))}
	c.Project.locate()
	place := Place{Dir: real, Project: c.Project}
	c.Project.made().Tidy()
	i := slices.IndexFunc(profiles(), func(p profile) bool { return p.name == s.Sandbox })
	if i < 0 {
		return c, nil
	}
	v, err := look(place, os.Environ(), profiles()[i].locks)
	if err != nil {
		return c, fmt.Errorf("SANDBOX=%s: %w", s.Sandbox, err)
	}
	for _, path := range v.hidden {
		if within(path, real) && !profiles()[i].locks {
			return c, fmt.Errorf("SANDBOX=%s: the project %s contains %s, which it cannot hide there; use SANDBOX=bwrap", s.Sandbox, real, path)
		}
	}
	return c, nil
}

// For returns the same for a copy of the project that no agent has worked in. Only a .git
// in it counts: the folders around it have nothing to do with it.
func (c Contained) For(dir string) (Contained, error) {
	copied, err := c.At(dir, c.Project.Locked)
	if filepath.Dir(copied.Project.DotGit) != copied.Project.Dir {
		copied.Project.Git, copied.Project.DotGit = nil, ""
	}
	return copied, err
}

// Wrap returns the command, contained; it may also write the paths given here.
// Without a sandbox it is the command itself.
func (b Box) Wrap(c ptyexec.Command, write ...string) (ptyexec.Command, error) {
	if !b.On() {
		return c, nil
	}
	i := slices.IndexFunc(profiles(), func(p profile) bool { return p.name == b.Sandbox })
	if i < 0 {
		return c, fmt.Errorf("unknown sandbox %q; known: %s", b.Sandbox, strings.Join(Names(), ", "))
	}
	n, err := parseNet(b.SandboxNet)
	if err != nil {
		return c, err
	}
	n.route = b.Route
	b.Write = slices.Concat(b.Write, write)
	v, err := look(b.Place, c.Env, profiles()[i].locks)
	v.image = b.image()
	if err == nil {
		c, err = profiles()[i].wrap(c, &v, n)
	}
	c.Cover = &v.places
	return c, err
}
