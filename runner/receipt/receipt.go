// Package receipt states what a turn of a run did, in a form that a stranger can check: an in-toto statement about a
// commit in a DSSE envelope, signed with the SSH key that git signs with, and kept as a git note of the commit.
//
//	Write: turn.Result --> Statement --> envelope --> refs/notes/ralph
//	Check: the commits of a range --> their notes --> signature, chain, policy --> a line for each failure
//
// A receipt has no source text, no prompt and no secret.
package receipt

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"ralph/runner/gate"
	"ralph/runner/git/command"
	"ralph/runner/roles"
	"ralph/runner/sandbox"
	"ralph/state"
)

// What an in-toto statement says about itself.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "urn:ralph:receipt:v1"
)

// Statement is an in-toto statement, version 1.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"` // one
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is the commit.
type Subject struct {
	Name   string  `json:"name"`
	Digest Digests `json:"digest"`
}

// Digests are the object ids of a commit and of its tree.
type Digests struct {
	Commit string `json:"gitCommit"`
	Tree   string `json:"gitTree"`
}

// Predicate says how the commit came about.
type Predicate struct {
	Ralph     string `json:"ralph"` // its version
	Run       string `json:"run"`
	Iteration int    `json:"iteration"`
	Written   string `json:"written"` // RFC 3339
	TaskID    string `json:"task,omitempty"`
	Text      string `json:"taskText,omitempty"`
	SHA256    string `json:"taskSha256"` // of all of its text
	Base      string `json:"base"`       // the commit on which the turn began
	// Commits are those between Base and the subject, oldest first: the agent's own, which the receipt covers, too.
	Commits  []string        `json:"commits,omitempty"`
	Agent    string          `json:"agent"`
	Model    string          `json:"model,omitempty"`        // that the run asked for; empty: the agent's default
	Prompt   string          `json:"promptSha256,omitempty"` // of the prompt as the logs of the run keep it
	Policy   InForce         `json:"policy"`
	Results  Results         `json:"results"`
	Findings []Finding       `json:"findings,omitempty"`
	Reviews  []state.Verdict `json:"reviews,omitempty"` // without reasons
	Cost     state.Usage     `json:"cost"`
}

// InForce is the policy that was in force.
type InForce struct {
	Checks       []gate.Check     `json:"checks,omitempty"`
	TestMode     string           `json:"testMode,omitempty"`
	AntiCheat    string           `json:"antiCheat"`
	Sandbox      sandbox.Settings `json:"sandbox"`
	Permissions  string           `json:"permissions,omitempty"`
	AllowedTools []string         `json:"allowedTools,omitempty"`
	Review       roles.Review     `json:"review"`
}

// Results are what the checks said.
type Results struct {
	// Joined is true if the work was put on top of other work: the checks that are named here ran before that.
	Joined  bool     `json:"joined,omitempty"`
	Checks  []Ran    `json:"checks,omitempty"`
	Green   []string `json:"turnedGreen,omitempty"` // tests that were red before, and pass now
	Red     []string `json:"stillRed,omitempty"`
	Seconds float64  `json:"seconds"` // of the agent's call
}

// Ran is the run of a check.
type Ran struct {
	Name    string       `json:"name"`
	Verdict gate.Verdict `json:"verdict"`
	Tests   int          `json:"tests"` // that ran
	Failed  int          `json:"failed"`
	Skipped int          `json:"skipped"`
	Seconds float64      `json:"seconds"`
}

// Finding is what the audit found.
type Finding struct {
	Kind       string `json:"kind"`
	File       string `json:"file,omitempty"`
	Doubt      bool   `json:"doubt,omitempty"`
	AcceptedBy string `json:"acceptedBy,omitempty"` // the reviewer who called it justified; empty: nobody has
}

// maxNames bounds each list of tests.
const maxNames = 1000

