package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/logs"
	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/state"
	"ralph/state/question"
	"ralph/state/view"
)

// Talk keeps one comment on the issue of each task that a run works on, with the questions of its agent, and takes answers
// of people who may write to the repository. It answers the threads of a review. It watches the events of the run.
type Talk struct {
	Run       string
	Host      string // of the remote: a token in the environment goes to any host that is asked; empty: the usual one
	Box       *Outbox
	Say       func(line string) // gets what people should know, from any goroutine
	Questions question.Store

	known   map[Ref]bool   // the links when the run began: an agent cannot add any. It does not change.
	links   map[string]Ref // by task
	topics  map[Ref]*topic
	commits map[string]string // the latest of each task
	// For the goroutine of Box:
	clients map[string]*Client
	me      map[string]string // who is logged in, by service and host
	ids     map[Ref]int64     // our comments
	seen    map[int64]bool    // comments that are no answers
	told    map[string]bool

	recalls bool // events of before: nothing is posted yet
}

// topic is an issue with what its tasks do.
type topic struct {
	ids  []string          // of the tasks that were worked on
	ends map[string]string // how they ended; empty: they go on
	sent string
}

// Open takes the tasks of the plan, and listens for answers to questions of an earlier run. Of a run that goes on it reads
// the events again (nil: it does not go on), and sends what was not sent before it ended.
func (k *Talk) Open(list task.List, past *state.Reader) {
	k.known, k.links, k.topics, k.commits, k.clients = map[Ref]bool{}, map[string]Ref{}, map[Ref]*topic{}, map[string]string{}, map[string]*Client{}
	k.me, k.ids, k.seen, k.told = map[string]string{}, map[Ref]int64{}, map[int64]bool{}, map[string]bool{}
	for _, t := range list.Tasks {
		if r, ok := LinkIn(t.Title); ok {
			k.links[t.ID], k.known[r] = r, true
		}
	}
	if past != nil {
		k.recalls = true
		err := view.EachEvent(past, k.Run, func(kind state.Kind) bool {
			return kind == state.KindIterationStart || kind == state.KindCommit || kind == state.KindIterationEnd
		}, k.Show)
		if k.recalls = false; err != nil {
			k.Say(err.Error())
		}
		for r := range k.topics {
			k.post(r)
		}
	}
	for _, r := range k.links {
		if k.waits(r) {
			k.listen(r)
		}
	}
}

// Knows reports whether the title of a task has a link that was there when the run began. Any goroutine may ask.
func (k *Talk) Knows(title string) bool {
	r, ok := LinkIn(title)
	return ok && k.known[r]
}

// Show takes an event of the run.
func (k *Talk) Show(e state.Event) {
	if end, over := e.Data.(state.RunEnd); over {
		for r, t := range k.topics {
			for _, id := range t.ids {
				if t.ends[id] == "" {
					t.ends[id] = "This is not done. The run has ended: " + plain(cmp.Or(end.Reason, end.Rule)) + "."
				}
			}
			k.post(r)
		}
	}
	r, linked := k.links[e.Task]
	if d, begins := e.Data.(state.IterationStart); begins && !linked { // people have edited its title, and with it its id
		if linked = k.Knows(d.Title); linked {
			r, _ = LinkIn(d.Title)
			k.links[e.Task] = r
			if t := k.topics[r]; t != nil {
				t.ids = slices.DeleteFunc(t.ids, func(id string) bool { return t.ends[id] == "" })
			}
		}
	}
	if !linked {
		return
	}
	switch d := e.Data.(type) {
	case state.Commit:
		k.commits[e.Task] = cmp.Or(d.OID, k.commits[e.Task])
	case state.IterationStart:
		k.note(r, e.Task, "")
	case state.Question:
		k.post(r)
		k.listen(r)
	case state.Answer:
		k.post(r)
	case state.IterationEnd:
		switch commit := k.commits[e.Task]; {
		case d.TaskDone && r.Thread != "" && commit != "":
			k.Box.Put("answer to "+r.String(), func(ctx context.Context) error {
				return k.with(ctx, r, func(c *Client) error { return c.settle(ctx, r, commit) })
			})
		case d.TaskDone:
			k.note(r, e.Task, "ralph has done this"+view.Prefix(" in ", commit)+".")
		}
	}
}

