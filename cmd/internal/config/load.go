package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"ralph/logs/termtext"
	"ralph/state/option"
	"ralph/state/projectfs"
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
	text, _, err := readFile("", path, path)
	if err != nil {
		return nil, nil, err
	}
	return l.yaml(path, SourceUser, text)
}

func (l Loader) projectFile() ([]setting, []Warning, error) {
	text, _, err := readFile(l.Dir, filepath.Join(l.Dir, yamlName), yamlName)
	if err != nil {
		return nil, nil, err
	}
	return l.yaml(yamlName, SourceProject, text)
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
	rows := Index()
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
			if a.again > 0 {
				warnings = append(warnings, warn(where, "%s is set on line %d, too; line %d counts", a.name, a.again, a.line))
			}
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
	rows, foreign := Index(), foreignKeys()
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
		settings = append(settings, setting{option: o, text: text, source: Source{SourceFlag, "--" + o.Flag}})
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

// maxFileSize is far above any real file, and limits what a hostile one can cost.
const maxFileSize = 64 << 10

// maxNesting bounds the depth of open brackets and the columns of list markers:
// both parsers recurse into nested values without a bound of their own.
const maxNesting = 100

// UsageError is a value or a file that ralph refuses to start with.
type UsageError struct {
	Where   string // file:line, $VARIABLE or --flag; empty: Problem says it
	Problem string // what is wrong, and what is allowed
}

// Error returns one line.
func (e *UsageError) Error() string { return oneLine(strings.TrimPrefix(e.Where+": "+e.Problem, ": ")) }

// Warning is one line for the user about a setting that ralph does not use.
type Warning string

func warn(where, format string, args ...any) Warning {
	return Warning(oneLine(where + ": " + fmt.Sprintf(format, args...)))
}

// oneLine makes text from a file safe to print. Unlike termtext.Line, it keeps
// repeated spaces: the user must see exactly what will run.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(termtext.Clean(text))
}

func lineOf(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// readFile returns the text of a settings file with \n line ends and without a
// byte order mark. For a missing file, found is false. Errors are *UsageError with
// name, by which the user knows the file. No link is followed below project; empty: the file is the user's own.
func readFile(project, path, name string) (text string, found bool, err error) {
	var f *os.File
	if project != "" {
		f, err = projectfs.In(project).Open(path)
	} else { // without O_NONBLOCK, opening a named pipe would hang
		f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // file: of the user's home
	}
	if refused := projectfs.Refused(err); refused != nil {
		return "", false, &UsageError{name, "is " + refused.Is + "; ralph reads only " + refused.Want + " here"}
	}
	// A socket is there if a sandbox covers what is missing.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENXIO) {
		return "", false, nil
	}
	if err != nil {
		return "", false, &UsageError{name, "cannot be read: " + reason(err)}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false, &UsageError{name, "is not a regular file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return "", false, &UsageError{name, "cannot be read: " + reason(err)}
	}
	if len(data) > maxFileSize {
		return "", false, &UsageError{name, fmt.Sprintf("is larger than %d KiB", maxFileSize>>10)}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text = strings.ReplaceAll(string(data), "\r\n", "\n")
	if problem, line := unreadable(text); problem != "" {
		return "", false, &UsageError{lineOf(name, line), problem}
	}
	return text, true, nil
}

func reason(err error) string {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err.Error()
	}
	return err.Error()
}

// unreadable finds text that must not reach a parser, and its line. An empty problem: there is none.
func unreadable(text string) (problem string, line int) {
	depth := 0
	for i, row := range strings.Split(text, "\n") {
		if strings.ContainsRune(row, 0) {
			return "holds a NUL byte: the file must be plain text in UTF-8", i + 1
		}
		if strings.ContainsRune(row, '\r') {
			return "holds a carriage return inside a line: lines must end with \\n or \\r\\n", i + 1
		}
		for _, c := range []byte(row) {
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(0, depth-1)
			}
			if depth > maxNesting {
				return "is nested too deeply", i + 1
			}
		}
		if len(row)-len(strings.TrimLeft(row, " \t-?")) > maxNesting {
			return "is indented too deeply", i + 1
		}
	}
	return "", 0
}

// baselineKey is a key of config.yaml that is not an option: it is accepted with the value
// that it always has.
const baselineKey = "test.baseline_file"

