package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/runner/gate"
	"ralph/runner/receipt"
	"ralph/runner/sandbox"
	"ralph/state"
)

const (
	testCheck  = "checks: [{name: test, command: sh test.sh}]\n"
	fullPolicy = testCheck + "agents: [claude]\nsandbox: [bwrap, podman]\nreviewers: [qa]\n"
)

// sealed is a project with three commits that have receipts, on top of base.
type sealed struct {
	*pastWorld
	home, base string
	commits    []string
}

// variants of who may sign, and of who committed.
var variants = []string{"the policy names the signers", "git names the signers", "the agent has commits of its own"}

func newSealed(t *testing.T, variant string) *sealed {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	w := &sealed{pastWorld: newEmptyWorld(t), home: os.Getenv("HOME")}
	t.Setenv("SSH_AUTH_SOCK", "")
	for _, key := range []string{"id", "other"} {
		w.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", key, "-f", w.key(key))
	}
	w.git("config", "--global", "gpg.format", "ssh")
	w.git("config", "--global", "user.signingkey", w.key("id"))
	policy := fullPolicy
	if variant == variants[1] {
		w.allow(w.signer("id"))
	} else {
		policy += "signers: ['" + w.signer("id") + "']\n"
	}
	w.write(receipt.PolicyFile, policy)
	w.write("test.sh", "echo 'ok 1 - a'\n")
	w.commit("first", "")
	w.base = w.git("rev-parse", "HEAD")
	for i := range 3 {
		p := predicate(i + 1)
		if variant == variants[2] && i > 0 {
			p.Base = w.git("rev-parse", "HEAD")
			w.write(fmt.Sprintf("own%d.txt", i), "own")
			w.commit("own", "")
		}
		w.write(fmt.Sprintf("f%d.txt", i), "text")
		w.commit(fmt.Sprintf("task %d", i+1), "run1")
		w.commits = append(w.commits, w.receipt(p))
	}
	return w
}

func predicate(i int) receipt.Predicate {
	return receipt.Predicate{Ralph: "devel", Run: "run1", Iteration: i, Written: "2026-01-02T03:04:05Z",
		TaskID: fmt.Sprint("T", i), Text: "Write it", SHA256: receipt.Digest("Write it"),
		Agent: "claude",
		Policy: receipt.InForce{Sandbox: sandbox.Settings{Sandbox: "bwrap"}, AntiCheat: "revert",
			Checks: []gate.Check{{Name: "test", Command: "sh test.sh"}}},
		Results: receipt.Results{Checks: []receipt.Ran{{Name: "test", Verdict: "passed", Tests: 1}}},
		Reviews: []state.Verdict{{Name: "qa", Verdict: "pass"}}, Cost: state.Usage{CostUSD: 0.1}}
}

func (w *sealed) key(name string) string { return filepath.Join(w.home, name) }

func (w *sealed) signer(key string) string {
	public, err := os.ReadFile(w.key(key) + ".pub")
	if err != nil {
		w.t.Fatal(err)
	}
	return key + "@example.org " + strings.TrimSpace(string(public))
}

func (w *sealed) allow(line string) {
	if err := os.WriteFile(w.key("allowed"), []byte(line+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.git("config", "--global", "gpg.ssh.allowedSignersFile", "~/allowed")
}

func (w *sealed) run(program string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = w.Dir
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%s %q: %v", program, args, err)
	}
	return string(out)
}

func (w *sealed) commit(message, run string) {
	w.git("add", "-A")
	if run != "" {
		message += "\n\nRalph-Run: " + run
	}
	w.git("commit", "-q", "--no-gpg-sign", "-m", message)
}

// receipt writes one for HEAD.
func (w *sealed) receipt(p receipt.Predicate) string {
	w.t.Helper()
	head := w.git("rev-parse", "HEAD")
	if err := receipt.FindSigner(context.Background(), w.Dir).Write(context.Background(), head, p); err != nil {
		w.t.Fatal(err)
	}
	return head
}

// copied is the same in a folder of its own.
func (w *sealed) copied(t *testing.T) *sealed {
	c := *w
	c.commits = slices.Clone(w.commits)
	world := &pastWorld{t: t}
	f := *w.Factory
	world.Factory = &f
	world.Factory.Out, world.Factory.Err, world.Dir = &world.out, &world.err, filepath.Join(t.TempDir(), "p")
	if err := os.CopyFS(world.Dir, os.DirFS(w.Dir)); err != nil {
		t.Fatal(err)
	}
	c.pastWorld = world
	return &c
}

func (w *sealed) note(commit string) string { return w.git("notes", "--ref=ralph", "show", commit) }

func (w *sealed) setNote(commit, text string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "note")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.git("notes", "--ref=ralph", "add", "-f", "--allow-empty", "-C", w.git("hash-object", "-w", file), commit)
}

