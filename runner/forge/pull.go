package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"mvdan.cc/sh/v3/syntax"

	"ralph/logs"
	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/runner/gate"
	"ralph/runner/git/command"
	"ralph/state"
)

// Pull keeps the pull request of a run: a draft from the first commit on, with a body that follows the run. It never pushes
// by force, nor to the branch that the pull request is for. What it cannot do, it says once, and the run goes on.
//
//	Landed, Update --> Outbox --> sync: find, push, create or edit
//	End            --> Outbox --> sync: ... and ready, or a label
//	Checks: sync, and then wait for the checks of the commit
type Pull struct {
	Run, Branch string // the run; the branch, here and on the remote
	Notes       string // a ref that is pushed, too; empty: none
	Box         *Outbox
	// Text returns the text as it is now. Its body has at most so many bytes.
	Text func(ctx context.Context, most int) (Text, error)
	Say  func(line string) // gets what people should know, from any goroutine

	work   sync.Mutex // held while it talks to the service
	from   *pusher
	client *Client
	root   string // of the project
	at     Ref
	base   string
	here   pull   // as the service had it last
	pushed string // the commit that was pushed last, and the notes
	noted  string
	title  string // that it gave the pull request; empty: none
	told   string // why the latest sync failed; empty: it did not
	final  bool   // the service has what the run ended with

	mu  sync.Mutex // for what follows
	tip string     // the latest commit that has landed
	off string     // why there is no pull request any more
}

// Text is what a pull request says.
type Text struct {
	Title, Body string
	Done        []string // the titles of tasks that are done, which name issues that are closed with them
}

// pull is a pull request, as the service has it.
type pull struct {
	Number                        int
	URL, State, Title, Body, Head string
	Draft, Labeled                bool
}

const (
	labelReview = "needs-review"
	maxBody     = 65_000 // bytes; the service takes 65,536 characters
	marksEnd    = "<!-- /ralph -->"
	maxMore     = 4_000 // bytes of what Pull adds to a text
)

// Open finds the remote and the program, and returns the host. It asks nobody yet.
func (p *Pull) Open(ctx context.Context, dir string) (host string) {
	from, err := newPusher(ctx, dir)
	if p.from, p.root = from, from.root; err == nil {
		p.at = from.Ref()
		p.client, err = Open("gh", from.dir)
	}
	if err != nil {
		p.giveUp(err)
	}
	return p.at.Host
}

// Resume goes on with what a run landed before.
func (p *Pull) Resume(ctx context.Context) {
	if tip, err := command.Line(ctx, p.root, "rev-parse", "--verify", "--quiet", "refs/heads/"+p.Branch); err == nil {
		if n, err := command.Line(ctx, p.root, "rev-list", "--count", "HEAD.."+tip); err == nil && (n != "0" || p.from.on == p.Branch) {
			p.Landed(ctx, tip)
			p.Update()
		}
	}
}

// Landed takes a commit on the branch.
func (p *Pull) Landed(ctx context.Context, oid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tip != "" { // of several that land together, the latest counts
		if _, err := command.Line(ctx, p.root, "merge-base", "--is-ancestor", oid, p.tip); err == nil {
			return
		}
	}
	p.tip = oid
}

// Update brings the pull request up to date soon.
func (p *Pull) Update() {
	if tip, off := p.wants(); tip != "" && off == "" {
		p.Box.Put("pull request", func(ctx context.Context) error { return p.sync(ctx, -1) })
	}
}

