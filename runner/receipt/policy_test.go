package receipt

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ralph/internal/world"
	"ralph/runner/gate"
)

func TestMain(m *testing.M) { os.Exit(world.GitMain(m)) }

func TestPolicy_allKeys_areRead(t *testing.T) {
	got, err := parse(`
checks: [{name: test, command: go test ./...}]
reviewers: [qa]
sandbox: [bwrap]
agents: [claude, codex]
signers:
  - ann@example.org namespaces="ralph-receipt" ssh-ed25519 AAAA
`)
	want := Policy{File: PolicyFile, Checks: []gate.Check{{Name: "test", Command: "go test ./..."}},
		Reviewers: []string{"qa"}, Sandbox: []string{"bwrap"}, Agents: []string{"claude", "codex"},
		Signers: []string{`ann@example.org namespaces="ralph-receipt" ssh-ed25519 AAAA`}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// A policy protects: nothing in it is passed over.
func TestPolicy_whatItDoesNotUnderstand_isAnErrorWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "is not one mapping",
		"# nothing":                      "is not one mapping",
		"- a":                            "line 2: sequence was used where mapping is expected",
		"a: [b":                          "line 2: sequence end token ']' not found",
		"reviewer: [qa]":                 `line 2: unknown field "reviewer"`,
		"agents: [a]\n---\nsigners: [b]": "is not one mapping",
		"agents: [a]\nagents: [b]":       `line 3: mapping key "agents" already defined`,
		"agents: a":                      "line 2: ",
		"agents: []":                     "agents must be a list that is not empty",
		"signers:":                       "signers must be a list that is not empty",
		"signers: [[a]]":                 "line 2: cannot unmarshal",
		"checks: [{name: a}]":            `check "a": it needs a command`,
		"checks: [{name: a, command: b, kind: c}]":    `check "a": unknown kind "c"`,
		"checks:\n  - {name: a, command: b, sudo: x}": `line 3: unknown field "sudo"`,
		"a: &x [b]\nagents: *x":                       "aliases are not allowed",
		"agents: " + strings.Repeat("[", 200):         "nested too deeply",
	} {
		f := world.Folder{TB: t, Dir: t.TempDir()}
		f.Git("init", "-q")
		f.Write(PolicyFile, "# a policy\n"+text)
		f.Commit("base")
		_, err := Range{dir: f.Dir, Base: f.Git("rev-parse", "HEAD")}.Policy(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}
