package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
)

// Review is what the reviewers of a pull request still want.
type Review struct {
	Branch  string // of the pull request
	Fork    string // the repository that has it, if it is another one; empty: it is not
	Threads []Issue
	Left    []Issue // those of people who may not write to the repository
}

// thread is a thread of a review; settled is true if nothing is left to do about it.
type thread struct {
	id, path string
	line     int64
	settled  bool
	comments []gjson.Result
}

const threadQuery = `query($owner:String!,$name:String!,$number:Int!,$endCursor:String){repository(owner:$owner,name:$name){` +
	`pullRequest(number:$number){reviewThreads(first:50,after:$endCursor){pageInfo{hasNextPage endCursor} nodes{` +
	`id isResolved path line originalLine comments(first:100){nodes{body url author{login}}}}}}}}`

const (
	replyQuery = `mutation($id:ID!,$body:String!){addPullRequestReviewThreadReply(input:{pullRequestReviewThreadId:$id,body:$body}){` +
		`comment{id}}}`
	resolveQuery = `mutation($id:ID!){resolveReviewThread(input:{threadId:$id}){thread{id}}}`
)

// Review returns the unresolved threads of a pull request that people with write access began, or the author, with what they
// wrote there.
func (c *Client) Review(ctx context.Context, r Ref, author string) (v Review, err error) {
	pull, err := c.One(ctx, r, "GET", c.pull(r), nil)
	if err != nil {
		return v, err
	}
	if s := pull.Get("state").String(); s == "closed" || s == "merged" {
		return v, usage("%s is %s", r, s)
	}
	r = r.at(c.Service, pull.Get(c.url).String())
	v.Branch = cmp.Or(pull.Get("head.ref").String(), pull.Get("source_branch").String())
	if from := pull.Get("head.repo.full_name").String(); from != r.Repo && pull.Get("head").Exists() ||
		pull.Get("source_project_id").Int() != pull.Get("target_project_id").Int() {
		v.Fork = cmp.Or(from, "another project")
	}
	all, err := c.threads(ctx, r)
	may := map[string]bool{}
	counts := func(m gjson.Result) bool {
		by := c.author(m)
		if _, known := may[by]; !known && author == "" && err == nil {
			may[by], err = c.mayWrite(ctx, r, m)
		}
		return author != "" && by == author || may[by]
	}
	for _, t := range all {
		first := t.comments[0]
		began := !t.settled && counts(first)
		if t.settled || author != "" && !began {
			continue
		}
		r.Thread = t.id
		place := fmt.Sprintf("%s:%d", t.path, t.line)
		said, _, _ := strings.Cut(strings.TrimSpace(first.Get("body").String()), "\n")
		i := Issue{Ref: r, Title: place + ": " + termtext.Fit(termtext.Line(said), 80),
			URL: cmp.Or(first.Get("url").String(), pull.Get(c.url).String()), Text: place + "\n"}
		if !began {
			v.Left = append(v.Left, i)
			continue
		}
		for _, m := range t.comments {
			if counts(m) { // anybody may reply
				i.Text += fmt.Sprintf("%s wrote:\n%s\n", c.author(m), m.Get("body"))
			}
		}
		v.Threads = append(v.Threads, i)
	}
	return v, err
}

func (c *Client) pull(r Ref) string { return fmt.Sprintf("%s/%s/%d", c.Repo(r), c.pulls, r.Pull) }

// author is the name of who wrote a comment. It takes no words of theirs.
func (c *Client) author(comment gjson.Result) string {
	return cmp.Or(comment.Get("user.login").String(), comment.Get("author.login").String(), comment.Get("author.username").String())
}

