package remote

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
)

// origin is a bare repository with many files, and a clone of it.
func origin(t *testing.T) (bare, clone world.Folder) {
	t.Helper()
	bare = world.Folder{TB: t, Dir: t.TempDir()}
	bare.Git("init", "--quiet", "--bare", "--initial-branch=main")
	clone = world.Folder{TB: t, Dir: t.TempDir()}
	clone.Git("clone", "--quiet", bare.Dir, ".")
	for n := range 100 {
		clone.Write(fmt.Sprint("f", n), strings.Repeat(fmt.Sprintln("line", n), 50))
	}
	clone.Commit("first")
	clone.Git("push", "--quiet", "origin", "HEAD:main")
	return bare, clone
}

func head(f world.Folder) string { return strings.TrimSpace(f.Git("rev-parse", "HEAD")) }

func open(t *testing.T) *place {
	t.Helper()
	p, err := openPlace(t.Context(), t.TempDir(), "p-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.lock.Unlock() })
	return p
}

// sends is how many bytes a run sends to a worker that says this.
func sends(t *testing.T, f world.Folder, p *place, u *Upstream) int {
	t.Helper()
	has, err := p.has(t.Context(), u)
	f.Do(err)
	pack, err := Pack(t.Context(), f.Dir, []string{head(f)}, has)
	f.Do(err)
	f.Do(Unpack(t.Context(), p.repo, pack, head(f)))
	return len(pack)
}

// daemon serves the repositories below a folder.
func daemon(t *testing.T, dir string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	path, err := exec.Command("git", "--exec-path").Output()
	program := filepath.Join(strings.TrimSpace(string(path)), "git-daemon")
	if _, missing := os.Stat(program); err != nil || missing != nil {
		t.Skip("git daemon is not installed")
	}
	cmd := exec.Command(program, "--listen=127.0.0.1", "--port="+port, "--export-all", "--base-path="+dir, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(world.Patience); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
			return "git://127.0.0.1:" + port
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// sshHere puts a program in the place of ssh, which runs the command here.
func sshHere(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestFetch_everyWay_theRunSendsOnlyWhatTheRemoteLacks(t *testing.T) {
	bare, clone := origin(t)
	sshHere(t)
	ways := map[string]string{"file": "file://" + bare.Dir, "path": bare.Dir, "ssh": "ssh://me@build1" + bare.Dir, "scp": "me@build1:" + bare.Dir}
	for name, address := range ways {
		t.Run(name, func(t *testing.T) { fetchFrom(t, address, clone) })
	}
	t.Run("git", func(t *testing.T) { fetchFrom(t, daemon(t, filepath.Dir(bare.Dir))+"/"+filepath.Base(bare.Dir), clone) })
}

func fetchFrom(t *testing.T, address string, of world.Folder) {
	t.Helper()
	mine := world.Folder{TB: t, Dir: t.TempDir()}
	mine.Git("clone", "--quiet", of.Dir, ".")
	u := &Upstream{URL: address, Ref: "refs/heads/main", Base: head(mine)}
	mine.Write("f1", "changed\n")
	mine.Commit("not pushed")
	all := sends(t, mine, open(t), nil)
	p := open(t)
	if why := p.fetch(t.Context(), u); why != "" {
		t.Fatal(why)
	}
	if part := sends(t, mine, p, u); part == 0 || part > all/5 {
		t.Errorf("%d of %d bytes are sent", part, all)
	}
	broken := *u // it is not asked again for what is here
	broken.URL = "file:///no/such/repository"
	if why := p.fetch(t.Context(), &broken); why != "" {
		t.Error(why)
	}
	if left, _ := filepath.Glob(filepath.Join(p.repo, ".git", "FETCH_HEAD")); len(left) > 0 {
		t.Error(left)
	}
}

func TestFetch_remoteThatIsOfNoUse_saysWhyAndEverythingIsSent(t *testing.T) {
	bare, clone := origin(t)
	tip := head(clone)
	clone.Write("f1", "changed\n")
	clone.Commit("not pushed")
	for want, u := range map[string]Upstream{
		"does not appear to be a git repository": {URL: "file:///no/such/repository", Base: tip},
		"couldn't find remote ref":               {URL: bare.Dir, Ref: "refs/heads/none", Base: tip},
		"main of the git remote does not have":   {URL: bare.Dir, Base: head(clone)},
		"is no address that a worker can use":    {URL: "ext::touch " + filepath.Join(bare.Dir, "mark"), Base: tip},
		"Connection refused":                     {URL: "http://me:secret@127.0.0.1:1/p", Base: tip},
	} {
		if u.Ref == "" {
			u.Ref = "refs/heads/main"
		}
		p := open(t)
		why := p.fetch(t.Context(), &u)
		if !strings.Contains(strings.ReplaceAll(why, "Failed to connect", "Connection refused"), want) || strings.Contains(why, "secret") || strings.Contains(why, "\n") {
			t.Errorf("%q, want %q", why, want)
		}
		if all := sends(t, clone, p, &u); all == 0 {
			t.Errorf("%s: nothing is sent", want)
		}
	}
	if _, err := os.Stat(filepath.Join(bare.Dir, "mark")); err == nil {
		t.Error("a program ran")
	}
}

// The settings of the repository that agents work in are theirs to change.
func TestFetch_settingsOfAnAgent_doNotRun(t *testing.T) {
	bare, clone := origin(t)
	sshHere(t)
	p := open(t)
	mark := filepath.Join(bare.Dir, "mark")
	far := world.Folder{TB: t, Dir: p.repo}
	address := "ssh://me@build1" + bare.Dir
	far.Git("config", "core.sshCommand", "touch "+mark+"; false")
	far.Git("config", "url.ext::touch "+mark+".insteadOf", address)
	far.Git("config", "protocol.ext.allow", "always")
	far.Git("config", "remote."+address+".uploadpack", "touch "+mark)
	if why := p.fetch(t.Context(), &Upstream{URL: address, Ref: "refs/heads/main", Base: head(clone)}); why != "" {
		t.Error(why)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program ran")
	}
}

// A home can be a repository of its own, with the user's settings in it.
func TestOpenPlace_cacheInARepository_leavesThatAlone(t *testing.T) {
	home := world.Folder{TB: t, Dir: t.TempDir()}
	home.Git("init", "--quiet")
	before := home.Read(".git/config")
	p, err := openPlace(t.Context(), filepath.Join(home.Dir, ".cache"), "p-1")
	home.Do(err)
	defer p.lock.Unlock()
	if _, err := os.Stat(filepath.Join(p.repo, ".git", "HEAD")); err != nil || home.Read(".git/config") != before {
		t.Errorf("%v; its settings are now %s", err, home.Read(".git/config"))
	}
	bare, clone := origin(t)
	if why := p.fetch(t.Context(), &Upstream{URL: bare.Dir, Ref: "refs/heads/main", Base: head(clone)}); why != "" {
		t.Error(why)
	}
	if objects := home.Git("count-objects", "-v"); !strings.Contains(objects, "in-pack: 0") || !strings.HasPrefix(objects, "count: 0") {
		t.Error(objects)
	}
}
