package receipt

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"ralph/logs"
	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/runner/git/command"
	"ralph/state"
	"ralph/state/projectfs"
)

// PolicyFile is the file of a repository that says what receipts have to show.
const PolicyFile = "ralph-policy.yaml"

// Policy is what receipts have to show. The zero value: nothing but a signature and an unbroken chain.
type Policy struct {
	Checks    []gate.Check // that pass at the end of the range
	Reviewers []string     // that let each task pass
	Sandbox   []string     // of which one was on; empty: any, or none
	Agents    []string     // of which one worked; empty: any
	File      string       `yaml:"-"` // its name; or "no ", and its name
	Signers   []string     // lines as in git's gpg.ssh.allowedSignersFile; empty: those of the file that the user's own settings name
}

// Range is part of the history, from a commit that is trusted.
type Range struct {
	Base  string // the trusted commit: its policy applies
	Start string // the commit before the first one of the range
	Head  string

	dir string
	all []commit
}

// Resolve finds a range: A..B, A...B, or a commit, which stands for itself alone. The policy is that of A, even if the
// range begins at an older commit that both sides have.
func Resolve(ctx context.Context, dir, text string) (r Range, err error) {
	base, head, isRange := strings.Cut(text, "..")
	if head = strings.TrimPrefix(head, "."); !isRange {
		base, head = text+"^", text
	}
	find := func(name string) (oid string) {
		if err == nil {
			oid, err = command.Line(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", cmp.Or(name, "HEAD")+"^{commit}")
		}
		return oid
	}
	for _, name := range []string{base, head} {
		if err := ambiguous(ctx, dir, name); err != nil {
			return r, err
		}
	}
	r = Range{dir: dir, Base: find(base), Head: find(head)}
	if err != nil {
		return r, fmt.Errorf("%q names no commits", text)
	}
	if r.Start, err = command.Line(ctx, dir, "merge-base", r.Base, r.Head); err != nil {
		return r, fmt.Errorf("the ends of %q have no history in common", text)
	}
	r.all, err = commits(ctx, dir, r.Base+".."+r.Head)
	return r, err
}

// ambiguous fails if a name is that of a branch and of a tag: an agent may have made the tag.
func ambiguous(ctx context.Context, dir, name string) error {
	name, _, _ = strings.Cut(name, "^")
	name, _, _ = strings.Cut(name, "~")
	out, err := command.Run(ctx, dir, "for-each-ref", "--format=%(refname)", "refs/tags/"+name, "refs/heads/"+name, "refs/remotes/"+name)
	of := slices.DeleteFunc(strings.Fields(out), func(ref string) bool { return !strings.HasSuffix(ref, "/"+name) })
	if err == nil && name != "" && len(of) > 1 {
		err = fmt.Errorf("%q may be %s: write it out", name, strings.Join(of, " or "))
	}
	return err
}

// Policy reads the policy of the base. It is a protection: what is not understood is an error.
func (r Range) Policy(ctx context.Context) (p Policy, err error) {
	p.File = "no " + PolicyFile
	out, err := command.Line(ctx, r.dir, "ls-tree", "--full-tree", "--name-only", r.Base, "--", PolicyFile)
	if err != nil || out == "" {
		return p, err
	}
	text, err := command.Run(ctx, r.dir, "cat-file", "blob", r.Base+":"+PolicyFile)
	if err == nil {
		p, err = parse(text)
	}
	if y := yaml.Error(nil); errors.As(err, &y) && y.GetToken() != nil {
		err = fmt.Errorf("line %d: %s", y.GetToken().Position.Line, termtext.FirstLine(y.GetMessage()))
	}
	return p, err
}

func parse(text string) (p Policy, err error) {
	var keys map[string]any
	err = cmp.Or(projectfs.UnmarshalYAML([]byte(text), &keys, yaml.Strict()), projectfs.UnmarshalYAML([]byte(text), &p, yaml.Strict()))
	if p.File = PolicyFile; err == nil && (len(keys) == 0 || strings.Contains(text, "\n---")) {
		err = errors.New("it is not one mapping")
	}
	for key, value := range keys {
		if list, ok := value.([]any); err == nil && (!ok || len(list) == 0) {
			err = fmt.Errorf("%s must be a list that is not empty", key)
		}
	}
	for _, c := range p.Checks {
		err = cmp.Or(err, c.Validate())
	}
	return p, err
}

// Row is a commit of the range.
type Row struct {
	OID, Subject string
	Signer       string // empty: it has no receipt with a valid signature
	In           string // the commit whose receipt covers this one; empty: its own
	Predicate           // of its receipt; zero: it has none of its own
	Failures     []string
}

func (row *Row) fail(format string, args ...any) {
	row.Failures = append(row.Failures, fmt.Sprintf("%.7s ", row.OID)+fmt.Sprintf(format, args...))
}

// Check looks at the receipts of a range. It returns a row for each commit, and what fails in the range as a whole.
func (r Range) Check(ctx context.Context, p Policy) (rows []Row, failed []string, err error) {
	if len(r.all) == 0 {
		return nil, []string{"there is nothing to verify: the range has no commits"}, nil
	}
	allowed, done, err := r.allowed(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if allowed == "" {
		failed = append(failed, "nobody says whose signature counts: set signers in "+PolicyFile+", or git config --global gpg.ssh.allowedSignersFile")
	}
	notes, err := r.notes(ctx)
	if err != nil {
		return nil, nil, err
	}
	before, base := r.Start, r.Start // the commit before, and the one on which the next receipt has to begin
	var uncovered []string           // the commits after base
	for _, c := range r.all {
		row := Row{OID: c.oid, Subject: c.subject}
		if len(c.parents) != 1 {
			row.fail("is a merge: a receipt is for the work of one turn")
		} else if c.parents[0] != before {
			row.fail("does not follow the commit before it, %.7s", before)
		}
		before = c.oid
		note, known := notes[c.oid]
		if !known {
			uncovered, rows = append(uncovered, c.oid), append(rows, row)
			continue
		}
		if st, err := r.open(ctx, note, allowed, c, &row); err != nil {
			row.fail("%v", err)
		} else if row.Predicate = st.Predicate; row.Base == base && slices.Equal(row.Commits, uncovered) {
			for i := len(rows) - len(uncovered); i < len(rows); i++ {
				rows[i].In, rows[i].Signer = c.oid, row.Signer
			}
		} else if len(uncovered) == 0 || row.Base != uncovered[len(uncovered)-1] { // else these have none
			row.fail("has a receipt that does not continue from %.7s", base)
		}
		row.meet(p)
		base, uncovered, rows = c.oid, nil, append(rows, row)
	}
	for i, row := range rows {
		if _, known := notes[row.OID]; !known && row.In == "" {
			rows[i].fail("has no receipt")
		}
	}
	return rows, append(failed, together(rows, p)...), nil
}

// allowed returns a file with the signers that count; empty: there is none.
func (r Range) allowed(ctx context.Context, p Policy) (path string, done func(), err error) {
	if len(p.Signers) > 0 {
		return temp(strings.Join(p.Signers, "\n"))
	}
	// An agent can write the settings of the repository; a path that is not absolute leads into a branch.
	for _, scope := range []string{"--global", "--system"} {
		path, _ = command.Line(ctx, r.dir, "config", scope, "--includes", "--type=path", "--get", "gpg.ssh.allowedSignersFile")
		if filepath.IsAbs(path) {
			return path, func() {}, nil
		}
	}
	return "", func() {}, nil
}

// notes returns the receipts, by commit. One that is too large is empty.
func (r Range) notes(ctx context.Context) (map[string]string, error) {
	tree, err := command.Line(ctx, r.dir, "rev-parse", "--verify", "--quiet", Ref+"^{tree}")
	if err != nil {
		return nil, nil //nolint:nilerr // there are no notes
	}
	out, err := command.Run(ctx, r.dir, "ls-tree", "-r", "-l", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	found, paths := map[string]string{}, []string{}
	for _, entry := range command.Entries(out) {
		head, path, _ := strings.Cut(entry, "\t")
		f, oid := strings.Fields(head), strings.ReplaceAll(path, "/", "")
		if !slices.ContainsFunc(r.all, func(c commit) bool { return c.oid == oid }) {
			continue
		}
		found[oid] = ""
		if size, err := strconv.Atoi(f[len(f)-1]); err == nil && size <= maxNote {
			paths = append(paths, path)
		}
	}
	texts, err := command.Contents(ctx, r.dir, tree, paths)
	for path, text := range texts {
		found[strings.ReplaceAll(path, "/", "")] = text
	}
	return found, err
}

// open checks the signature of a receipt for a commit, then reads it.
func (r Range) open(ctx context.Context, note, allowed string, c commit, row *Row) (st Statement, err error) {
	if note == "" {
		return st, errors.New("has a note that is too large for a receipt, or empty")
	}
	e, err := decode[envelope]([]byte(strings.TrimSuffix(note, "\n")))
	if err != nil {
		return st, fmt.Errorf("has a note that is no receipt: %w", err)
	}
	payload, err := base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err != nil || e.PayloadType != payloadType {
		return st, fmt.Errorf("has a receipt of an unknown kind, %q", e.PayloadType)
	}
	if allowed != "" {
		if row.Signer, err = signed(ctx, r.dir, allowed, e, string(payload)); err != nil {
			return st, fmt.Errorf("has a receipt that %w", err)
		}
	}
	st, err = decode[Statement](payload)
	switch {
	case err != nil:
		return st, fmt.Errorf("has a receipt that cannot be read: %w", err)
	case st.Type != statementType || st.PredicateType != predicateType:
		return st, fmt.Errorf("has a receipt of an unknown kind, %q", st.PredicateType)
	case st.Predicate.Run == "":
		return st, errors.New("has a receipt that names no run")
	case len(st.Subject) != 1 || st.Subject[0].Digest != Digests{c.oid, c.tree}:
		return st, errors.New("has a receipt for another commit")
	case c.run != "" && c.run != st.Predicate.Run:
		return st, fmt.Errorf("has a receipt of another run, %s", st.Predicate.Run)
	}
	return st, nil
}

// meet says what the receipt of a row lacks.
func (row *Row) meet(want Policy) {
	if row.Run == "" { // it has none that can be read
		return
	}
	if len(want.Agents) > 0 && !slices.Contains(want.Agents, row.Agent) {
		row.fail("was made by %q; the policy allows %s", row.Agent, strings.Join(want.Agents, ", "))
	}
	if len(want.Sandbox) > 0 && !slices.Contains(want.Sandbox, row.Policy.Sandbox.Sandbox) {
		row.fail("was made with SANDBOX=%s; the policy asks for %s", row.Policy.Sandbox.Sandbox, strings.Join(want.Sandbox, " or "))
	}
	for _, c := range want.Checks {
		if !slices.ContainsFunc(row.Policy.Checks, func(has gate.Check) bool {
			return has.Name == c.Name && has.Required() && slices.Equal(has.When, c.When) && has.Reproduce() == logs.Redact(c.Reproduce())
		}) {
			row.fail("was made without the required check %s: %s", c.Name, c.Reproduce())
		}
	}
}

// together says what the receipts of a range lack together.
func together(rows []Row, want Policy) (all []string) {
	verdicts, missing := map[string]gate.Verdict{}, map[string][]string{}
	for _, row := range rows {
		for _, c := range want.Checks { // one that always runs says nothing where it did not run
			if row.Run != "" && len(c.When) == 0 {
				delete(verdicts, c.Name)
			}
		}
		for _, ran := range row.Results.Checks {
			if ran.Verdict != gate.VerdictSkipped {
				verdicts[ran.Name] = ran.Verdict
			}
		}
		if row.Run != "" { // a later turn for the same task may carry the verdict
			missing[row.TaskID+"\x00"+row.SHA256] = slices.DeleteFunc(slices.Clone(want.Reviewers), func(name string) bool {
				return slices.ContainsFunc(row.Reviews, func(v state.Verdict) bool { return v.Name == name && v.Passes() })
			})
		}
	}
	for _, c := range want.Checks {
		if v := verdicts[c.Name]; v != gate.VerdictPassed && v != gate.VerdictFlaky {
			all = append(all, fmt.Sprintf("the check %s did not pass at the end: %q", c.Name, v))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		if id, _, _ := strings.Cut(key, "\x00"); len(missing[key]) > 0 {
			all = append(all, fmt.Sprintf("task %q was not passed by %s", id, strings.Join(missing[key], ", ")))
		}
	}
	return all
}
