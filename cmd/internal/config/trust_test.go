package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ralph/state/option"
)

func TestUntrusted_everyTrustRowOfAProjectFileIsShown(t *testing.T) {
	for _, o := range Table() {
		value, _ := other(o)
		switch o.Key { // where another value is harmless
		case "ALLOWED_TOOLS":
			value = "Read,Bash(*)"
		case "ANTI_CHEAT":
			value = "warn"
		case "TEST_MODE":
			value = "report"
		}
		if o.Kind == option.Enum && slices.Contains(o.Safe, value) {
			value = o.Values[slices.IndexFunc(o.Values, func(v string) bool { return !slices.Contains(o.Safe, v) })]
		}
		for _, file := range []string{rcName, yamlName} {
			l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
			text := o.Key + "=" + rcQuote(value)
			if file == yamlName {
				text = yamlFor(o, value)
			}
			write(t, l.Dir, file, text)
			c, _, err := l.Load()
			if err != nil {
				t.Fatal(err)
			}
			u := l.claims(c)
			if !o.Trust {
				if len(linesOf(u)) > 0 {
					t.Errorf("%s in %s: %+v", o.Key, file, u)
				}
				continue
			}
			want := strings.Replace(o.Key+"="+value, "=Read,", " adds ", 1)
			if o.Kind == "list" && !slices.Contains(o.Safe, "Read") {
				want = o.Key + " adds Read, Bash(git add *)"
			}
			if o.Key == "SANDBOX_READ" {
				want = o.Key + " adds ~/data, /home/me/notes"
			}
			if o.Kind == option.List && o.Secret {
				want = o.Key + " adds ..., ..." // no addresses
			}
			if o.Kind == option.String {
				want = o.Key + "=" + Display(o, value) // a password is not shown
			}
			if len(u) != 1 || u[0].File != file || len(linesOf(u)) != 1 || !strings.HasPrefix(linesOf(u)[0], file+":") || !strings.HasSuffix(linesOf(u)[0], ": "+want) {
				t.Errorf("%s in %s: %+v", o.Key, file, u)
			}
		}
	}
}

func TestTable_commandsNeedTrust(t *testing.T) {
	for _, key := range []string{"CLAUDE_CODE_CMD", "TEST_COMMAND", "BUILD_COMMAND", "LINT_COMMAND", "PERMISSION_MODE", "POP_TASKS"} {
		if !Index()[key].Trust {
			t.Errorf("%s needs no trust", key)
		}
	}
}

func TestUntrusted_nilWhereNoConsentIsNeeded(t *testing.T) {
	for _, test := range []struct {
		name, rc, user string
		env            []string
		flags          map[string]string
	}{
		{name: "no file"},
		{name: "nothing that runs", rc: "MODEL=x"},
		{name: "tools of the default", rc: "ALLOWED_TOOLS='Read,Bash(git add *)'"},
		{name: "a stricter proof", rc: "ANTI_CHEAT=halt\nTEST_MODE=gate"},
		{name: "harmless values", rc: "CLAUDE_CODE_CMD=claude\nPERMISSION_MODE=allowed-tools\nTEST_COMMAND="},
		{name: "the user's own file", user: "commands: {test: make}"},
		{name: "the user's own environment", env: []string{"TEST_COMMAND=make"}},
		{name: "replaced by the environment", rc: "TEST_COMMAND=evil", env: []string{"TEST_COMMAND=make"}},
		{name: "replaced by a flag", rc: "PERMISSION_MODE=bypass", flags: map[string]string{"PERMISSION_MODE": "allowed-tools"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Loader{Dir: t.TempDir(), Home: t.TempDir(), Env: test.env, Flags: test.flags}
			if test.rc != "" {
				write(t, l.Dir, rcName, test.rc)
			}
			if test.user != "" {
				write(t, l.Home, ".config/ralph/config.yaml", test.user)
			}
			if u, err := l.Untrusted(); u != nil || err != nil {
				t.Errorf("%+v, %v", u, err)
			}
		})
	}
}

