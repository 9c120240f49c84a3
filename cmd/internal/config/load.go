package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"ralph/state/option"
	"slices"
	"strings"
)

// Names of the settings files inside a project.
const (
	rcName   = ".ralphrc"
	yamlName = ".ralph/config.yaml"
)

// Loader says where to look for settings.
type Loader struct {
	Dir  string   // the project, absolute
	Cwd  string   // base of relative paths in Flags; empty: Dir
	Env  []string // NAME=value, as of os.Environ; an empty value counts as not set
	Home string   // home folder, if XDG_CONFIG_HOME or XDG_STATE_HOME is not set; empty: unknown
	// Flags maps an option's Key to the value given on the command line.
	Flags map[string]string
	// FlagNames maps a Key to the flag as typed ("-c"), for messages; optional.
	FlagNames map[string]string
}

// setting is a value on its way from a source into Config.
type setting struct {
	row    func(*Config) ([]Warning, error) // adds the row of a list, and the other fields are zero; nil: an option
	option option.Row
	name   string // as its source calls the option
	text   string
	source Source
}

// Defaults returns the configuration that no file, variable or flag has changed.
func Defaults() *Config { return Loader{}.defaults() }

func (l Loader) defaults() *Config {
	c := &Config{sources: map[string]Source{}, own: map[string]*string{}, spelled: map[string]string{}}
	c.table = c.Options.rows()
	for _, o := range c.table {
		if err := l.apply(c, setting{option: o, text: o.Default, source: Source{Kind: SourceDefault}}); err != nil {
			panic(err) // a default that its own option refuses
		}
	}
	return c
}

// Load reads all sources and overlays them: flag > environment > .ralphrc >
// .ralph/config.yaml > the user's config.yaml > default. Every value is checked,
// even if a stronger source replaces it. It writes nothing. An error that the
// user can fix is a *UsageError; Config is nil then.
func (l Loader) Load() (*Config, []Warning, error) {
	c := l.defaults()
	var warnings []Warning
	for _, read := range []func() ([]setting, []Warning, error){
		l.userFile, l.projectFile, l.rcFile, l.environment, l.flags,
	} {
		settings, some, err := read()
		if err != nil {
			return nil, warnings, err
		}
		warnings = append(warnings, some...)
		for _, s := range settings {
			more, err := l.add(c, s)
			if err != nil {
				return nil, warnings, err
			}
			warnings = append(warnings, more...)
		}
	}
	if err := c.checkHookAgents(); err != nil {
		return nil, warnings, err
	}
	return c, append(warnings, c.unusedCommands()...), nil
}

func (l Loader) add(c *Config, s setting) ([]Warning, error) {
	if s.row != nil {
		return s.row(c)
	}
	c.keepHook(s.option)
	return nil, l.apply(c, s)
}

func (l Loader) apply(c *Config, s setting) error {
	o := s.option
	value, ok := o.Parse(s.text)
	if !ok {
		text := quote(Display(o, s.text))
		if o.Secret {
			text = "the value"
		}
		problem := text + " is not " + o.Allowed()
		if s.name != "" {
			problem = s.name + ": " + problem
		}
		return &UsageError{s.source.Where, problem}
	}
	if path, isPath := value.(string); isPath && o.Kind == option.Path && path != "" && !filepath.IsAbs(path) {
		base := l.Dir
		if s.source.Kind == SourceFlag && l.Cwd != "" {
			base = l.Cwd
		}
		value = filepath.Join(base, path)
	}
	option.Store(c.field(o.Key), value)
	c.spelled[o.Key] = ""
	if s.source.Kind == SourceRC {
		c.spelled[o.Key] = s.name
	}
	if c.sources[o.Key] = s.source; s.source.Kind == SourceUser {
		own := c.text(o)
		c.own[o.Key] = &own
	}
	return nil
}

func (l Loader) userFile() ([]setting, []Warning, error) {
	dir := l.xdg("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return nil, nil, nil
	}
	path := filepath.Join(dir, "ralph", "config.yaml")
	return l.readYAML("", path, path, SourceUser)
}

func (l Loader) projectFile() ([]setting, []Warning, error) {
	return l.readYAML(l.Dir, filepath.Join(l.Dir, yamlName), yamlName, SourceProject)
}

