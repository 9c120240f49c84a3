package release

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// signed signs the checksums of the release with a new key, as a release does, and returns the public key.
func (s *site) signed() (public string) {
	s.Helper()
	dir := s.TempDir()
	pub, secret, sums := filepath.Join(dir, "pub"), filepath.Join(dir, "secret"), filepath.Join(dir, "checksums.txt")
	if err := os.WriteFile(sums, s.files["/download/v1.2.3/checksums.txt"], 0o600); err != nil {
		s.Fatal(err)
	}
	for _, call := range []struct {
		typed string
		args  []string
	}{
		{"secret\nsecret\n", []string{"-G", "-p", pub, "-s", secret}},
		{"secret", []string{"-S", "-s", secret, "-t", "ralph 1.2.3", "-x", sums + ".minisig", "-m", sums}},
	} {
		cmd := exec.Command("minisign", call.args...)
		cmd.Stdin = strings.NewReader(call.typed)
		if out, err := cmd.CombinedOutput(); err != nil {
			s.Fatalf("minisign %v: %v\n%s", call.args, err, out)
		}
	}
	text, err := os.ReadFile(pub)
	if err != nil {
		s.Fatal(err)
	}
	signature, err := os.ReadFile(sums + ".minisig")
	if err != nil {
		s.Fatal(err)
	}
	s.files["/download/v1.2.3/checksums.txt.minisig"] = signature
	lines := strings.Fields(string(text))
	return lines[len(lines)-1]
}

func TestInstall_signature_isCheckedIfMinisignIsThere(t *testing.T) {
	if _, err := exec.LookPath("minisign"); err != nil {
		t.Skip("needs minisign")
	}
	const sums, minisig = "/download/v1.2.3/checksums.txt", "/download/v1.2.3/checksums.txt.minisig"
	s := newSite(t) // packed only once
	key := s.signed()
	files := s.files
	for name, c := range map[string]struct {
		arrange func(s *site, key *string)
		ok      bool
		want    string
	}{
		"good":      {func(*site, *string) {}, true, "; its signature is good"},
		"wrong key": {func(s *site, key *string) { old := s.files[minisig]; *key = s.signed(); s.files[minisig] = old }, false, "the signature of version 1.2.3 is not by "},
		"changed checksums": {func(s *site, _ *string) {
			for path, data := range s.files {
				if strings.HasSuffix(path, "checksums.txt") {
					s.files[path] = append(bytes.Clone(data), '\n')
				}
			}
		}, false, "the signature of version 1.2.3 is not by "},
		"another file's signature": {func(s *site, _ *string) { s.files[minisig] = []byte("x") }, false, "the signature of version 1.2.3 is not by "},
		"no signature":             {func(s *site, _ *string) { delete(s.files, minisig) }, false, "version 1.2.3 has no signature; it was not installed"},
		"no key":                   {func(_ *site, key *string) { *key = "" }, true, "; only its checksum was checked: this install.sh has no key"},
		"no minisign":              {func(s *site, _ *string) { s.without("minisign") }, true, "; only its checksum was checked: minisign is not installed"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "wrong key" && name != "no signature" {
				t.Skip("long: an installation for each case")
			}
			s.T, s.files = t, maps.Clone(files)
			key := key
			c.arrange(s, &key)
			path := os.Getenv("PATH")
			if name == "no minisign" {
				path = s.home + "/tools"
			}
			before := s.tree()
			out, ok := s.install(0, "RALPH_KEY="+key, "PATH="+path, "PREFIX="+s.home+"/"+strings.ReplaceAll(name, " ", "-"))
			if ok != c.ok || !strings.Contains(out, c.want) {
				t.Errorf("ok %v: %s", ok, out)
			}
			if !c.ok && (s.tree() != before || strings.Count(out, "\n") != 1) {
				t.Errorf("more than one line, or something has changed: %s", out)
			}
		})
	}
}

// without makes a folder of programs that install.sh may find, and has not this one.
func (s *site) without(program string) {
	s.Helper()
	if err := os.Mkdir(s.home+"/tools", 0o755); err != nil {
		s.Fatal(err)
	}
	for _, name := range strings.Fields("cat chmod cp curl cut dirname grep gzip head ln ls mkdir mktemp mv rm rmdir sed sh sha256sum tar touch uname minisign") {
		path, err := exec.LookPath(name)
		if err != nil || name == program {
			continue
		}
		if err := os.Symlink(path, filepath.Join(s.home, "tools", name)); err != nil {
			s.Fatal(err)
		}
	}
}
