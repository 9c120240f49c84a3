package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"ralph/internal/world"
)

// site is a place of releases on this machine, and a home to install into.
type site struct {
	*testing.T
	files map[string][]byte // by URL path
	home  string
	env   []string
	url   string
}

// newSite has one release, 1.2.3, of the programs as they are now.
func newSite(t *testing.T) *site {
	t.Helper()
	for _, tool := range []string{"curl", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s", tool)
		}
	}
	home, err := os.MkdirTemp("", "ralph-install-") // another user may read it, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	s := &site{T: t, files: map[string][]byte{}, home: home}
	name := fmt.Sprintf("ralph_1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH)
	packed := s.pack(name)
	s.files["/download/v1.2.3/"+name+".tar.gz"] = packed
	sums := fmt.Appendf(nil, "%x  %s.tar.gz\n", sha256.Sum256(packed), name)
	s.files["/latest/download/checksums.txt"], s.files["/download/v1.2.3/checksums.txt"] = sums, sums
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if data, ok := s.files[r.URL.Path]; ok {
			_, _ = w.Write(data)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// pack returns the archive of a release.
func (s *site) pack(name string) []byte {
	s.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	w := tar.NewWriter(z)
	put := func(path string, mode int64, data []byte) {
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + path, Mode: mode, Size: int64(len(data))}); err != nil {
			s.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			s.Fatal(err)
		}
	}
	ralph, err := os.ReadFile(filepath.Join(world.Programs(s.T), "ralph"))
	if err != nil {
		s.Fatal(err)
	}
	put("ralph", 0o755, ralph)
	put("ralph-hub", 0o755, []byte("#!/bin/sh\n"))
	for _, file := range []string{"man/ralph.1", "man/ralph-run.1", "completions/ralph.bash", "completions/_ralph", "completions/ralph.fish"} {
		put(file, 0o644, []byte(file))
	}
	if err := w.Close(); err != nil {
		s.Fatal(err)
	}
	if err := z.Close(); err != nil {
		s.Fatal(err)
	}
	return b.Bytes()
}

// install runs install.sh as its user would. uid 0 means this user.
func (s *site) install(uid uint32, env ...string) (out string, ok bool) {
	s.Helper()
	script, err := os.ReadFile(filepath.Join(root, "install.sh"))
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{"-s", "--"}, s.env...)...)
	cmd.Stdin, cmd.Dir = bytes.NewReader(script), s.home
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "RALPH_URL=" + s.url}, env...)
	if uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}

// tree lists what is in the home, files with size and time.
func (s *site) tree() string {
	s.Helper()
	out, err := exec.Command("find", s.home, "-type", "d", "-printf", "%p\n", "-o", "-printf", "%p %s %T@\n").Output()
	if err != nil {
		s.Fatal(err)
	}
	return string(out)
}

func (s *site) write(path, text string, mode os.FileMode) {
	s.Helper()
	path = filepath.Join(s.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.Fatal(err)
	}
}

