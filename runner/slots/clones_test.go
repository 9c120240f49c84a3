package slots

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/git/command"
	"ralph/runner/task/store"
)

// clone is a clone of the project, with these arguments of git clone.
func clone(t *testing.T, args ...string) (world.Folder, *Home) {
	t.Helper()
	p, _ := project(t)
	p.Write("code", "0\n")
	p.Commit("second")
	p.Git("config", "uploadpack.allowFilter", "true")
	p.Git("config", "uploadpack.allowAnySHA1InWant", "true")
	c := world.Folder{TB: t, Dir: filepath.Join(t.TempDir(), "clone")}
	p.Git(append(append([]string{"clone", "-q"}, args...), "file://"+p.Dir, c.Dir)...)
	h, err := HomeOf([]string{"XDG_CACHE_HOME=" + t.TempDir()}, c.Dir, store.File{Path: c.Path("plan.md"), Name: "plan.md"})
	c.Do(err)
	return c, h
}

func TestClone_shallowOrPartial_worksOrIsRefusedByName(t *testing.T) {
	for name, args := range map[string][]string{
		"shallow":           {"--depth=1"},
		"without old blobs": {"--filter=blob:none"},
		"shallow and empty": {"--depth=1", "--filter=blob:none", "--no-checkout"},
	} {
		c, h := clone(t, args...)
		err := h.Check(context.Background(), "")
		if len(args) == 3 {
			if err == nil || !strings.Contains(err.Error(), "partial clone lacks") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
			c.Git("archive", "-o", filepath.Join(t.TempDir(), "all.tar"), "HEAD") // what the message says
			err = h.Check(context.Background(), "")
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, b, in := begin(c, h, 1)
		in.Write("code", "2\n")
		w, err := s.Save(context.Background(), "[ralph] one\n\nRalph-Task: T1\n")
		c.Do(err)
		if got := c.Git("diff", "--name-only", b.Base, w.Commit); got != "code" {
			t.Errorf("%s: changed %q", name, got)
		}
	}
}

// A filter that the user has set up, as git lfs install does, works in a slot as in the checkout.
func TestSlot_largeFiles_areThereAndStayPointersInGit(t *testing.T) {
	p, h := project(t)
	p.Git("config", "filter.lfs.clean", "tr a-z A-Z")
	p.Git("config", "filter.lfs.smudge", "tr A-Z a-z")
	p.Git("config", "filter.lfs.required", "true")
	p.Write(".gitattributes", "*.bin filter=lfs -text\n")
	p.Write("a.bin", "large\n")
	p.Commit("large file")
	trust, err := command.NewTrust(context.Background(), p.Dir, []string{"PATH=/usr/bin:/bin"})
	p.Do(err)
	ctx := command.With(context.Background(), trust)
	p.Do(h.Check(ctx, ""))
	tip := p.Git("rev-parse", "HEAD")
	s, err := h.Open(ctx, 1)
	p.Do(err)
	_, err = s.Begin(ctx, one, tip)
	p.Do(err)
	in := p.In(s.Dir)
	if got := in.Read("a.bin"); got != "large\n" {
		t.Errorf("in the slot: %q", got)
	}
	in.Write("b.bin", "more\n")
	w, err := s.Save(ctx, "[ralph] one\n\nRalph-Task: T1\n")
	p.Do(err)
	if got := p.Git("cat-file", "blob", w.Commit+":b.bin"); got != "MORE" {
		t.Errorf("in git: %q", got)
	}
}