// Digest is the SHA-256 of a text in hexadecimal.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ResultsOf says what the checks of a turn said.
func ResultsOf(rep gate.Report, green []string) Results {
	red := rep.RedTests()
	res := Results{Green: green[:min(len(green), maxNames)], Red: red[:min(len(red), maxNames)]}
	for _, r := range rep.Results {
		res.Checks = append(res.Checks, Ran{Name: r.Name, Verdict: r.Verdict, Tests: r.Tests.Tally().Ran,
			Failed: r.Tests.Failed, Skipped: r.Tests.Skipped, Seconds: r.Duration.Seconds()})
	}
	return res
}

// decode reads JSON that ralph wrote. Anything else is refused, such as a key that is written twice or is not known: two
// programs could read it in two ways.
func decode[T any](data []byte) (v T, err error) {
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("it is not JSON: %w", err)
	}
	same, err := json.Marshal(v)
	if err == nil && !bytes.Equal(same, data) {
		err = errors.New("it is not as ralph writes it")
	}
	return v, err
}

const (
	payloadType = "application/vnd.in-toto+json"
	namespace   = "ralph-receipt" // of the signatures, so that none for something else counts
	begin       = "-----BEGIN SSH SIGNATURE-----"
	end         = "-----END SSH SIGNATURE-----"
	// signTimeout is how long a key may take: some wait for a touch.
	signTimeout = 20 * time.Second
)