func TestInstall_intoTheHome_andAway(t *testing.T) {
	s := newSite(t)
	out, ok := s.install(0)
	if !ok || !strings.HasPrefix(out, "installed ralph ") || !strings.Contains(out, "add it to your PATH") {
		t.Fatal(ok, out)
	}
	for _, name := range []string{"ralph", "ralph-status", "ralph-monitor"} {
		if got, err := exec.Command(filepath.Join(s.home, ".local/bin", name), "--help").CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	// The same again, over a program of before; then to another folder, with the version named.
	if out, ok := s.install(0); !ok || strings.Count(out, "\n") != 2 || !strings.Contains(out, "; before, it was ralph ") {
		t.Error(ok, out)
	}
	if out, ok := s.install(0, "PREFIX="+s.home+"/other", "VERSION=v1.2.3", "PATH="+s.home+"/other/bin:"+os.Getenv("PATH")); !ok || strings.Count(out, "\n") != 1 {
		t.Error(ok, out)
	}
	s.env = []string{"--uninstall"}
	for _, prefix := range []string{"/.local", "/other"} {
		if out, ok := s.install(0, "PREFIX="+s.home+prefix); !ok {
			t.Error(out)
		}
	}
	if left, err := exec.Command("find", s.home, "-mindepth", "2").Output(); err != nil || len(left) > 0 {
		t.Errorf("left: %v %s", err, left)
	}
}

// Once the first file is replaced, the rest follows.
func TestInstall_interruptedAtTheEnd_isComplete(t *testing.T) {
	world.Long(t, "installations that are interrupted")
	s := newSite(t)
	s.write("fake/mv", "#!/bin/sh\nkill -INT $PPID\nexec /bin/mv \"$@\"\n", 0o755)
	out, ok := s.install(0, "PATH="+s.home+"/fake:"+os.Getenv("PATH"))
	if !ok || !strings.HasPrefix(out, "installed ralph ") {
		t.Error(ok, out)
	}
	if left, err := exec.Command("find", s.home, "-name", "*.new").Output(); err != nil || len(left) > 0 {
		t.Errorf("left: %v %s", err, left)
	}
}

func TestInstall_uninstallInterrupted_isComplete(t *testing.T) {
	world.Long(t, "installations that are interrupted")
	s := newSite(t)
	if out, ok := s.install(0); !ok {
		t.Fatal(out)
	}
	s.write("fake/rm", "#!/bin/sh\nkill -INT $PPID $(ps -o ppid= $PPID)\nexec /bin/rm \"$@\"\n", 0o755)
	s.env = []string{"--uninstall"}
	if out, ok := s.install(0, "PATH="+s.home+"/fake:"+os.Getenv("PATH")); !ok || out != "removed ralph from "+s.home+"/.local\n" {
		t.Error(ok, out)
	}
	if left, err := exec.Command("find", s.home+"/.local", "-type", "f").Output(); err != nil || len(left) > 0 {
		t.Errorf("left: %v %s", err, left)
	}
}

func TestInstall_whatFails_isOneLineAndChangesNothing(t *testing.T) {
	world.Long(t, "an installation for each failure")
	archive := fmt.Sprintf("ralph_1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	for _, c := range []struct {
		name, want string
		arrange    func(*site)
		uid        uint32
		env        []string
	}{
		{"wrong checksum", archive + " does not have the checksum of the release", func(s *site) { s.files["/download/v1.2.3/"+archive] = []byte("other") }, 0, nil},
		{"no checksum", "does not name " + archive, func(s *site) { s.files["/download/v1.2.3/checksums.txt"] = []byte("x\n") }, 0, []string{"VERSION=1.2.3"}},
		{"no archive", "cannot get " + archive, func(s *site) { delete(s.files, "/download/v1.2.3/"+archive) }, 0, nil},
		{"no network", "cannot reach http://127.0.0.1:1", func(s *site) { s.url = "http://127.0.0.1:1" }, 0, nil},
		{"no such version", "cannot get version 9.9.9", func(*site) {}, 0, []string{"VERSION=9.9.9"}},
		{"no permission", "cannot write to ", func(*site) {}, 65534, nil},
		{"a file in the way", "cannot write to ", func(s *site) { s.write(".local/bin", "", 0o644) }, 0, nil},
		{"unknown system", "ralph does not run on Plan9", func(s *site) { s.write("fake/uname", "#!/bin/sh\necho Plan9\n", 0o755) }, 0, nil},
		{"unknown processor", "no release for the processor", func(s *site) {
			s.write("fake/uname", "#!/bin/sh\ncase $1 in -s) echo Linux;; *) echo pdp11;; esac\n", 0o755)
		}, 0, nil},
		{"another ralph", ".local/bin/ralph is another program", func(s *site) { s.write(".local/bin/ralph", "#!/bin/sh\ntouch started\n", 0o755) }, 0, nil},
		{"an archive that is none", "cannot be unpacked", func(s *site) {
			s.files["/download/v1.2.3/"+archive] = []byte("x")
			s.files["/latest/download/checksums.txt"] = fmt.Appendf(nil, "%x  %s\n", sha256.Sum256([]byte("x")), archive)
		}, 0, nil},
		{"no temporary folder", "cannot make a temporary folder in /nowhere", func(*site) {}, 0, []string{"TMPDIR=/nowhere"}},
		{"interrupted download", "interrupted; nothing was changed", func(s *site) {
			s.write("fake/sed", "#!/bin/sh\nkill -TERM $(ps -o ppid= $PPID)\nexec /bin/sed \"$@\"\n", 0o755)
		}, 0, nil},
		{"interrupted copy", "interrupted; nothing was changed", func(s *site) {
			s.write("fake/cp", "#!/bin/sh\n/bin/cp \"$@\"\nkill -INT $PPID\n", 0o755)
		}, 0, nil},
		{"full disk", "cannot write ", func(s *site) {
			s.write("fake/cp", "#!/bin/sh\ncase $1 in *.fish) exit 1;; esac\nexec /bin/cp \"$@\"\n", 0o755)
		}, 0, nil},
		{"no address", "set RALPH_URL", func(s *site) { s.url = "" }, 0, nil},
		{"unknown argument", "unknown argument --force", func(s *site) { s.env = []string{"--force"} }, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.uid != 0 && os.Getuid() != 0 {
				t.Skip("needs root, to be another user")
			}
			s := newSite(t)
			c.arrange(s)
			before := s.tree()
			out, ok := s.install(c.uid, append(c.env, "PATH="+s.home+"/fake:"+os.Getenv("PATH"))...)
			if ok || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "install.sh: ") || !strings.Contains(out, c.want) {
				t.Errorf("ok %v: %s", ok, out)
			}
			if after := s.tree(); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}