// A project may contain its agents more than the user does, but not less.
func TestUntrusted_sandboxWeakerThanTheUsersOwn_needsConsent(t *testing.T) {
	for _, test := range []struct {
		name, user, rc string
		env            []string
		want           []string
	}{
		{name: "nothing of the user's own", rc: "SANDBOX=off\nSANDBOX_NET=all"},
		{name: "stronger", user: "sandbox: {mode: landlock, net: ':443,:80'}", rc: "SANDBOX=bwrap\nSANDBOX_NET=:443"},
		{name: "the same", user: "sandbox: {mode: auto, net: ':443'}", rc: "SANDBOX=auto\nSANDBOX_NET=:443"},
		{name: "strongest instead of any", user: "sandbox: {mode: auto}", rc: "SANDBOX=podman"},
		{name: "off", user: "sandbox: {mode: landlock}", rc: "SANDBOX=off", want: []string{"SANDBOX=off is weaker than your own landlock"}},
		{name: "any instead of the strongest", user: "sandbox: {mode: bwrap}", rc: "SANDBOX=auto", want: []string{"SANDBOX=auto is weaker than your own bwrap"}},
		{name: "one that may not be the strongest", user: "sandbox: {mode: auto}", rc: "SANDBOX=landlock", want: []string{"SANDBOX=landlock is weaker than your own auto"}},
		{name: "network", user: "sandbox: {mode: auto, net: none}", rc: "SANDBOX_NET=:443", want: []string{"SANDBOX_NET=:443 is weaker than your own none"}},
		{name: "another port", user: "sandbox: {net: ':443'}", rc: "SANDBOX_NET=':443,:22'", want: []string{"SANDBOX_NET=:443,:22 is weaker than your own :443"}},
		{name: "a host of the user's own", user: "sandbox: {net: '*.example.com'}", rc: "SANDBOX_NET=api.example.com:443"},
		{name: "another host", user: "sandbox: {net: api.example.com}", rc: "SANDBOX_NET='*.example.com'", want: []string{"SANDBOX_NET=*.example.com is weaker than your own api.example.com"}},
		{name: "replaced by the environment", user: "sandbox: {mode: bwrap}", rc: "SANDBOX=off", env: []string{"SANDBOX=bwrap"}},
		{name: "no QA", user: "review: {qa: true}", rc: "QA=false", want: []string{"QA=false is weaker than your own true"}},
		{name: "more review", user: "review: {judges: [ux]}", rc: "QA=true\nJUDGES=security,ux"},
		{name: "fewer judges", user: "review: {judges: [ux, qa]}", rc: "JUDGES=ux", want: []string{"JUDGES=ux is weaker than your own ux,qa"}},
		{name: "a judge of the user's own is not named", user: "judges: [{name: Guard}]", rc: "JUDGES=ux", want: []string{"JUDGES=ux is weaker than your own Guard"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Loader{Dir: t.TempDir(), Home: t.TempDir(), Env: test.env}
			write(t, l.Dir, rcName, test.rc)
			write(t, l.Home, ".config/ralph/config.yaml", test.user)
			u, err := l.Untrusted()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(linesOf(u), test.want, strings.HasSuffix) {
				t.Errorf("%q, want %q", linesOf(u), test.want)
			}
		})
	}
}

func TestTrust_coversJustThisContentInThisProject(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Dir, rcName, "MODEL=a\nTEST_COMMAND='make test'\n")
	write(t, l.Dir, yamlName, "commands: {lint: make lint}")
	u, err := l.Untrusted()
	if err != nil {
		t.Fatal(err)
	}
	want := []Untrusted{{File: rcName, Lines: []string{".ralphrc:2: TEST_COMMAND=make test"}},
		{File: yamlName, Lines: []string{".ralph/config.yaml:1: LINT_COMMAND=make lint"}}}
	if diff := cmp.Diff(want, u, cmpopts.IgnoreFields(Untrusted{}, "Hash")); diff != "" {
		t.Fatal(diff)
	}
	for range 2 { // a second time changes nothing
		if err := trustAll(l, u); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(l.Home, ".local/state/ralph/trusted", u[0].Hash)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}

	trusted := func(l Loader) bool {
		t.Helper()
		u, err := l.Untrusted()
		if err != nil {
			t.Fatal(err)
		}
		return u == nil
	}
	if !trusted(l) {
		t.Error("not trusted after Trust")
	}
	write(t, l.Dir, rcName, "# moved\n\nTEST_COMMAND=\"make test\"\nMODEL=b\n")
	if !trusted(l) {
		t.Error("a comment or another option cost the trust")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(l.Dir, link); err != nil {
		t.Fatal(err)
	}
	if !trusted(Loader{Dir: link, Home: l.Home}) {
		t.Error("not trusted through a symbolic link")
	}
	if trusted(Loader{Dir: l.Dir, Home: t.TempDir()}) {
		t.Error("trusted by another user")
	}
	copied := Loader{Dir: t.TempDir(), Home: l.Home}
	write(t, copied.Dir, rcName, "TEST_COMMAND='make test'\n")
	write(t, copied.Dir, yamlName, "commands: {lint: make lint}")
	if trusted(copied) {
		t.Error("trusted in another project")
	}
	write(t, l.Dir, rcName, "TEST_COMMAND='make  test'\n")
	if trusted(l) {
		t.Error("trusted with another command")
	}
}