// note says of a task how it ended; empty: it goes on.
func (k *Talk) note(r Ref, id, how string) {
	t := k.topics[r]
	if t == nil {
		t = &topic{ends: map[string]string{}}
		k.topics[r] = t
	}
	if !slices.Contains(t.ids, id) {
		t.ids = append(t.ids, id)
	}
	t.ends[id] = how
	k.post(r)
}

// post sends the comment on an issue, if it has changed.
func (k *Talk) post(r Ref) {
	t := k.topics[r]
	if t == nil || r.Issue == 0 || k.recalls {
		return
	}
	if body := k.body(r, t); body != t.sent {
		t.sent = body
		k.Box.Put("comment on "+r.String(), func(ctx context.Context) error {
			return k.with(ctx, r, func(c *Client) error { return k.send(ctx, c, r, body) })
		})
	}
}

// plain makes a text of the agent inert in Markdown: it names nobody, and hides and shows nothing.
func plain(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", "@", "@<!-- -->", "![", "!\\[", "\n", "\n> ").Replace(logs.Redact(termtext.Clean(text)))
}

func (k *Talk) body(r Ref, t *topic) string {
	mark, text := "done", ""
	for _, id := range t.ids {
		how := t.ends[id]
		if how == "" {
			mark, how = "open", "ralph is working on this."
		}
		text += "\n" + how + "\n"
	}
	for _, q := range k.questions(r) {
		switch {
		case q.Run != k.Run && !q.Open():
			continue
		case q.Open():
			text += fmt.Sprintf("\n**Question %s.** Somebody who may write to this repository can answer it here: `%[1]s: your answer`.\n", q.ID)
		default:
			text += fmt.Sprintf("\n**Question %s** was answered by %s: %s\n", q.ID, plain(q.AnsweredBy), plain(termtext.Line(q.Answer)))
		}
		text += "\n> " + plain(q.Text) + "\n"
		for i, option := range q.Options {
			text += fmt.Sprintf("> %d. %s\n", i+1, plain(option))
		}
	}
	return fmt.Sprintf("<!-- ralph run=%s task=%s %s -->\n%s\nRun `%[1]s`.", k.Run, url.PathEscape(t.ids[0]), mark, text)
}

// with calls do with the program of a reference. What cannot be mended by trying again is said, and left.
func (k *Talk) with(ctx context.Context, r Ref, do func(*Client) error) (err error) {
	c := k.clients[r.Service]
	switch {
	case r.Host != "" && r.Host != k.Host:
		err = usage("ralph writes to no other host than that of your remote")
	case c == nil:
		if c, err = Open(r.Service, string(filepath.Separator)); err == nil { // glab has settings in the repository, too
			k.clients[r.Service] = c
		}
	}
	if who := r.Service + r.Host; err == nil && k.me[who] == "" {
		var me gjson.Result
		me, err = c.One(ctx, r, "GET", "user", nil)
		k.me[who] = cmp.Or(me.Get("login").String(), me.Get("username").String())
	}
	if err == nil {
		err = do(c)
	}
	if bad := (*Error)(nil); errors.As(err, &bad) && bad.Exit == state.ExitUsage {
		if !k.told[bad.Text] { // a missing program is so for every issue
			k.told[bad.Text] = true
			k.Say(r.String() + ": " + bad.Text)
		}
		return nil
	}
	return err
}

var ourMark = lazy.Regexp(`^<!-- ralph run=(\S+) task=\S+ (open|done) -->`)

func (k *Talk) comments(ctx context.Context, c *Client, r Ref) ([]gjson.Result, error) {
	return c.API(ctx, r, "GET", fmt.Sprintf("%s/issues/%d/%s?per_page=100&sort=asc", c.Repo(r), r.Issue, c.notes), nil)
}

// send writes our comment: the one of this run, or that of an earlier run which was killed, or a new one.
func (k *Talk) send(ctx context.Context, c *Client, r Ref, body string) error {
	if k.ids[r] == 0 {
		all, err := k.comments(ctx, c, r)
		if err != nil {
			return err
		}
		for _, m := range all {
			mark := ourMark().FindStringSubmatch(m.Get("body").String())
			if mark != nil && c.author(m) == k.me[r.Service+r.Host] && (mark[1] == k.Run || mark[2] == "open") {
				if k.ids[r] = m.Get("id").Int(); m.Get("body").String() == body {
					return nil
				}
			}
		}
	}
	method, path := "POST", fmt.Sprintf("%s/issues/%d/%s", c.Repo(r), r.Issue, c.notes)
	if id := k.ids[r]; id != 0 {
		method, path = c.edits, c.Repo(r)+"/issues/"+strings.NewReplacer("ISSUE", strconv.Itoa(r.Issue), "ID", strconv.FormatInt(id, 10)).Replace(c.note)
	}
	m, err := c.One(ctx, r, method, path, map[string]string{"body": body})
	if k.ids[r] = m.Get("id").Int(); missing(err) {
		return ErrLater // somebody has deleted it
	}
	return err
}

// questions returns those of the tasks of an issue.
func (k *Talk) questions(r Ref) []question.Question {
	all, _ := k.Questions.List() // the run says what is wrong with them
	return slices.DeleteFunc(all, func(q question.Question) bool {
		of, _ := LinkIn(q.Title)
		return of != r
	})
}

func (k *Talk) waits(r Ref) bool {
	return r.Issue > 0 && slices.ContainsFunc(k.questions(r), question.Question.Open)
}

// listen looks for answers until there is no question on an issue.
func (k *Talk) listen(r Ref) {
	if r.Issue == 0 {
		return
	}
	k.Box.Put("answers on "+r.String(), func(ctx context.Context) error {
		if !k.waits(r) {
			return nil
		}
		err := k.with(ctx, r, func(c *Client) error { return k.hear(ctx, c, r) })
		if err == nil && k.waits(r) {
			err = ErrLater
		}
		return err
	})
}

var (
	answerPattern = lazy.Regexp(`(?is)^\s*(q\d+)(?:\s*:|[.,]?\s)\s*(.*)`)
	quotedPattern = lazy.Regexp(`(?m)^>.*\n?`) // the question, in a reply to it
)

// hear takes the answers among the comments on an issue. One without the id of a question answers the only one that was
// open when it was written.
func (k *Talk) hear(ctx context.Context, c *Client, r Ref) error {
	all, err := k.comments(ctx, c, r)
	if err != nil {
		return err
	}
	for _, m := range all {
		id, text, at := m.Get("id").Int(), m.Get("body").String(), m.Get("created_at").Time()
		if k.seen[id] || strings.HasPrefix(text, "<!-- ralph ") || m.Get("system").Bool() {
			continue
		}
		text = quotedPattern().ReplaceAllString(text, "")
		named := answerPattern().FindStringSubmatch(text)
		could := slices.DeleteFunc(k.questions(r), func(q question.Question) bool {
			return at.Before(q.AskedAt.Truncate(time.Second)) || !q.Open() && q.AnsweredAt.Before(at) ||
				named != nil && !strings.EqualFold(named[1], q.ID)
		})
		if len(could) != 1 || !could[0].Open() {
			k.seen[id] = true
			continue
		}
		q := could[0]
		if may, err := c.mayWrite(ctx, r, m); err != nil || !may {
			if k.seen[id] = err == nil; err != nil {
				return err
			}
			continue
		}
		if named != nil {
			text = named[2]
		}
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			if option, err := q.Option(n); err == nil {
				text = option
			}
		}
		k.seen[id] = true
		if _, err := k.Questions.Answered(q.ID, text, c.author(m)+" on "+r.String()); err != nil {
			k.Say(r.String() + ": " + err.Error())
		}
	}
	return nil
}