// envelope is one of DSSE.
type envelope struct {
	Payload     string      `json:"payload"` // base64
	PayloadType string      `json:"payloadType"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	Sig string `json:"sig"` // base64 of an SSH signature, as in ssh-keygen -Y sign
}

// pae is what is signed of a payload: DSSE's pre-authentication encoding.
func pae(payload string) string {
	return fmt.Sprintf("DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// Signer signs with the SSH key that git signs with.
type Signer struct {
	Why string // it cannot sign; empty: it can

	dir string
	key string // path of a key, or a public key for ssh-agent
}

// FindSigner reads from git's settings what git signs with. An agent may change them, so call it before one works.
func FindSigner(ctx context.Context, dir string) Signer {
	root, _ := command.Root(dir)
	s := Signer{dir: root, key: setting(ctx, dir, "user.signingkey")}
	if s.key == "" || setting(ctx, dir, "gpg.format") != "ssh" {
		s.Why = "git has no key to sign with (gpg.format=ssh, user.signingkey)"
	}
	return s
}

// setting is one of git; empty: it is not set.
func setting(ctx context.Context, dir, key string) string {
	value, _ := command.Line(ctx, dir, "config", "--type=path", "--get", key)
	return value
}

// seal puts a statement into an envelope, signed if there is a key.
func (s Signer) seal(ctx context.Context, st Statement) ([]byte, error) {
	payload, err := json.Marshal(st)
	if err == nil { // once more: bytes that are no UTF-8 are written in another way the first time
		err = json.Unmarshal(payload, &st)
	}
	if err == nil {
		payload, err = json.Marshal(st)
	}
	if err != nil {
		return nil, err
	}
	e := envelope{Payload: base64.StdEncoding.EncodeToString(payload), PayloadType: payloadType, Signatures: []signature{}}
	if s.Why == "" {
		sig, err := s.sign(ctx, pae(string(payload)))
		if err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
		e.Signatures = append(e.Signatures, signature{sig})
	}
	return json.Marshal(e)
}

func (s Signer) sign(ctx context.Context, data string) (sig string, err error) {
	key := s.key
	if public, literal := strings.CutPrefix(key, "key::"); literal || strings.HasPrefix(key, "ssh-") { // ssh-agent has the rest
		file, done, err := temp(public)
		if err != nil {
			return "", err
		}
		defer done()
		key = file
	}
	out, err := run(ctx, s.dir, data, "-Y", "sign", "-n", namespace, "-f", key)
	if err != nil {
		return "", err
	}
	sig = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(out), begin), end)
	return strings.ReplaceAll(strings.TrimSpace(sig), "\n", ""), nil
}

// signed returns whose signature an envelope has, by a file of allowed signers.
func signed(ctx context.Context, dir, allowed string, e envelope, payload string) (who string, err error) {
	if n := len(e.Signatures); n != 1 {
		return "", fmt.Errorf("has %d signatures instead of one", n)
	}
	file, done, err := temp(begin + "\n" + e.Signatures[0].Sig + "\n" + end)
	if err != nil {
		return "", err
	}
	defer done()
	out, err := run(ctx, dir, "", "-Y", "find-principals", "-s", file, "-f", allowed)
	if who, _, _ = strings.Cut(out, "\n"); err != nil {
		return "", errors.New("is signed by nobody who may")
	}
	if _, err = run(ctx, dir, pae(payload), "-Y", "verify", "-n", namespace, "-I", who, "-s", file, "-f", allowed); err != nil {
		return "", errors.New("has a signature that does not fit")
	}
	return who, nil
}

// run runs ssh-keygen, which asks nobody for a passphrase.
func run(ctx context.Context, dir, stdin string, args ...string) (string, error) {
	ctx, done := context.WithTimeout(ctx, signTimeout)
	defer done()
	return command.Call{Program: "ssh-keygen", Dir: dir, Stdin: stdin, Env: []string{"SSH_AUTH_SOCK=" + os.Getenv("SSH_AUTH_SOCK"),
		"SSH_ASKPASS=/bin/false", "SSH_ASKPASS_REQUIRE=force"}}.Run(ctx, args...)
}

// temp writes a text to a file that done removes.
func temp(text string) (path string, done func(), err error) {
	f, err := os.CreateTemp("", "ralph-receipt-")
	if err != nil {
		return "", nil, err
	}
	_, err = f.WriteString(text + "\n")
	return f.Name(), func() { _ = os.Remove(f.Name()) }, errors.Join(err, f.Close())
}

// Ref has the receipts: one note for each commit.
const Ref = "refs/notes/ralph"

// maxNote bounds a receipt, in bytes.
const maxNote = 1 << 20

// noteScript finishes even if ralph is killed, so that a note is whole or not there.
const noteScript = `trap '' HUP INT TERM; "$@"`

// Write completes the predicate with what git knows about a commit, signs the statement, and keeps it. If p.Base is empty,
// the base is the parent of the commit.
func (s Signer) Write(ctx context.Context, commit string, p Predicate) error {
	span := commit + "^!"
	if p.Base != "" {
		span = p.Base + ".." + commit
	}
	all, err := commits(ctx, s.dir, span)
	if err == nil && (len(all) == 0 || all[len(all)-1].oid != commit) {
		err = fmt.Errorf("it does not follow %.7s", p.Base)
	}
	if err != nil {
		return err
	}
	last := all[len(all)-1]
	p.Base = cmp.Or(p.Base, strings.Join(last.parents, " "))
	for _, c := range all[:len(all)-1] {
		p.Commits = append(p.Commits, c.oid)
	}
	note, err := s.seal(ctx, Statement{Type: statementType, PredicateType: predicateType, Predicate: p, Subject: []Subject{{"commit", Digests{commit, last.tree}}}})
	if err == nil && len(note) > maxNote {
		err = fmt.Errorf("it would be larger than %d KiB", maxNote>>10)
	}
	if err != nil {
		return err
	}
	args, err := command.Program("notes", "--ref="+Ref, "add", "-f", "-F", "-", commit)
	if err == nil {
		_, err = command.Call{Dir: s.dir, Script: noteScript, Stdin: string(note), Env: command.Ralph()}.Run(ctx, args...)
	}
	return err
}

// commit is one commit of a range.
type commit struct {
	oid, tree    string
	parents      []string
	run, subject string // run: of its trailer
}

// commits returns the commits of a range, oldest first.
func commits(ctx context.Context, dir, span string) (all []commit, err error) {
	out, err := command.Run(ctx, dir, "log", "--topo-order", "--reverse",
		"--format=%H%x00%T%x00%P%x00%(trailers:key=Ralph-Run,valueonly,separator=%x2C)%x00%s", span, "--")
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\x00", 5)
		if len(f) != 5 {
			return nil, errors.New("git printed an unknown line")
		}
		all = append(all, commit{f[0], f[1], strings.Fields(f[2]), f[3], f[4]})
	}
	return all, err
}