func (l Loader) readYAML(project, path, name, kind string) ([]setting, []Warning, error) {
	text, found, err := readFile(project, path, name)
	if err != nil || !found {
		return nil, nil, err
	}
	return l.yaml(name, kind, text)
}

func (l Loader) rcFile() ([]setting, []Warning, error) {
	text, found, err := readFile(l.Dir, filepath.Join(l.Dir, rcName), rcName)
	if err != nil || !found {
		return nil, nil, err
	}
	assigns, warnings, err := parseRC(text, l.envMap())
	if err != nil {
		return nil, nil, err
	}
	rows := index(Table())
	var settings []setting
	var unused []string
	foreign := foreignKeys()
	for _, a := range assigns {
		where := lineOf(rcName, a.line)
		o, known := rows[a.name]
		advice, isForeign := foreign[a.name]
		switch {
		case known && a.tilde:
			return nil, nil, &UsageError{where, tildeProblem}
		case known:
			settings = append(settings, setting{option: o, name: a.name, text: a.value,
				source: Source{SourceRC, where}})
		case a.value != "" && noPoint(where, a.name) != nil:
			return nil, nil, noPoint(where, a.name)
		case isForeign && advice != "":
			if a.value != "" {
				warnings = append(warnings, warn(where, "%s is not used by ralph; %s", a.name, advice))
			}
		case isForeign:
			unused = append(unused, a.name)
		case a.used || a.value == "": // another key uses it, or it is empty
			warnings = append(warnings, warnUnknown(where, a.name, suggestKey(a.name)))
		default:
			warning, err := unknown(where, a.name, suggestKey(a.name))
			if err != nil {
				return nil, nil, err
			}
			warnings = append(warnings, warning)
		}
	}
	if len(unused) > 0 {
		slices.Sort(unused)
		warnings = append(warnings, warn(rcName, "not used by ralph: %s", strings.Join(slices.Compact(unused), ", ")))
	}
	return byRank(settings), warnings, nil
}

// byRank puts the aliases of an option before its key, and those that the table names earlier last: what comes later
// counts.
func byRank(settings []setting) []setting {
	rank := func(s setting) int {
		return slices.Index(slices.Concat(s.option.Aliases, s.option.YAMLAliases), s.name)
	}
	slices.SortStableFunc(settings, func(a, b setting) int { return rank(b) - rank(a) })
	return settings
}

func (l Loader) environment() ([]setting, []Warning, error) {
	env := l.envMap()
	var settings []setting
	for _, o := range Table() {
		for _, name := range append([]string{o.Key}, o.Aliases...) {
			if value := env[name]; value != "" {
				settings = append(settings, setting{option: o, name: name, text: value,
					source: Source{SourceEnvironment, "$" + name}})
			}
		}
	}
	rows, foreign := index(Table()), foreignKeys()
	var warnings []Warning
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if _, known := rows[name]; known || env[name] == "" {
			continue
		}
		if err := noPoint(SourceEnvironment, name); err != nil {
			return nil, nil, err
		}
		if advice := foreign[name]; advice != "" {
			warnings = append(warnings, warn("$"+name, "not used by ralph; %s", advice))
		}
	}
	settings = byRank(settings)
	for i := range settings {
		settings[i].name = "" // the source says it already
	}
	return settings, warnings, nil
}

func (l Loader) flags() ([]setting, []Warning, error) {
	var settings []setting
	left := len(l.Flags)
	for _, o := range Table() {
		text, given := l.Flags[o.Key]
		if !given || o.Flag == "" {
			continue
		}
		left--
		where := "--" + o.Flag
		if typed := l.FlagNames[o.Key]; typed != "" {
			where = typed
		}
		settings = append(settings, setting{option: o, text: text, source: Source{SourceFlag, where}})
	}
	if left > 0 {
		return nil, nil, fmt.Errorf("load flags: %d of %d name no option that has a flag", left, len(l.Flags))
	}
	return settings, nil, nil
}

func (l Loader) envMap() map[string]string {
	env := make(map[string]string, len(l.Env))
	for _, entry := range l.Env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}

// xdg returns a base directory, or "". A relative one is not used: the
// specification of base directories says so.
func (l Loader) xdg(name, fallback string) string {
	if dir := l.envMap()[name]; filepath.IsAbs(dir) {
		return dir
	}
	if l.Home == "" {
		return ""
	}
	return filepath.Join(l.Home, fallback)
}