// dsse is an envelope.
type dsse struct {
	Payload     string `json:"payload"`
	PayloadType string `json:"payloadType"`
	Signatures  []sig  `json:"signatures"`
}

type sig struct {
	Sig string `json:"sig"`
}

// edit changes the envelope of a commit.
func (w *sealed) edit(commit string, change func(e *dsse)) {
	var e dsse
	if err := json.Unmarshal([]byte(w.note(commit)), &e); err != nil {
		w.t.Fatal(err)
	}
	change(&e)
	text, _ := json.Marshal(e)
	w.setNote(commit, string(text))
}

func (w *sealed) payload(commit string) (text string) {
	w.edit(commit, func(e *dsse) {
		data, err := base64.StdEncoding.DecodeString(e.Payload)
		if err != nil {
			w.t.Fatal(err)
		}
		text = string(data)
	})
	return text
}

func pae(text string) string {
	return fmt.Sprintf("DSSEv1 28 application/vnd.in-toto+json %d %s", len(text), text)
}

// sign gives a commit a payload, with a signature of a key for what is signed.
func (w *sealed) sign(commit, text, key, namespace, signed string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "signed")
	if err := os.WriteFile(file, []byte(signed), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.run("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", w.key(key), file)
	armored, err := os.ReadFile(file + ".sig")
	if err != nil {
		w.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(armored)), "\n")
	e := dsse{base64.StdEncoding.EncodeToString([]byte(text)), "application/vnd.in-toto+json",
		[]sig{{strings.Join(lines[1:len(lines)-1], "")}}}
	note, _ := json.Marshal(e)
	w.setNote(commit, string(note))
}

// resign signs a receipt with the right key, after a change.
func (w *sealed) resign(commit string, change func(s *receipt.Statement)) {
	var s receipt.Statement
	if err := json.Unmarshal([]byte(w.payload(commit)), &s); err != nil {
		w.t.Fatal(err)
	}
	change(&s)
	text, _ := json.Marshal(s)
	w.sign(commit, string(text), "id", "ralph-receipt", pae(string(text)))
}

func (w *sealed) predicate(change func(p *receipt.Predicate)) {
	w.resign(w.commits[2], func(s *receipt.Statement) { change(&s.Predicate) })
}

// tampering changes a project so that its receipts must not hold. It returns the range, empty: from the base.
type tampering struct {
	name string
	want string
	do   func(w *sealed) string
}

