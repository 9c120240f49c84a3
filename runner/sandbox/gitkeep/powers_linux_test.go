package gitkeep

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// asUser calls f without the powers of root, which may read everything.
func asUser(t *testing.T, f func()) {
	t.Helper()
	var err error
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with this goroutine
		none := [2]unix.CapUserData{}
		if err = unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err == nil {
			f()
		}
	}()
	<-done
	if err != nil {
		t.Fatal(err)
	}
}

func mode(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(path, 0o700) }) //nolint:gosec // a folder
}

// Others may go through /home on many machines, but not list it.
func TestClose_folderAboveCannotBeListed_putsBack(t *testing.T) {
	p, r, at := place(t)
	mode(t, filepath.Dir(p.Dir), 0o711)
	mode(t, p.Dir, 0o311)
	p.Write(".git/modules/lib/HEAD", "x")
	asUser(t, func() {
		w := opened(t, r, at)
		p.Write(".git/hooks/pre-commit", "evil")
		p.Write(".git/modules/lib/config", "evil")
		p.Write(".git/commondir", "/")
		if got := closed(t, w); got != ".git/commondir .git/hooks/pre-commit .git/modules/lib/config" {
			t.Errorf("put back %q", got)
		}
	})
}

// Git starts hooks in a folder that nobody may list.
func TestClose_folderOfHooksCannotBeListed_isAnError(t *testing.T) {
	for _, name := range []string{".git/hooks", ".git/modules"} {
		p, r, at := place(t)
		p.Write(".git/modules/lib/HEAD", "x")
		asUser(t, func() {
			w := opened(t, r, at)
			mode(t, p.Path(name), 0o311)
			p.Write(name+"/pre-commit", "evil")
			if _, err := w.Close(); err == nil || !strings.Contains(err.Error(), p.Path(name)) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: close: %v", name, err)
			}
			if _, err := Open(r, at); err == nil {
				t.Errorf("%s: the next command may run", name)
			}
			mode(t, p.Path(name), 0o700)
			if got := closed(t, opened(t, r, at)); name == ".git/hooks" && got != ".git/hooks/pre-commit" {
				t.Errorf("then put back %q", got)
			}
		})
	}
}
