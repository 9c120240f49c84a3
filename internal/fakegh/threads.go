package fakegh

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// reviewAnswers are the calls about threads of reviews.
func reviewAnswers() []reply {
	return []reply{
		{"gh GET repos/*/*/pulls/*", (*call).reviewed},
		{"glab GET repos/*/*/merge_requests/*", (*call).reviewed},
		{"glab GET repos/*/*/merge_requests/*/discussions", (*call).discussions},
		{"glab POST repos/*/*/merge_requests/*/discussions/*/comments", (*call).answered},
		{"glab PUT repos/*/*/merge_requests/*/discussions/*", (*call).resolved},
		{"gh GET repos/*/*/commits/*", (*call).commit},
		{"glab GET repos/*/*/repository/commits/*", (*call).commit},
		{"gh GET graphql", (*call).graphQL},
		{"gh POST graphql", (*call).graphQL},
	}
}

// review finds a pull request.
func (c *call) review(part []string) (*Pull, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(r.Pulls, func(p *Pull) bool { return strconv.Itoa(p.Number) == part[2] })
	if i < 0 {
		return nil, errNotFound
	}
	return r.Pulls[i], nil
}

func (c *call) reviewed(part []string) (any, error) {
	p, err := c.review(part)
	if err != nil {
		return nil, err
	}
	repo := part[0] + "/" + part[1]
	if c.program == "glab" {
		state := map[bool]string{true: "opened", false: p.State}[p.State == ""]
		return object{"iid": p.Number, "state": state, "source_branch": p.Head, "source_project_id": 7, "target_project_id": 7,
			"web_url": fmt.Sprintf("https://gitlab.com/%s/-/merge_requests/%d", repo, p.Number)}, nil
	}
	from := p.HeadRepo
	if from == "" {
		from = repo
	}
	state := map[bool]string{true: "open", false: "closed"}[p.State == ""]
	return object{"number": p.Number, "state": state, "head": object{"ref": p.Head, "repo": object{"full_name": from}},
		"html_url": fmt.Sprintf("https://github.com/%s/pull/%d", repo, p.Number)}, nil
}

func (c *call) discussions(part []string) (any, error) {
	p, err := c.review(part)
	if err != nil {
		return nil, err
	}
	list := []object{}
	for _, t := range p.Threads {
		notes := []object{}
		for _, m := range t.Comments {
			note := c.shown(&m)
			note["resolvable"], note["resolved"], note["position"] = true, t.Resolved, object{"new_path": t.Path, "new_line": t.Line}
			notes = append(notes, note)
		}
		list = append(list, object{"id": t.ID, "individual_note": false, "notes": notes})
	}
	return append(list, object{"id": "talk", "individual_note": true, "notes": []object{{"body": "Thanks", "resolvable": false}}}), nil
}

func (c *call) commit(part []string) (any, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	pushed := slices.Contains(r.Commits, part[2])
	if r.Git != "" {
		pushed = exec.Command("git", "--git-dir", r.Git, "cat-file", "-e", part[2]+"^{commit}").Run() == nil
	}
	if !pushed {
		return nil, map[string]error{"gh": fmt.Errorf("No commit found for SHA: %s (HTTP 422)", part[2]), "glab": errors.New("404 Commit Not Found")}[c.program] //nolint:staticcheck // its words
	}
	return object{"sha": part[2], "id": part[2]}, nil
}

// thread finds a thread by its id.
func (c *call) thread(id string) (*Repo, *Thread) {
	for _, r := range c.Repos {
		for _, p := range r.Pulls {
			for _, t := range p.Threads {
				if t.ID == id {
					return r, t
				}
			}
		}
	}
	return nil, nil
}

func (c *call) say(id, text string) (any, error) {
	_, t := c.thread(id)
	if t == nil {
		return nil, errNotFound
	}
	t.Comments = append(t.Comments, Comment{Author: c.Login, Body: text})
	return object{"id": 1}, nil
}

func (c *call) answered(part []string) (any, error) {
	return c.say(part[3], fmt.Sprint(c.body["body"]))
}

func (c *call) resolve(id string) (any, error) {
	r, t := c.thread(id)
	if t == nil {
		return nil, errNotFound
	}
	if may := r.Permissions[c.Login]; may != "write" && may != "admin" {
		return nil, errors.New("Resource not accessible by personal access token (HTTP 403)") //nolint:staticcheck // its words
	}
	t.Resolved = true
	return object{"id": t.ID}, nil
}

func (c *call) resolved(part []string) (any, error) { return c.resolve(part[3]) }

// graphQL answers the queries that ralph sends: it pages threads by two.
func (c *call) graphQL([]string) (any, error) {
	query, _ := c.body["query"].(string)
	variables, _ := c.body["variables"].(map[string]any)
	id, text := fmt.Sprint(variables["id"]), fmt.Sprint(variables["body"])
	switch {
	case strings.Contains(query, "addPullRequestReviewThreadReply(input:{pullRequestReviewThreadId:$id,body:$body})"):
		return c.say(id, text)
	case strings.Contains(query, "resolveReviewThread(input:{threadId:$id})"):
		return c.resolve(id)
	}
	given := map[string]string{}
	for _, field := range append(c.flags["-f"], c.flags["-F"]...) {
		name, value, _ := strings.Cut(field, "=")
		given[name] = value
	}
	if !strings.Contains(given["query"], "reviewThreads(first:50,after:$endCursor)") {
		return nil, fmt.Errorf("unknown query %q", query+given["query"])
	}
	p, err := c.review([]string{given["owner"], given["name"], given["number"]})
	if err != nil {
		return nil, err
	}
	pages := pages{}
	for threads := p.Threads; ; threads = threads[2:] {
		nodes := []object{}
		for _, t := range threads[:min(2, len(threads))] {
			said := []object{}
			for i, m := range t.Comments {
				said = append(said, object{"body": m.Body, "author": object{"login": m.Author},
					"url": fmt.Sprintf("https://github.com/%s/%s/pull/%d#discussion_r%s-%d", given["owner"], given["name"], p.Number, t.ID, i)})
			}
			nodes = append(nodes, object{"id": t.ID, "isResolved": t.Resolved, "path": t.Path, "line": nil, "originalLine": t.Line,
				"comments": object{"nodes": said}})
		}
		more := len(threads) > 2
		pages = append(pages, object{"data": object{"repository": object{"pullRequest": object{"reviewThreads": object{
			"pageInfo": object{"hasNextPage": more, "endCursor": "c"}, "nodes": nodes}}}}})
		if !more {
			return pages, nil
		}
	}
}

// pages are several values, one after the other.
type pages []object
