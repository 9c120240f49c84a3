package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ralph/logs/lazy"
	"ralph/ptyexec"
	"ralph/ptyexec/cover"
	"ralph/runner/sandbox/gitkeep"
)

// Project is what a sandbox knows of a project from before an agent worked in it. What an
// agent leaves there, such as another .git, does not change it.
type Project struct {
	gitkeep.Repository
	// Locked are names in Dir that commands may only read; folders end with a slash.
	Locked []string `json:"locked,omitempty"`
}

// locate asks git where its folders are.
func (p *Project) locate() {
	find := []string{"-c", "safe.directory=*", "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"}
	cmd := exec.Command("git", find...) //nolint:noctx // it reads a few files
	cmd.Dir = p.Dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "GIT_CEILING_")
	})
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if err == nil && len(lines) == 3 {
		if !filepath.IsAbs(lines[2]) {
			lines[2] = filepath.Join(p.Dir, lines[2])
		}
		p.Git, p.DotGit = existing(lines[1:]), filepath.Join(lines[0], ".git")
		return
	}
	// Git is not installed, or refuses the repository: look for .git.
	for at := p.Dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, ".git")
		if info, err := os.Lstat(path); err == nil {
			p.DotGit = path
			if info.IsDir() {
				p.Git = []string{path}
			}
			return
		}
		if at == filepath.Dir(at) {
			return
		}
	}
}

// keepGit lets ralph put back what the command changes of what git starts.
func (b Box) keepGit(c *ptyexec.Command) {
	p, cover := b.Project, c.Cover
	if p.Dir == "" {
		return // nothing is known of the project
	}
	c.Around = func() (func() error, error) {
		w, err := gitkeep.Open(p.Repository, b.Keep)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ptyexec.ErrNotConfined, err)
		}
		cover.Held = w.Guard()
		return func() error {
			replaced, err := w.Close()
			if b.PutBack != nil && len(replaced.Files) > 0 {
				b.PutBack(replaced)
			}
			return err
		}, nil
	}
}

// target is a path to lock.
type target struct {
	root string // nothing between this folder and path may be a link
	path string // folders end with a slash
	// git is true for a file in git's folders. A file with this text means the same to git as a missing one.
	git  bool
	text string
	// keep is true for a folder that stays once it is made, because git makes it, too.
	keep bool
}

// gitTargets returns the paths in git's folders that make git start programs, or lead it to
// another repository.
func (p Project) gitTargets() (all []target, err error) {
	if p.DotGit != "" {
		if info, err := os.Lstat(p.DotGit); err == nil && !info.IsDir() {
			all = append(all, target{root: filepath.Dir(p.DotGit), path: p.DotGit})
		}
	}
	folders, err := p.Folders()
	if len(folders) == 0 {
		return all, err
	}
	common := folders[0]
	for _, dir := range folders {
		all = append(all, target{root: common, path: filepath.Join(dir, "config"), git: true},
			target{root: common, path: filepath.Join(dir, "config.worktree"), git: true},
			target{root: common, path: filepath.Join(dir, "commondir"), git: true, text: sameDir})
		if _, err := os.Lstat(filepath.Join(dir, "gitdir")); err == nil {
			all = append(all, target{root: common, path: filepath.Join(dir, "gitdir")})
		}
		if filepath.Dir(dir) != filepath.Join(common, "worktrees") { // a work tree has no hooks of its own
			all = append(all, target{root: common, path: filepath.Join(dir, "hooks") + "/", keep: true})
		}
	}
	return all, err
}

// sameDir in a file commondir means the folder of that file, as if there were no such file.
const sameDir = ".\n"

// seeGit lets the command read a copy of the user's settings of git without credentials, and the files that they name.
func (v *view) seeGit(env []string) {
	text := withoutCredentials(env, v.Dir)
	file := cover.Place{Path: tempName(), Text: text}
	v.places.Blanks, v.gitCopy = append(v.places.Blanks, file), file.Path
	v.env = append(v.env, "GIT_CONFIG_GLOBAL="+file.Path)
	for _, m := range gitFiles().FindAllStringSubmatch(text, -1) {
		path := v.home.named(m[1])
		if info, err := os.Stat(path); err != nil || v.holdsAll(path) {
			continue
		} else if text, ok := readSettings(path); info.Mode().IsRegular() && (!ok || hasSecret(text)) {
			continue
		}
		v.see(path)
	}
}

// gitFiles matches settings that name a file or folder which git reads.
var gitFiles = lazy.Regexp(`(?im)^[ \t]*(?:excludesfile|attributesfile|hookspath|template|templatedir|ignorerevsfile|mailmap\.file)` +
	`[ \t]*=[ \t]*"?(~/[^"\n]+|/[^"\n]+)"?[ \t]*$`)

// withoutCredentials returns the user's settings as git reads them in a folder, with those of included files, and
// without those that may have a credential.
//
//nolint:contextcheck,nolintlint // for its callers: it has a bound of its own
func withoutCredentials(env []string, dir string) string {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "config", "--global", "--includes", "--null", "--list")
	cmd.Dir, cmd.Env = dir, env
	out, _ := cmd.Output() // after an error: what it could read
	var b strings.Builder
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, has := strings.Cut(entry, "\n")
		section, rest, ok := strings.Cut(key, ".")
		if !ok || !has || hasSecret(entry) || strings.HasPrefix(section, "include") || section == "credential" {
			continue
		}
		name := rest
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			section, name = section+` "`+gitQuote(rest[:i])+`"`, rest[i+1:]
		}
		b.WriteString("[" + section + "]\n\t" + name + ` = "` + gitQuote(value) + "\"\n")
	}
	return b.String()
}

func gitQuote(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text)
}
