package service

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata")

// nasty are folders that are hard to quote.
var nasty = []string{
	"/home/u/plain", "/home/u/two  words", "/home/u/ends with a blank ", "/home/u/100%/%h/%%", "/home/u/$HOME/${PATH}/$$",
	`/home/u/"double"/'single'`, `/home/u/back\slash\n`, `/home/u/ends\`, "/home/u/grüße-日本", "/home/u/-C", "/home/u/#;[x]=y", "/home/u/<&>]]>", "/",
}

func manager(t *testing.T, goos string) Manager {
	t.Helper()
	m, err := Of(goos)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func text(t *testing.T, goos string, s Service) string {
	t.Helper()
	got, err := manager(t, goos).Text(s)
	if err != nil {
		t.Fatal(err)
	}
	if !Ours(got) {
		t.Errorf("ralph does not know its own file:\n%s", got)
	}
	if of := manager(t, goos).Project(got); of != s.Dir {
		t.Errorf("the file of %q is read as of %q:\n%s", s.Dir, of, got)
	}
	return got
}

// unitLines returns the lines of a unit that start with one of the keys.
func unitLines(unit string, keys ...string) []string {
	var found []string
	for line := range strings.SplitSeq(unit, "\n") {
		if key, _, _ := strings.Cut(line, "="); slices.Contains(keys, key) {
			found = append(found, line)
		}
	}
	return found
}

// The golden file shows the quoting of systemd.syntax(7) and systemd.service(5):
// %% and $$ stand for one character, a path in WorkingDirectory is never quoted.
func TestUnit_anyFolder_isQuotedForSystemd(t *testing.T) {
	var b strings.Builder
	for _, dir := range nasty {
		program := "/usr/bin/ralph"
		if !strings.ContainsAny(dir, `"'\`) {
			program = filepath.Join(dir, "ralph")
		}
		unit := text(t, "linux", Service{Name: "ralph-x", Program: program, Dir: dir, Path: "/bin:" + dir, Log: "/log"})
		fmt.Fprintf(&b, "%s\n\n", strings.Join(unitLines(unit, "ExecStart", "WorkingDirectory", "Environment"), "\n"))
	}
	if *update {
		if err := os.WriteFile("testdata/units.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/units.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

// By default systemd would restart a run, kill the agent before ralph can end it,
// or report a normal end as a failure.
func TestUnit_behavesAsRalphNeeds(t *testing.T) {
	unit := text(t, "linux", Service{Name: "n", Program: "/bin/ralph", Dir: "/p", Path: "/bin", Log: "/l"})
	want := []string{"StandardOutput=journal", "Restart=no", "KillMode=mixed", "TimeoutStopSec=60", "SuccessExitStatus=143",
		"OOMPolicy=continue", "WantedBy=default.target"}
	got := unitLines(unit, "StandardOutput", "Restart", "KillMode", "TimeoutStopSec", "SuccessExitStatus", "OOMPolicy", "WantedBy")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// plist reads the strings, keys and booleans of a property list, as they come.
func plist(t *testing.T, text string) []string {
	t.Helper()
	var all []string
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "true", start.Name.Local == "false":
			all = append(all, start.Name.Local)
		case start.Name.Local == "string", start.Name.Local == "key", start.Name.Local == "integer":
			var s string
			if err := d.DecodeElement(&s, &start); err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
	}
}

func TestAgent_anyFolder_isReadBackAsItWas(t *testing.T) {
	for _, dir := range nasty {
		program := filepath.Join(dir, "ralph")
		got := plist(t, text(t, "darwin", Service{Name: "ralph-x", Program: program, Dir: dir, Path: "/bin:" + dir, Log: dir + "/l"}))
		want := []string{"Label", "ralph-x", "ProgramArguments", program, "-C", dir, "resume", "--unfinished", "WorkingDirectory", dir,
			"EnvironmentVariables", "PATH", "/bin:" + dir, "RunAtLoad", "true", "KeepAlive", "false", "ExitTimeOut", "60",
			"StandardOutPath", dir + "/l", "StandardErrorPath", dir + "/l"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", dir, diff)
		}
	}
}

func TestText_whatNoFileCanHold_isNamed(t *testing.T) {
	good := Service{Name: "n", Program: "/bin/ralph", Dir: "/p", Path: "/bin", Log: "/l"}
	for _, test := range []struct {
		goos, names string
		bend        func(*Service)
	}{
		{"linux", "the project", func(s *Service) { s.Dir = "/a\nExecStart=/evil" }},
		{"darwin", "the project", func(s *Service) { s.Dir = "/a\nb" }},
		{"linux", "the project", func(s *Service) { s.Dir = "/a\xffb" }},
		{"linux", "PATH", func(s *Service) { s.Path = "/bin:/x\x1b[0m" }},
		{"darwin", "the log", func(s *Service) { s.Log = "/\x00" }},
		{"linux", "the program", func(s *Service) { s.Program = `/opt/"x"/ralph` }},
		{"linux", "the program", func(s *Service) { s.Program = `/opt/a\b` }},
	} {
		s := good
		test.bend(&s)
		got, err := manager(t, test.goos).Text(s)
		if err == nil || !strings.HasPrefix(err.Error(), test.names+" is ") || strings.Contains(err.Error(), "\n") || got != "" {
			t.Errorf("%s %+v: %q, %v", test.goos, s, got, err)
		}
	}
}

func TestOf_unknownSystem_namesTheKnownOnes(t *testing.T) {
	if _, err := Of("plan9"); err == nil || !strings.Contains(err.Error(), "linux (systemd) and darwin (launchd)") {
		t.Error(err)
	}
}

func TestFile_isWhereTheManagerLooks(t *testing.T) {
	for goos, want := range map[string]string{"linux": "/c/systemd/user/ralph-x-00.service", "darwin": "/h/Library/LaunchAgents/ralph-x-00.plist"} {
		if got := manager(t, goos).File("/h", "/c", "ralph-x-00"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestName_anyFolders_arePlainAndDiffer(t *testing.T) {
	seen := map[string]string{}
	dirs := slices.Clone(nasty)
	for i := range 20_000 {
		dirs = append(dirs, fmt.Sprintf("/home/u/clients/%d/api", i))
	}
	for _, dir := range dirs {
		name := Name(dir)
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q are both %s", dir, other, name)
		}
		seen[name] = dir
		if !regexp.MustCompile(`^ralph-[A-Za-z0-9._-]{1,40}-[0-9a-f]{8}$`).MatchString(name) {
			t.Errorf("%q is %q", dir, name)
		}
	}
	if Name("/p/a/") != Name("/p/a") {
		t.Error("a slash at the end makes another service")
	}
}

func TestProject_otherText_isNone(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		for _, text := range []string{"", "[Unit]\n", "<plist", "<plist><key>WorkingDirectory</key>", "<key>A</key><string>WorkingDirectory</string>"} {
			if got := manager(t, goos).Project(text); got != "" {
				t.Errorf("%s: %q is of %q", goos, text, got)
			}
		}
	}
}

func TestAbsolutePath_dropsTheProjectsOwnFolders(t *testing.T) {
	if got := AbsolutePath(".:/bin::node_modules/.bin:/usr/bin"); got != "/bin:/usr/bin" {
		t.Error(got)
	}
}

func TestOurs_otherFiles_areNot(t *testing.T) {
	for _, text := range []string{"", "[Unit]\n", "# Written by: somebody\n", "Description=# " + mark + "\n"} {
		if Ours(text) {
			t.Errorf("%q is taken for one of ralph's", text)
		}
	}
}
