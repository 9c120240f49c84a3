package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/state/option"
)

// Whoever consents must see where messages go, but never a password.
func TestUntrusted_secretOfAProjectFile_isNotShown(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".ralphrc"), []byte("NOTIFY=generic+https://example.com/hook,generic+https://ann:correct-horse@example.com\nFLEET=nats://ann:correct-horse@build1:4222\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	u, err := Loader{Dir: dir, Env: []string{"HOME=" + t.TempDir()}}.Untrusted()
	if err != nil || u == nil {
		t.Fatalf("%+v, %v", u, err)
	}
	if got := strings.Join(linesOf(u), "; "); strings.Contains(got, "correct-horse") || !strings.Contains(got, "https://example.com/...") ||
		!strings.Contains(got, "@example.com") || !strings.Contains(got, "FLEET=nats://...@build1:4222") {
		t.Error(got)
	}
}

// Each address of a list may have a password. A command is no address: people agree to all of it.
func TestDisplay_ofAnAddress_leavesOutWhatStandsBeforeTheHost(t *testing.T) {
	for rc, want := range map[string]string{
		"FLEET=tls://ann:correct-horse@a:4222,tls://ann:correct-horse@b:4222":             "FLEET=tls://...@a:4222,tls://...@b:4222",
		"FLEET=ann:correct-horse@a:4222,horse@b:1":                                        "FLEET=...@a:4222,...@b:1",
		"NOTIFY=generic+https://h@example.com/x,generic+https://ann:ho%20rse@example.com": "NOTIFY adds generic+https://...@example.com/..., generic+https://...@example.com",
		"TEST_COMMAND='x://&horse&@y'":                                                    "TEST_COMMAND=x://&horse&@y",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".ralphrc"), []byte(rc+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		l := Loader{Dir: dir, Env: []string{"HOME=" + t.TempDir()}}
		u, err := l.Untrusted()
		if err != nil || u == nil || !slices.Equal(linesOf(u), []string{".ralphrc:1: " + want}) {
			t.Errorf("%+v, %v; want %s", u, err, want)
		}
	}
}

// Consent needs the service and the server. Of some services, what stands where others have a server is a key.
func TestUntrusted_addressesOfMessages_showServiceAndServerOnly(t *testing.T) {
	for rc, want := range map[string]string{
		"NOTIFY=smtp://HORSE:HORSE@127.0.0.1:25,desktop,ntfy://HORSE:HORSE@localhost/HORSE":            "NOTIFY adds smtp://...@127.0.0.1:25, ntfy://...@localhost/...",
		"NOTIFY=discord://HORSE@HORSE,gotify://h.example/HORSE/,generic+https://h.example?token=HORSE": "NOTIFY adds discord://..., gotify://h.example/..., generic+https://h.example/...",
		"NOTIFY=pushbullet://HORSE,slack://hook:HORSE@webhook,wecom://HORSE,ntfy://[::1]:80/HORSE":     "NOTIFY adds pushbullet://..., slack://..., wecom://..., ntfy://[::1]:80/...",
		"NOTIFY=https://discord.com/api/webhooks/4711/HORSE":                                           "NOTIFY adds https://discord.com/...",
		"NOTIFY=telegram://1:HORSE@telegram?chats=HORSE,HORSE":                                         "NOTIFY adds telegram://...@telegram/..., ...",
		"NOTIFY=smtp://a:HORSE/HORSE@h.example":                                                        "NOTIFY adds ...",
		"NOTIFY=signal://h.example/HORSE?token=HORSE&Host=evil.example":                                "NOTIFY adds signal://h.example/...?Host=evil.example",
		"NOTIFY=HORSE,nfty://HORSE%,(x,ntfy://h.example)":                                              "NOTIFY adds ..., ..., ..., ntfy://h.example)",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".ralphrc"), []byte(strings.Replace(rc, "=", "='", 1)+"'\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		l := Loader{Dir: dir}
		c, _, err := l.Load()
		if err != nil {
			t.Fatal(err)
		}
		if u := l.claims(c); !slices.Equal(linesOf(u), []string{".ralphrc:1: " + want}) { // some are refused
			t.Errorf("%+v; want %s", u, want)
		}
	}
}

// Nobody should agree to what the next run refuses.
func TestUntrusted_whatARunRefuses_isAnError(t *testing.T) {
	for rc, want := range map[string]string{
		"NOTIFY=ntfy://":       ".ralphrc:1: NOTIFY: entry 1 names no service; allowed are desktop, and addresses such as ntfy://ntfy.sh/my-topic of " + strings.Join(Services(), ", "),
		"FLEET_CREDS=/no/such": ".ralphrc:1: FLEET_CREDS: stat /no/such: no such file or directory",
	} {
		l := Loader{Dir: t.TempDir(), Home: t.TempDir()}
		write(t, l.Dir, rcName, rc)
		if u, err := l.Untrusted(); err == nil || err.Error() != want {
			t.Errorf("%+v, %v; want %s", u, err, want)
		}
	}
}

func TestLoad_badValueOfASecret_isNotShown(t *testing.T) {
	for rc, want := range map[string]string{
		"FLEET=nats://ann:correct#horse@h":   `.ralphrc:1: FLEET: "nats://...@h" is not local, ` + option.ServersForm,
		"NOTIFY=-ntfy://ann:correct-horse@h": ".ralphrc:1: NOTIFY: the value is not a comma list with balanced parentheses and no entry that starts with -",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".ralphrc"), []byte(rc), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := (Loader{Dir: dir, Env: []string{"HOME=" + t.TempDir()}}).Load(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