// End brings the pull request to what the run ended with: ready after a complete run, with a label if a person has to look.
// It waits at most so long. What people need to open it themselves is returned: the text, and the command, to which they add
// the file with the text; empty: it is not needed.
func (p *Pull) End(exit int, grace time.Duration) (text, command string) {
	if tip, off := p.wants(); tip != "" && off == "" {
		p.Box.Put("pull request", func(ctx context.Context) error { return p.sync(ctx, exit) })
	}
	p.Box.Close(grace)
	p.work.Lock()
	defer p.work.Unlock()
	defer p.from.Close()
	tip, _ := p.wants()
	if p.final || tip == "" {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	title, text, err := p.text(ctx, maxBody)
	if err != nil {
		p.Say("the text of the pull request: " + err.Error())
		return "", ""
	}
	title, _ = syntax.Quote(title, syntax.LangBash) // fails only for a null byte
	branch, _ := syntax.Quote(p.Branch, syntax.LangBash)
	do := fmt.Sprintf("gh pr create --draft --head %s --title %s --body-file ", branch, title)
	if p.here.Number > 0 {
		do = fmt.Sprintf("gh pr edit %d --body-file ", p.here.Number)
	}
	if p.pushed != tip {
		do = fmt.Sprintf("git push %s %s:refs/heads/%s && %s", cmp.Or(p.from.Remote, "REMOTE"), tip, branch, do)
	}
	return text, do
}

// wants is the commit that has to be pushed (empty: none has landed), and why nothing is (empty: it is).
func (p *Pull) wants() (tip, off string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tip, p.off
}

// giveUp ends the pull request, and says so.
func (p *Pull) giveUp(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off == "" {
		p.off = err.Error()
		p.Say("LAND=pr: " + p.off + "; the run goes on as with LAND=branch")
	}
}

// sync brings the service up to date. exit is how the run ended; below zero: it has not. An error is one that may pass.
func (p *Pull) sync(ctx context.Context, exit int) error {
	p.work.Lock()
	defer p.work.Unlock()
	tip, off := p.wants()
	if tip == "" || off != "" {
		return nil
	}
	err := p.look(ctx)
	if err == nil && p.pushed != tip {
		if err = p.from.Push(ctx, tip, "refs/heads/"+p.Branch); err == nil {
			p.pushed = tip
		}
	}
	if err == nil {
		p.pushNotes(ctx)
		err = p.write(ctx)
	}
	if err == nil && exit >= 0 {
		err = p.close(ctx, exit)
	}
	if lasting := (*Error)(nil); errors.As(err, &lasting) && lasting.Exit == state.ExitUsage {
		p.giveUp(err)
		return nil
	}
	was := p.told
	if p.told = ""; err != nil {
		if p.told = err.Error(); p.told == was {
			return errors.Join(ErrLater, err) // people know it
		}
	}
	return err
}

// look finds the repository and the pull request, and whether somebody else has changed it.
func (p *Pull) look(ctx context.Context) error {
	if p.base == "" {
		repo, err := p.client.One(ctx, p.at, "GET", p.client.Repo(p.at), nil)
		if err != nil {
			return err
		}
		main := repo.Get("default_branch").String()
		if may := repo.Get("permissions.push"); may.Exists() && !may.Bool() {
			return usage("no right to push to %s", p.at.Repo)
		}
		if p.Branch == main || p.Branch == p.from.track && p.Branch != p.from.on {
			p.final = true // people should not push it either
			return usage("LAND_BRANCH: %q is what the pull request would be for; name another one", p.Branch)
		}
		if p.base = p.from.track; p.base == "" || p.base == p.Branch {
			p.base = main
		}
	}
	found, err := p.gh(ctx, "", "pr", "list", "--head", p.Branch, "--state", "all", "--limit", "30", "--json",
		"number,url,state,isDraft,title,body,headRefOid,isCrossRepository,labels")
	if err != nil {
		return err
	}
	was := p.here
	for _, x := range gjson.Parse(found).Array() {
		now := pull{int(x.Get("number").Int()), x.Get("url").String(), x.Get("state").String(), x.Get("title").String(),
			x.Get("body").String(), x.Get("headRefOid").String(), x.Get("isDraft").Bool(),
			strings.Contains(x.Get("labels").Raw, `"`+labelReview+`"`)}
		switch {
		case x.Get("isCrossRepository").Bool():
		case now.State == "OPEN":
			if p.here = now; was.Number == 0 {
				p.Say("goes on with the pull request " + now.URL)
			}
			return p.unmoved(ctx)
		case now.Number == was.Number, was.Number == 0 && strings.Contains(now.Body, p.begin()):
			p.here = now
			return usage("%s is %s", now.URL, strings.ToLower(now.State))
		}
	}
	return nil
}

// unmoved returns an error if somebody else has moved the branch: what was taken away must not come back.
func (p *Pull) unmoved(ctx context.Context) error {
	if p.pushed == "" || p.here.Head == p.pushed { // the service may not have seen the latest push
		return nil
	}
	now, err := p.from.At(ctx, p.Branch)
	if err == nil && now != p.pushed {
		err = usage("somebody has moved %s on %s", p.Branch, p.from.Remote)
	}
	return err
}

func (p *Pull) pushNotes(ctx context.Context) {
	if p.Notes == "" {
		return
	}
	oid, err := command.Line(ctx, p.root, "rev-parse", "--verify", "--quiet", p.Notes)
	if err != nil || oid == p.noted { // the first receipt comes later
		return
	}
	if err := p.from.PushNotes(ctx, oid, p.Notes); err != nil {
		p.Say("the receipts are not pushed: " + err.Error())
	}
	p.noted = oid
}

func (p *Pull) begin() string { return "<!-- ralph " + p.Run + " -->" }

// write creates the pull request, or edits its text if that has changed.
func (p *Pull) write(ctx context.Context) error {
	before, after := "", ""
	if p.here.Number > 0 { // what others wrote around it stays
		var inner string
		before, inner, _ = strings.Cut(p.here.Body, p.begin())
		_, after, _ = strings.Cut(inner, marksEnd)
		if before = strings.TrimRight(before, "\r\n"); before != "" {
			before += "\n\n"
		}
	}
	title, text, err := p.text(ctx, maxBody-len(before)-len(after))
	if err != nil {
		return err
	}
	text = before + p.begin() + "\n" + text + marksEnd + after
	if p.here.Number == 0 {
		args := []string{"pr", "create", "--head", p.Branch, "--base", p.base, "--title", title, "--body-file", "-"}
		out, err := p.gh(ctx, text, append(args, "--draft")...)
		if err != nil && strings.Contains(strings.ToLower(err.Error()), "draft") {
			out, err = p.gh(ctx, text, args...)
		}
		number := numberPattern().FindString(strings.TrimSpace(out))
		if err != nil || number == "" {
			return cmp.Or(err, error(&Error{Exit: state.ExitError, Text: "gh pr create printed no number: " + termtext.Line(out)}))
		}
		p.here = pull{URL: termtext.Line(out), State: "OPEN", Title: title, Body: text, Head: p.pushed, Draft: true}
		p.here.Number, _ = strconv.Atoi(number)
		p.title = title
		p.Say("opened the pull request " + p.here.URL)
		return nil
	}
	if strings.ReplaceAll(p.here.Body, "\r\n", "\n") == text {
		return nil
	}
	change := map[string]string{"body": text}
	if p.title == p.here.Title { // nobody else has chosen another one
		change["title"] = title
	}
	if _, err = p.client.One(ctx, p.at, "PATCH", p.path("pulls"), change); err == nil {
		p.here.Body, p.title = text, cmp.Or(change["title"], p.title)
	}
	return err
}

// text is the title and the part of the body that is ralph's.
func (p *Pull) text(ctx context.Context, most int) (title, body string, err error) {
	t, err := p.Text(ctx, max(most-maxMore, maxMore))
	if err != nil {
		return "", "", err
	}
	var more []string
	for _, task := range t.Done {
		if r, ok := LinkIn(task); ok && r.Issue > 0 && r.Service == p.at.Service && r.Host == p.at.Host && strings.EqualFold(r.Repo, p.at.Repo) {
			more = append(more, fmt.Sprintf("Closes #%d", r.Issue))
		}
	}
	slices.Sort(more)
	more = slices.Compact(more)
	more = more[:min(len(more), maxMore/40)]
	if p.Notes != "" {
		more = append(more, fmt.Sprintf("To check the receipts: `git fetch %s %s:%[2]s && ralph verify %[1]s/%[3]s..%[1]s/%[4]s`",
			cmp.Or(p.from.Remote, "origin"), p.Notes, p.base, p.Branch))
	}
	body = logs.Redact(t.Body) + "\n"
	if len(more) > 0 {
		body += strings.Join(more, "\n") + "\n\n"
	}
	return logs.Redact(t.Title), body, nil
}

var numberPattern = lazy.Regexp(`\d+$`)

func (p *Pull) path(kind string) string {
	return fmt.Sprintf("%s/%s/%d", p.client.Repo(p.at), kind, p.here.Number)
}

// close marks the pull request as the end of the run asks for.
func (p *Pull) close(ctx context.Context, exit int) (err error) {
	review := exit == state.ExitReview
	switch {
	case review && !p.here.Labeled:
		_, err = p.client.API(ctx, p.at, "POST", p.path("issues")+"/labels", map[string][]string{"labels": {labelReview}})
	case !review && p.here.Labeled:
		_, err = p.client.API(ctx, p.at, "DELETE", p.path("issues")+"/labels/"+labelReview, nil)
	}
	if err == nil && exit == state.ExitComplete && p.here.Draft {
		_, err = p.gh(ctx, "", "pr", "ready", fmt.Sprint(p.here.Number))
	}
	if p.final = err == nil; p.final {
		p.Say(p.here.URL + map[bool]string{true: " is ready for review"}[exit == state.ExitComplete] +
			map[bool]string{true: " needs your review"}[review])
	}
	return err
}

// gh runs the program for the repository.
func (p *Pull) gh(ctx context.Context, stdin string, args ...string) (string, error) {
	return p.client.Run(ctx, stdin, append(args, "--repo", strings.TrimPrefix(p.at.Host+"/", "/")+p.at.Repo)...)
}

// Bounds of the wait for checks.
const (
	firstPoll, lastPoll = time.Second, 15 * time.Second
	noChecks            = time.Minute // without any check after that, there are none
	maxLog              = 12 << 10    // bytes of a log
)

// Checks waits until the checks of the latest commit are over, and returns their results. waits gets what it waits for.
func (p *Pull) Checks(ctx context.Context, waits func(string)) []gate.Result {
	p.Update()
	var list []gjson.Result
	var here pull
	var since time.Time // the service knows the commit
	shown, settled := "", false
	for pause := firstPoll; ; pause = min(pause*3/2, lastPoll) {
		tip, off := p.wants()
		free := p.work.TryLock() // else a push or a call is under way, which may hang
		if free {
			here = p.here
			p.work.Unlock()
		}
		if tip == "" || free && off != "" && here.State != "OPEN" { // there is none, or a person has ended it
			return nil
		}
		late := func(why string) gate.Result { return gate.Elsewhere("pull request", here.URL, "", why, false) }
		if free && off != "" {
			return []gate.Result{late(off)}
		}
		var err error
		conflict := false
		if list = nil; free && here.Number > 0 {
			list, conflict, err = p.checks(ctx, here.Number, tip)
		}
		if list != nil && since.IsZero() {
			since = time.Now()
		}
		running, why := namesOf(list, "pending"), ""
		limit := (*Error)(nil)
		switch {
		case errors.As(err, &limit) && limit.Exit == state.ExitUsage:
			p.giveUp(err)
			continue
		case err != nil:
			why = err.Error()
		case list == nil:
			if why = "the latest commit has not arrived"; free {
				p.Update() // somebody may have moved the branch
			}
		case len(list) == 0 && conflict: // then the service begins none
			return []gate.Result{late("it conflicts with the branch that it is for")}
		case len(list) == 0 && time.Since(since) < noChecks:
			why = "no check has begun"
		case len(list) == 0:
			p.Say("the pull request has no checks")
			return nil
		case len(running) > 0:
			why = "still running: " + termtext.Some(running, 5)
		case settled: // another check may begin when one ends
			return p.results(ctx, here.URL, list)
		}
		if settled = why == ""; !settled && why != shown {
			shown = why
			waits("of the pull request: " + why)
		}
		if limit != nil {
			pause = max(pause, time.Until(limit.Until))
		}
		select {
		case <-ctx.Done():
			return append(p.results(ctx, here.URL, list), late(cmp.Or(why, "not over")))
		case <-time.After(pause):
		}
	}
}

// checks returns the checks of a commit (nil: the service does not know the commit yet), and whether it cannot be merged.
func (p *Pull) checks(ctx context.Context, n int, tip string) (list []gjson.Result, conflict bool, err error) {
	number := strconv.Itoa(n)
	head, err := p.gh(ctx, "", "pr", "view", number, "--json", "headRefOid,mergeable")
	if err != nil || gjson.Get(head, "headRefOid").String() != tip {
		return nil, false, err
	}
	out, err := p.gh(ctx, "", "pr", "checks", number, "--json", "name,workflow,bucket,link")
	if err != nil && strings.Contains(err.Error(), "no checks reported") {
		err = nil
	}
	return append([]gjson.Result{}, gjson.Parse(out).Array()...), gjson.Get(head, "mergeable").String() == "CONFLICTING", err
}

func nameOf(check gjson.Result) string {
	workflow := check.Get("workflow").String()
	return termtext.Fit(termtext.Line(workflow+map[bool]string{true: " / "}[workflow != ""]+check.Get("name").String()), 70)
}

func namesOf(list []gjson.Result, bucket string) (names []string) {
	for _, c := range list {
		if c.Get("bucket").String() == bucket {
			names = append(names, nameOf(c))
		}
	}
	return names
}

var jobPattern = lazy.Regexp(`/actions/runs/(\d+)(?:/job/(\d+))?`)

// results are those of the checks that are over, at address if they have none of their own. If ctx is done, they have no logs.
func (p *Pull) results(ctx context.Context, address string, list []gjson.Result) (all []gate.Result) {
	for _, c := range list {
		name, link, log := "pull request: "+nameOf(c), cmp.Or(termtext.Line(c.Get("link").String()), address), ""
		bucket := c.Get("bucket").String()
		if !slices.Contains([]string{"pass", "fail", "cancel"}, bucket) {
			continue // skipped, or not over
		}
		if m := jobPattern().FindStringSubmatch(link); m != nil && bucket == "fail" && ctx.Err() == nil {
			args := []string{"run", "view", m[1], "--log-failed"}
			if m[2] != "" {
				args = []string{"run", "view", "--job", m[2], "--log-failed"}
			}
			var err error
			if log, err = p.gh(ctx, "", args...); err != nil {
				log = err.Error()
			}
		}
		if from := len(log) - 8*maxLog; from > 0 { // the first line may have a part of a secret
			_, log, _ = strings.Cut(log[from:], "\n")
		}
		log = logs.Redact(termtext.Clean(stamp().ReplaceAllString(log, "")))
		log = strings.Clone(strings.ToValidUTF8(log[max(0, len(log)-maxLog):], ""))
		all = append(all, gate.Elsewhere(name, link, cmp.Or(log, bucket), "", bucket == "pass"))
	}
	return all
}

// stamp matches what stands before each line of a log: job, step and time.
var stamp = lazy.Regexp(`(?m)^[^\t\n]*\t[^\t\n]*\t\S*Z `)