func tamperings() []tampering {
	some := func(do func(w *sealed)) func(*sealed) string { return func(w *sealed) string { do(w); return "" } }
	carry := func(w *sealed, from string) { w.git("notes", "--ref=ralph", "copy", "-f", from, "HEAD") }
	return []tampering{
		{"commit amended", "has no receipt", some(func(w *sealed) { w.git("commit", "-q", "--amend", "-m", "other") })},
		{"commit amended, note carried over", "has a receipt for another commit", some(func(w *sealed) {
			w.git("commit", "-q", "--amend", "-m", "other")
			carry(w, w.commits[2])
		})},
		{"files changed, note carried over", "has a receipt for another commit", some(func(w *sealed) {
			w.write("f1.txt", "planted")
			w.git("commit", "-q", "-a", "--amend", "--no-edit")
			carry(w, w.commits[2])
		})},
		{"commit dropped", "has no receipt", some(func(w *sealed) {
			w.git("rebase", "-q", "--onto", w.commits[1]+"^", w.commits[1])
		})},
		{"commit dropped, notes carried over", "has a receipt for another commit", some(func(w *sealed) {
			w.git("rebase", "-q", "--onto", w.commits[1]+"^", w.commits[1])
			carry(w, w.commits[2])
		})},
		{"commits reordered, notes carried over", "has a receipt for another commit", some(func(w *sealed) {
			w.git("reset", "-q", "--hard", w.base)
			for _, i := range []int{1, 0} {
				w.git("cherry-pick", w.commits[i])
				carry(w, w.commits[i])
			}
		})},
		{"a person's commit on top", "has no receipt", some(func(w *sealed) { w.write("x", "x"); w.commit("by hand", "") })},
		{"a person's commit in between", "has no receipt", some(func(w *sealed) {
			w.write("x", "x")
			w.commit("by hand", "")
			w.write("y", "y")
			w.commit("task 4", "run1")
			w.receipt(predicate(4))
		})},
		{"a commit in between that the receipt does not name", "does not continue from", some(func(w *sealed) {
			w.write("x", "x")
			w.commit("by hand", "")
			w.write("y", "y")
			w.commit("task 4", "run1")
			p := predicate(4)
			p.Base = w.commits[2]
			w.commits[2] = w.receipt(p)
			w.predicate(func(p *receipt.Predicate) { p.Commits = nil })
		})},
		{"a merge in between", "is a merge", some(func(w *sealed) {
			w.git("checkout", "-q", "-b", "side", w.base)
			w.write("x", "x")
			w.commit("side", "run1")
			w.receipt(predicate(9))
			w.git("checkout", "-q", "main")
			w.git("merge", "-q", "--no-edit", "side")
			w.receipt(predicate(4))
		})},
		{"empty range", "nothing to verify", func(*sealed) string { return "HEAD..HEAD" }},
		{"reversed range", "nothing to verify", func(w *sealed) string { return "HEAD.." + w.base }},
		{"note removed", "has no receipt", some(func(w *sealed) { w.git("notes", "--ref=ralph", "remove", w.commits[1]) })},
		{"all notes removed", "has no receipt", some(func(w *sealed) { w.git("update-ref", "-d", receipt.Ref) })},
		{"notes in another ref", "has no receipt", some(func(w *sealed) {
			w.git("update-ref", "refs/notes/commits", receipt.Ref)
			w.git("update-ref", "-d", receipt.Ref)
		})},
		{"receipt of another commit", "has a receipt for another commit", some(func(w *sealed) { w.setNote(w.commits[1], w.note(w.commits[0])) })},
		{"receipts swapped", "has a receipt for another commit", some(func(w *sealed) {
			a, b := w.note(w.commits[0]), w.note(w.commits[1])
			w.setNote(w.commits[0], b)
			w.setNote(w.commits[1], a)
		})},
		{"receipt of another repository", "has a receipt for another commit", some(func(w *sealed) {
			other := w.copied(w.t)
			other.write("x", "x")
			other.commit("elsewhere", "run1")
			other.receipt(predicate(3))
			w.setNote(w.commits[2], other.note("HEAD"))
		})},
		{"receipt of another run", "has a receipt of another run", some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Run = "run2" })
		})},
		{"receipt that begins earlier", "does not continue from", some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Base = w.base })
		})},
		{"receipt with another tree", "has a receipt for another commit", some(func(w *sealed) {
			w.resign(w.commits[2], func(s *receipt.Statement) { s.Subject[0].Digest.Tree = w.git("rev-parse", w.base+"^{tree}") })
		})},
		{"receipt with a second subject", "has a receipt for another commit", some(func(w *sealed) {
			w.resign(w.commits[2], func(s *receipt.Statement) { s.Subject = append(s.Subject, s.Subject[0]) })
		})},
		{"another kind of statement", "of an unknown kind", some(func(w *sealed) {
			w.resign(w.commits[2], func(s *receipt.Statement) { s.PredicateType = "https://slsa.dev/provenance/v1" })
		})},
		{"another key", "is signed by nobody who may", some(func(w *sealed) {
			text := w.payload(w.commits[2])
			w.sign(w.commits[2], text, "other", "ralph-receipt", pae(text))
		})},
		{"signature stripped", "has 0 signatures instead of one", some(func(w *sealed) { w.edit(w.commits[1], func(e *dsse) { e.Signatures = []sig{} }) })},
		{"a second signature", "has 2 signatures instead of one", some(func(w *sealed) {
			w.edit(w.commits[1], func(e *dsse) { e.Signatures = append(e.Signatures, e.Signatures[0]) })
		})},
		{"signature of another receipt", "has a signature that does not fit", some(func(w *sealed) {
			var other []sig
			w.edit(w.commits[0], func(e *dsse) { other = e.Signatures })
			w.edit(w.commits[1], func(e *dsse) { e.Signatures = other })
		})},
		{"payload changed, old signature", "has a signature that does not fit", some(func(w *sealed) {
			text := strings.Replace(w.payload(w.commits[1]), `"claude"`, `"codex"`, 1)
			w.edit(w.commits[1], func(e *dsse) { e.Payload = base64.StdEncoding.EncodeToString([]byte(text)) })
		})},
		{"wrong payloadType", "of an unknown kind", some(func(w *sealed) {
			w.edit(w.commits[1], func(e *dsse) { e.PayloadType = "application/json" })
		})},
		{"wrong namespace", "has a signature that does not fit", some(func(w *sealed) {
			text := w.payload(w.commits[1])
			w.sign(w.commits[1], text, "id", "git", pae(text))
		})},
		{"signed without the encoding of DSSE", "has a signature that does not fit", some(func(w *sealed) {
			text := w.payload(w.commits[1])
			w.sign(w.commits[1], text, "id", "ralph-receipt", text)
		})},
		{"key that is twice in the payload", "is not as ralph writes it", some(func(w *sealed) {
			text := strings.Replace(w.payload(w.commits[1]), `"run":"run1"`, `"run":"run2","run":"run1"`, 1)
			w.sign(w.commits[1], text, "id", "ralph-receipt", pae(text))
		})},
		{"unknown key in the payload", "is not as ralph writes it", some(func(w *sealed) {
			text := strings.Replace(w.payload(w.commits[1]), `"run":`, `"RUN":"x","run":`, 1)
			w.sign(w.commits[1], text, "id", "ralph-receipt", pae(text))
		})},
		{"key that is twice in the envelope", "is not as ralph writes it", some(func(w *sealed) {
			w.setNote(w.commits[1], strings.Replace(w.note(w.commits[1]), `{"payload":`, `{"payload":"e30=","payload":`, 1))
		})},
		{"text after the envelope", "that is no receipt", some(func(w *sealed) { w.setNote(w.commits[1], w.note(w.commits[1])+"{}") })},
		{"note that is not JSON", "that is no receipt", some(func(w *sealed) { w.setNote(w.commits[1], "\x00\xff\x1b[31m") })},
		{"empty note", "too large for a receipt, or empty", some(func(w *sealed) { w.setNote(w.commits[1], "") })},
		{"oversized note", "too large for a receipt", some(func(w *sealed) {
			w.setNote(w.commits[1], w.note(w.commits[1])+strings.Repeat(" ", 2<<20))
		})},
		{"note that is a statement without an envelope", "that is no receipt", some(func(w *sealed) {
			w.setNote(w.commits[1], w.payload(w.commits[1]))
		})},
		{"no sandbox", "was made with SANDBOX=off; the policy asks for bwrap or podman", some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Policy.Sandbox.Sandbox = "off" })
		})},
		{"another agent", `was made by "codex"; the policy allows claude`, some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Agent = "codex" })
		})},
		{"without the check", "was made without the required check test: sh test.sh", some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Policy.Checks = nil })
		})},
		{"another command for the check", "was made without the required check test", some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Policy.Checks[0].Command = "true" })
		})},
		{"the check not required", "was made without the required check test", some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Policy.Checks[0].Optional = true })
		})},
		{"the check failed at the end", "the check test did not pass at the end: \"failed\"", some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Results.Checks[0].Verdict = "failed" })
		})},
		{"nobody has reviewed it", `task "T3" was not passed by qa`, some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Reviews = nil })
		})},
		{"the reviewer has concerns", `task "T3" was not passed by qa`, some(func(w *sealed) {
			w.predicate(func(p *receipt.Predicate) { p.Reviews[0].Verdict = "concerns" })
		})},
		{"a weaker policy on the branch", "was made with SANDBOX=off", some(func(w *sealed) {
			w.write(receipt.PolicyFile, strings.Replace(w.git("show", w.base+":"+receipt.PolicyFile), "bwrap", "landlock", 1))
			w.commit("task 4", "run1")
			p := predicate(4)
			p.Policy.Sandbox.Sandbox = "off"
			w.receipt(p)
		})},
		{"other signers on the branch", "is signed by nobody who may", some(func(w *sealed) {
			w.write(receipt.PolicyFile, testCheck+"signers: ['"+w.signer("other")+"']\n")
			w.commit("task 4", "run1")
			head := w.receipt(predicate(4))
			text := w.payload(head)
			w.sign(head, text, "other", "ralph-receipt", pae(text))
		})},
		{"the policy removed on the branch", "has no receipt", some(func(w *sealed) {
			w.git("rm", "-q", receipt.PolicyFile)
			w.commit("task 4", "run1")
		})},
	}
}

func TestVerify_whateverIsTamperedWith_doesNotPass(t *testing.T) {
	for i, variant := range variants {
		if i > 0 && testing.Short() {
			break // long: the same kinds with other signers and commits
		}
		w := newSealed(t, variant)
		w.want(0, "proven: ", "verify", w.base+"..")
		for _, kind := range tamperings() {
			t.Run(variant+"/"+kind.name, func(t *testing.T) {
				c := w.copied(t)
				span := kind.do(c)
				if span == "" {
					span = c.base + "..HEAD"
				}
				c.want(1, kind.want, "verify", span)
			})
		}
	}
}