// foreignKeys are keys that a .ralphrc for frankbria/ralph-claude-code may have
// and that ralph does not use. The text says what the user must know; keys
// without a text are only listed together.
func foreignKeys() map[string]string {
	keys := map[string]string{
		"CLAUDE_SESSION_EXPIRY_HOURS": "write SESSION_EXPIRY_HOURS",
		"FIX_PLAN_FILE":               "write PLAN_FILE, relative to the project",
		"VERBOSE_PROGRESS":            "write RALPH_VERBOSE",
		"DRY_RUN":                     "use the flag --dry-run",
		"RALPH_DIR":                   "its files are always in .ralph",
	}
	for _, key := range []string{
		"PROJECT_NAME", "PROJECT_TYPE", "TASK_SOURCES", "GITHUB_TASK_LABEL", "BEADS_FILTER", "AGENT_FILE",
		"CLAUDE_OUTPUT_FORMAT", "CLAUDE_AUTO_UPDATE", "CLAUDE_MIN_VERSION", "CLAUDE_EFFORT", "RALPH_SHELL_INIT_FILE",
		"ENABLE_BACKUP", "LIVE_OUTPUT", "LIVE_SHOW_TOOL_ARGS", "SLEEP_DURATION", "USE_TMUX",
		"MAX_CONSECUTIVE_TEST_LOOPS", "MAX_CONSECUTIVE_DONE_SIGNALS", "TEST_PERCENTAGE_THRESHOLD",
		"LOG_MAX_SIZE_MB", "LOG_MAX_FILES", "LOG_MAX_OUTPUT_FILES", "LOG_DIR", "DOCS_DIR",
		"GITHUB_ISSUE", "COMMENT_PROGRESS", "COMMENT_INTERVAL", "AUTO_CLOSE", "CLOSE_SUMMARY", "CREATE_PR",
		"LINK_ISSUE", "DRAFT_PR", "CREATE_FOLLOWUPS", "FOLLOWUP_LABEL", "ADD_COMPLETION_LABELS",
		"SYNC_INCLUDE", "SYNC_EXCLUDE", "SYNC_MAX_FILE_SIZE", "SYNC_LARGE_FILE_ACTION",
		"SANDBOX_DOCKER_IMAGE", "SANDBOX_DOCKER_MEMORY", "SANDBOX_DOCKER_CPUS", "SANDBOX_DOCKER_NETWORK",
		"SANDBOX_E2B_TEMPLATE", "SANDBOX_E2B_SANDBOX_ID", "SANDBOX_E2B_TIMEOUT", "SANDBOX_E2B_KEEP_ALIVE",
		"SANDBOX_E2B_MAX_COST", "SANDBOX_E2B_COST_ALERT", "SANDBOX_E2B_COST_PER_HOUR",
	} {
		keys[key] = ""
	}
	return keys
}

// unknown is the warning about a key that ralph does not know, or the error for one that was meant to protect
// something: a typing mistake must not turn that off.
func unknown(where, key, meant string) (Warning, error) {
	if !protects(key, meant) {
		return warnUnknown(where, key, meant), nil
	}
	return "", &UsageError{where, "unknown key " + quote(key) + didYouMean(meant) + "; correct or remove it to start"}
}

func warnUnknown(where, key, meant string) Warning {
	return warn(where, "unknown key %s%s", quote(key), didYouMean(meant))
}

// protects reports whether a key stands among those of a protection, or is a misspelled option that decides about
// programs, permissions, checks or reviews.
func protects(key, meant string) bool {
	groups := []string{checksKey, hooksKey, judgesKey, "permissions"}
	for _, o := range Table() {
		protects := slices.Contains([]string{"Checks", "Review", "Hooks", "Sandbox"}, o.Group)
		if (protects || o.Trust) && (o.Key == meant || o.YAML == meant || slices.Contains(o.Aliases, meant)) {
			return true
		}
		if protects {
			group, _, _ := strings.Cut(o.YAML, ".")
			groups = append(groups, group)
		}
	}
	group, _, _ := strings.Cut(key, ".")
	return slices.Contains(groups, group) || slices.Contains(groups, meant) || strings.HasPrefix(key, "SANDBOX_")
}

// suggestKey returns the name of .ralphrc that was probably meant, or "".
func suggestKey(name string) string {
	var names []string
	for _, o := range Table() {
		names = append(append(names, o.Key), o.Aliases...)
	}
	return option.Nearest(strings.ToUpper(name), names)
}

// suggestYAML also knows the names of .ralphrc, and the last part of a path.
func suggestYAML(path string) string {
	table := Table()
	last := path[strings.LastIndexByte(path, '.')+1:]
	if o, ok := Index()[strings.ToUpper(last)]; ok {
		return o.YAML
	}
	var paths []string
	for _, o := range table {
		if o.YAML[strings.LastIndexByte(o.YAML, '.')+1:] == last {
			return o.YAML
		}
		group, _, _ := strings.Cut(o.YAML, ".")
		paths = append(paths, group, o.YAML)
	}
	return option.Nearest(path, append(paths, agentsKey, checksKey, hooksKey, judgesKey))
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// quote makes a piece of input safe and short enough for a one-line message.
func quote(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) > most {
		return strconv.Quote(string(runes[:most])) + "..."
	}
	return strconv.Quote(text)
}
