package command

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ralph/ptyexec"
)

// drivers are the settings of filters and merge drivers, such as filter.lfs.clean. Git runs those that .gitattributes
// asks for: filters on almost any command, and merge drivers in cherry-pick.
type drivers map[string]string

// Trust has the drivers that git may run: those that were set when the Trust was made. It is safe for concurrent
// use.
type Trust struct {
	trusted    drivers
	submodules bool // the repository had some
	env        []string

	mu   sync.Mutex
	seen map[string][]string // pins, by the settings that they are for
}

// maxSeen is more than the worktrees of a run: each has settings of its own.
const maxSeen = 100

type trustKey struct{}

// With returns a context in which ralph's own git runs the drivers of t. Without a Trust, git
// runs only those that are set outside the repository.
func With(ctx context.Context, t *Trust) context.Context {
	return context.WithValue(ctx, trustKey{}, t)
}

// NewTrust trusts the drivers that are set now for the repository of dir. Git and they get env and the user's variables
// GIT_CONFIG_*: git may need those to read the repository at all.
func NewTrust(ctx context.Context, dir string, env []string) (*Trust, error) {
	c, env := Call{Dir: dir}, slices.Clone(env)
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "GIT_CONFIG_") && !slices.Contains(env, kv) {
			env = append(env, kv)
		}
	}
	now, _, err := c.drivers(ctx, c.env(env))
	return &Trust{trusted: now, submodules: len(c.submodules()) > 0, env: env}, err
}

// userEnv returns the environment that Call.env starts from.
func userEnv(ctx context.Context) []string {
	if t, ok := ctx.Value(trustKey{}).(*Trust); ok && t.env != nil {
		return t.env
	}
	return os.Environ()
}

// Submodules returns the options of git status for submodules. Git would use the settings of each submodule, so it does
// not look into submodules if the repository had none before the agent started.
func Submodules(ctx context.Context, dir string) []string {
	t, ok := ctx.Value(trustKey{}).(*Trust)
	if ok && t.submodules || !ok && len(Call{Dir: dir}.submodules()) > 0 {
		return nil
	}
	return []string{"--ignore-submodules=dirty"}
}

// pinsOf returns the variables that give each driver its trusted settings.
func pinsOf(ctx context.Context, dir string, env []string) ([]string, error) {
	c := Call{Dir: dir}
	t, ok := ctx.Value(trustKey{}).(*Trust)
	if !ok {
		own := strings.ToLower(read(c.configFiles()))
		if !strings.Contains(own, "filter") && !strings.Contains(own, "merge") && !strings.Contains(own, "include") {
			return nil, nil
		}
		now, outside, err := c.drivers(ctx, env)
		return pins(outside, now, env), err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	settings := read(append(c.configFiles(), userFiles()...))
	if fit, ok := t.seen[settings]; ok {
		return fit, nil
	}
	now, _, err := c.drivers(ctx, env)
	if err != nil {
		return nil, err
	}
	fit := pins(t.trusted, now, env)
	if strings.Contains(strings.ToLower(settings), "include") {
		return fit, nil // the included files may change, too
	}
	if t.seen == nil || len(t.seen) == maxSeen {
		t.seen = map[string][]string{}
	}
	t.seen[settings] = fit
	return fit, nil
}

// configFiles returns the files with the settings of the repository itself, whether they exist
// or not.
func (c Call) configFiles() []string {
	root, ok := Root(c.Dir)
	if !ok {
		return nil
	}
	meta := MetaDir(root)
	return append(c.submodules(), filepath.Join(commonDir(meta), "config"), filepath.Join(meta, "config.worktree"))
}

// userFiles returns the files with the settings of the user and the machine.
func userFiles() []string {
	home := os.Getenv("HOME")
	return []string{"/etc/gitconfig", os.Getenv("GIT_CONFIG_SYSTEM"), os.Getenv("GIT_CONFIG_GLOBAL"),
		filepath.Join(home, ".gitconfig"),
		filepath.Join(home, ".config", "git", "config"), filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "git", "config")}
}

// read joins the content of the files. It ignores unreadable ones: git itself reports them.
func read(files []string) string {
	var b strings.Builder
	for _, file := range files {
		data, _ := os.ReadFile(file) // file: in the folder of git
		fmt.Fprintf(&b, "%q\n%s\n", file, data)
	}
	return b.String()
}

// submodules returns the files with the settings of the submodules.
func (c Call) submodules() []string {
	root, ok := Root(c.Dir)
	if !ok {
		return nil
	}
	var files []string
	_ = filepath.WalkDir(filepath.Join(commonDir(MetaDir(root)), "modules"),
		func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // there are none
			case d.IsDir() && slices.Contains([]string{"objects", "refs", "logs", "hooks", "info"}, d.Name()):
				return fs.SkipDir
			case d.Name() == "config":
				files = append(files, path)
			}
			return nil
		})
	return files
}

// drivers returns all drivers that are set, and those that are set outside the repository.
func (c Call) drivers(ctx context.Context, env []string) (all, outside drivers, err error) {
	all, outside = drivers{}, drivers{}
	out, err := c.start(ctx, env, []string{"config", "--list", "-z", "--show-scope"})
	if err != nil {
		return nil, nil, fmt.Errorf("read settings of git: %w", err)
	}
	records := strings.Split(out, "\x00")
	for i := 0; i+1 < len(records); i += 2 {
		all.set(records[i+1])
		if scope := records[i]; scope != "local" && scope != "worktree" {
			outside.set(records[i+1])
		}
	}
	for _, file := range c.submodules() {
		out, err := c.start(ctx, env, []string{"config", "--file", file, "--includes", "--list", "-z"})
		if err != nil {
			return nil, nil, fmt.Errorf("read settings of a submodule: %w", err)
		}
		for record := range strings.SplitSeq(out, "\x00") {
			all.set(record)
		}
	}
	return all, outside, nil
}

// mergeText does what git does without a driver.
const mergeText = "git merge-file --marker-size=%L %A %O %B"

// set adds a setting, "filter.NAME.clean\nVALUE", and ignores all others.
func (d drivers) set(record string) {
	key, value, _ := strings.Cut(record, "\n")
	if isFilter(key) || strings.HasPrefix(key, "merge.") && strings.HasSuffix(key, ".driver") {
		d[key] = value
	}
}

func isFilter(key string) bool {
	return strings.HasPrefix(key, "filter.") && slices.Contains([]string{".clean", ".smudge", ".process", ".required"}, filepath.Ext(key))
}

// pins returns the variables that replace the settings of now with trusted ones. An empty command runs nothing.
func pins(trusted, now drivers, env []string) []string {
	all, set := drivers{}, drivers{}
	maps.Copy(all, trusted)
	maps.Copy(all, now)
	for key := range all {
		value := trusted[key]
		if value == now[key] {
			continue
		}
		name, planted := strings.CutSuffix(key, ".process")
		switch {
		case !isFilter(key):
			value = cmp.Or(value, mergeText)
		case planted && value == "" && trusted[name+".clean"]+trusted[name+".smudge"] != "":
			set[name+".required"] = "true" // even an empty process replaces the others: git must fail then, not store what it reads
		case strings.HasSuffix(key, ".required"):
			value = cmp.Or(set[key], value, "false")
		}
		set[key] = value
	}
	var out []string
	first, _ := strconv.Atoi(ptyexec.Getenv(env, "GIT_CONFIG_COUNT")) // git refuses anything else
	for i, key := range slices.Sorted(maps.Keys(set)) {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", first+i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", first+i, set[key]))
	}
	if out == nil {
		return nil
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", first+len(set)))
}