// mayWrite reports whether the author of a comment may write to the repository. Who is unknown there may not, nor may a program,
// which repeats what others write, or somebody who is gone.
func (c *Client) mayWrite(ctx context.Context, r Ref, comment gjson.Result) (bool, error) {
	if c.author(comment) == "" || comment.Get("user.type").String() == "Bot" {
		return false, nil
	}
	path := "/members/all/" + comment.Get("author.id").String()
	if c.Name == "gh" {
		path = "/collaborators/" + url.PathEscape(c.author(comment)) + "/permission"
	}
	a, err := c.One(ctx, r, "GET", c.Repo(r)+path, nil)
	if missing(err) {
		return false, nil
	}
	return a.Get("permission").String() == "write" || a.Get("permission").String() == "admin" || a.Get("access_level").Int() >= 30, err
}

// threads returns the threads of a pull request that have comments on its files.
func (c *Client) threads(ctx context.Context, r Ref) (all []thread, err error) {
	if c.Name == "gh" {
		owner, name, _ := strings.Cut(r.Repo, "/")
		args := []string{"api", "graphql", "--paginate", "-f", "query=" + threadQuery, "-f", "owner=" + owner, "-f", "name=" + name,
			"-F", fmt.Sprintf("number=%d", r.Pull)}
		pages, err := c.values(ctx, "", append(args, c.on(r)...)...)
		for _, page := range pages {
			for _, t := range page.Get("data.repository.pullRequest.reviewThreads.nodes").Array() {
				if said := t.Get("comments.nodes").Array(); len(said) > 0 {
					all = append(all, thread{t.Get("id").String(), t.Get("path").String(),
						cmp.Or(t.Get("line").Int(), t.Get("originalLine").Int()), t.Get("isResolved").Bool(), said})
				}
			}
		}
		return all, err
	}
	list, err := c.API(ctx, r, "GET", c.pull(r)+"/discussions?per_page=100", nil)
	for _, d := range list {
		said := d.Get("notes").Array()
		if len(said) > 0 && said[0].Get("resolvable").Bool() {
			at := said[0].Get("position")
			all = append(all, thread{d.Get("id").String(), cmp.Or(at.Get("new_path").String(), at.Get("old_path").String()),
				cmp.Or(at.Get("new_line").Int(), at.Get("old_line").Int()), said[0].Get("resolved").Bool(), said})
		}
	}
	return all, err
}

// settle answers a thread with the commit that settles it, and resolves it if that is allowed. Before the service has the
// commit, it returns ErrLater.
func (c *Client) settle(ctx context.Context, r Ref, commit string) error {
	path := map[string]string{"gh": "/commits/", "glab": "/repository/commits/"}[c.Name]
	_, err := c.One(ctx, r, "GET", c.Repo(r)+path+commit, nil)
	if missing(err) {
		return ErrLater
	}
	if err != nil {
		return err
	}
	all, err := c.threads(ctx, r)
	i := slices.IndexFunc(all, func(t thread) bool { return t.id == r.Thread })
	if err != nil || i < 0 || all[i].settled {
		return err // somebody has resolved it, or it is gone
	}
	mark := fmt.Sprintf("<!-- ralph %s -->", commit)
	text := mark + "\nSettled in " + commit + "."
	at := fmt.Sprintf("%s/discussions/%s", c.pull(r), r.Thread)
	switch {
	case slices.ContainsFunc(all[i].comments, func(m gjson.Result) bool { return strings.HasPrefix(m.Get("body").String(), mark) }):
	case c.Name == "gh":
		_, err = c.One(ctx, r, "POST", "graphql", map[string]any{"query": replyQuery, "variables": map[string]string{"id": r.Thread, "body": text}})
	default:
		_, err = c.One(ctx, r, "POST", at+"/notes", map[string]string{"body": text})
	}
	if err != nil {
		return err
	}
	if c.Name == "gh" {
		_, err = c.One(ctx, r, "POST", "graphql", map[string]any{"query": resolveQuery, "variables": map[string]string{"id": r.Thread}})
	} else {
		_, err = c.One(ctx, r, "PUT", at+"?resolved=true", nil)
	}
	if bad := (*Error)(nil); errors.As(err, &bad) && !bad.Until.IsZero() {
		return err
	}
	return nil // who may not resolve it leaves that to people
}