func TestTrust_settingIsGoneOrNew_asksOnlyForTheNew(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Dir, rcName, "TEST_COMMAND='make test'\nLINT_COMMAND='make lint'\nANTI_CHEAT=warn\n")
	write(t, l.Dir, yamlName, "checks:\n  - {name: a, command: 'true'}\n  - {name: b, command: 'true'}\n")
	u, err := l.Untrusted()
	if err != nil || len(linesOf(u)) != 5 {
		t.Fatal(u, err)
	}
	if err := trustAll(l, u); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, rc, yaml string
		want           []string
	}{
		{"a line is gone", "LINT_COMMAND='make lint'\n", "", nil},
		{"one is new", "TEST_COMMAND='make test'\nBUILD_COMMAND=make\n", "", []string{".ralphrc:2: BUILD_COMMAND=make"}},
		{"one is another", "TEST_COMMAND='make test'\nLINT_COMMAND='make x'\n", "", []string{".ralphrc:2: LINT_COMMAND=make x"}},
		{"a check of the list is gone", "", "checks: [{name: a, command: 'true'}]", []string{".ralph/config.yaml:1: checks.a=true"}},
	} {
		write(t, l.Dir, rcName, test.rc)
		write(t, l.Dir, yamlName, test.yaml)
		u, err := l.Untrusted()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, linesOf(u)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestUntrusted_showsTheCommandAfterExpansion(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir(), Env: []string{"X=one"}}
	write(t, l.Dir, rcName, `TEST_COMMAND="$X"`)
	u, err := l.Untrusted()
	if err != nil || linesOf(u)[0] != ".ralphrc:1: TEST_COMMAND=one" {
		t.Fatal(u, err)
	}
	if err := trustAll(l, u); err != nil {
		t.Fatal(err)
	}
	l.Env = []string{"X=two"}
	if u, err := l.Untrusted(); err != nil || u == nil {
		t.Errorf("trusted with another value: %v", err)
	}
}

func TestUntrusted_whatHides_isShown(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Dir, rcName, "TEST_COMMAND='make  test \u00a0#'\n")
	write(t, l.Dir, yamlName, "checks:\n  - {name: a, command: 'true e\u0301'}\n")
	u, err := l.Untrusted()
	want := []string{".ralphrc:1: TEST_COMMAND=make␣␣test <U+00A0>#", ".ralph/config.yaml:2: checks.a=true e<U+0301>"}
	if err != nil || !slices.Equal(linesOf(u), want) {
		t.Errorf("%q, %v", linesOf(u), err)
	}
}

func TestClaim_anotherIDOrProject_isNotAgreedTo(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	if err := l.Trust(l.Claim("x", "shown")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		claim Untrusted
		want  bool
	}{
		{l.Claim("x", "shown otherwise"), true},
		{l.Claim("y", "shown"), false},
		{Loader{Dir: t.TempDir(), Home: l.Home}.Claim("x", "shown"), false},
	} {
		if known, err := l.Trusted(test.claim); known != test.want || err != nil {
			t.Errorf("%+v: %v, %v", test.claim, known, err)
		}
	}
}

func TestUntrusted_withoutAStateFolderAsks(t *testing.T) {
	l := Loader{Dir: t.TempDir()}
	write(t, l.Dir, rcName, "TEST_COMMAND=make")
	u, err := l.Untrusted()
	if err != nil || u == nil {
		t.Fatal(u, err)
	}
	if err := trustAll(l, u); err == nil {
		t.Error("recorded nowhere")
	}
}

func TestUntrusted_badFileIsAnError(t *testing.T) {
	l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
	write(t, l.Dir, rcName, "TEST_COMMAND=$(x)")
	if u, err := l.Untrusted(); err == nil || u != nil {
		t.Errorf("%+v, %v", u, err)
	}
}

func TestUntrusted_settingUnderAnotherName_isShownAsWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".ralphrc"), []byte("AGENT_CMD=mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := Loader{Dir: dir, Env: []string{"HOME=" + t.TempDir()}}
	u, err := l.Untrusted()
	if err != nil || u == nil || len(linesOf(u)) != 1 || linesOf(u)[0] != ".ralphrc:1: AGENT_CMD=mine" {
		t.Errorf("%+v, %v", u, err)
	}
}

func linesOf(all []Untrusted) (lines []string) {
	for _, u := range all {
		lines = append(lines, u.Lines...)
	}
	return lines
}

func trustAll(l Loader, all []Untrusted) error {
	for _, u := range all {
		if err := l.Trust(u); err != nil {
			return err
		}
	}
	return nil
}
