package runner

import (
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/receipt"
	"ralph/state"
)

// signs gives the repository a key to sign with, and returns the line that allows it.
func (b *bench) signs() string {
	b.t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		b.t.Skip("ssh-keygen is not installed")
	}
	key := filepath.Join(b.t.TempDir(), "id")
	w := world.Folder{TB: b.t, Dir: b.dir}
	if out, code := w.Run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key); code != 0 {
		b.t.Fatal(out)
	}
	b.git("config", "gpg.format", "ssh")
	b.git("config", "user.signingkey", key)
	b.o.Receipts, b.o.CommitPrefix = true, "[ralph]"
	return "ann@example.org " + w.In(filepath.Dir(key)).Read("id.pub")
}

// receipts returns what the receipts from a commit on say. They must hold.
func (b *bench) receipts(from, signer string) []receipt.Row {
	b.t.Helper()
	span, err := receipt.Resolve(b.t.Context(), b.dir, from+"..")
	if err != nil {
		b.t.Fatal(err)
	}
	rows, failed, err := span.Check(b.t.Context(), receipt.Policy{Signers: []string{signer}})
	for _, row := range rows {
		failed = append(failed, row.Failures...)
	}
	if err != nil || len(failed) > 0 {
		b.t.Errorf("%v, %q", err, failed)
	}
	return rows
}

func TestRun_receipts_sayWhatEachTurnDid(t *testing.T) {
	t.Parallel()
	b := newBench(t, "leaver", "[ ] one", "[ ] two")
	b.write("check.sh", "test -e work.txt")
	b.inGit()
	signer, first := b.signs(), strings.TrimSpace(b.git("rev-parse", "HEAD"))
	b.check("sh check.sh")
	b.o.AutoCommit = true
	wantEnd(t, b.run(t.Context()), "complete", 0)
	rows := b.receipts(first, signer)
	if len(rows) != 2 {
		t.Fatalf("%d receipts", len(rows))
	}
	for i, title := range []string{"one", "two"} {
		if r := rows[i]; r.Signer != "ann@example.org" || r.Run != b.d.RunID || r.Iteration != i+1 || r.Text != title ||
			r.Agent != "claude" || len(r.Prompt) != 64 || len(r.Policy.Checks) != 1 || r.Policy.Checks[0].Command != "sh check.sh" ||
			len(r.Results.Checks) != 1 || r.Results.Checks[0].Verdict != "passed" || r.Cost.CostUSD == 0 {
			t.Errorf("receipt of %s: %+v", title, r)
		}
	}
	if green := rows[0].Results.Green; len(green) != 1 || green[0] != "check test" {
		t.Errorf("turned green: %q", green)
	}
}

func TestRun_commitsOfTheAgent_areInTheReceiptOfItsTurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, "plan-committer", "[ ] one")
	b.inGit()
	signer, first := b.signs(), strings.TrimSpace(b.git("rev-parse", "HEAD"))
	b.o.AutoCommit = true
	b.run(t.Context())
	if rows := b.receipts(first, signer); len(rows) == 0 || rows[0].Iteration != 1 && rows[0].In == "" {
		t.Errorf("%+v", rows)
	}
}

func TestRun_receiptThatCannotBeSigned_isToldOnceAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, "leaver", "[ ] one", "[ ] two")
	b.inGit()
	b.signs()
	b.git("config", "user.signingkey", filepath.Join(t.TempDir(), "gone"))
	b.o.AutoCommit = true
	wantEnd(t, b.run(t.Context()), "complete", 0)
	told := b.found(state.FoundByChecks)
	if len(told) != 1 || !strings.Contains(told[0], "gets no receipt: sign: ssh-keygen") {
		t.Errorf("told: %q", told)
	}
	if refs := b.git("for-each-ref", "refs/notes"); refs != "" {
		t.Errorf("notes: %s", refs)
	}
}

func TestRun_worktrees_eachCommitThatLandsHasAReceiptWithItsReview(t *testing.T) {
	if testing.Short() {
		t.Skip("long: worktrees")
	}
	t.Parallel()
	b := newBeside(t, "beside-both-pass", "a", "b", "c")
	b.o.QA = true
	signer, first := b.signs(), strings.TrimSpace(b.git("rev-parse", "HEAD"))
	wantEnd(t, b.run(t.Context()), "plan_complete", 0)
	rows := b.receipts(first, signer)
	if len(rows) != 3 {
		t.Fatalf("%d receipts", len(rows))
	}
	for _, r := range rows {
		if len(r.Reviews) != 1 || r.Reviews[0].Name != "qa" || !r.Reviews[0].Passes() || r.Text == "" || r.Agent != "claude" {
			t.Errorf("receipt: %+v", r.Predicate)
		}
	}
}

func TestRun_withoutAKey_receiptsAreNotSigned(t *testing.T) {
	t.Parallel()
	b := newBench(t, "leaver", "[ ] one")
	b.inGit()
	b.o.AutoCommit, b.o.Receipts = true, true
	wantEnd(t, b.run(t.Context()), "complete", 0)
	var e struct {
		Payload    string
		Signatures []any
	}
	if err := json.Unmarshal([]byte(b.git("notes", "--ref=ralph", "show", "HEAD")), &e); err != nil || len(e.Signatures) != 0 {
		t.Fatal(err, e)
	}
	text, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil || strings.Contains(string(text), "# ") || strings.Contains(string(text), "work.txt") {
		t.Errorf("%v; a receipt has no prompt and no source:\n%s", err, text)
	}
}
