// Package forge speaks to the service that hosts a repository, only through the user's own gh or glab. What they print is
// data, and decides nothing but what it says about an error of the program itself.
package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/logs"
	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/runner/git/command"
	"ralph/state"
)

// Service is a row of the table: a program, and how the API that it calls names things.
type Service struct {
	Name  string // of the program, and the prefix of references
	about string // where to get it
	host  string // the usual one, which references leave out

	project, here string // in the API: what is before the name of a repository, and the path of that of the folder
	quote         func(string) string
	text, url     string // fields of an issue
	pulls, notes  string // what pull requests and comments are called in a path
	edits, note   string // a comment on an issue: method, and path below issues/
}

// Services lists the programs.
func Services() []Service {
	return []Service{
		{Name: "gh", about: "https://cli.github.com", host: "github.com", project: "repos/", here: "repos/{owner}/{repo}",
			quote: func(s string) string { return s }, text: "body", url: "html_url", pulls: "pulls", notes: "comments",
			edits: "PATCH", note: "comments/ID"},
		{Name: "glab", about: "https://gitlab.com/gitlab-org/cli", host: "gitlab.com", project: "projects/",
			here: "projects/:fullpath", quote: url.PathEscape, text: "description", url: "web_url",
			pulls: "merge_requests", notes: "notes", edits: "PUT", note: "ISSUE/notes/ID"},
	}
}

// Ref names something on a forge: gh:OWNER/REPO#12, gh:HOST/OWNER/REPO/pr/34, glab:GROUP/REPO/mr/34, or the same without a
// repository, which is that of the folder. The zero Ref names nothing.
type Ref struct {
	Service string
	Host    string // empty: the usual one
	Repo    string // empty: that of the folder
	Issue   int
	Pull    int
	Thread  string // of the pull request
}

var refPattern = lazy.Regexp(`^(gh|glab):((?:[\w.-]+/)+?[\w.-]+?)??(?:(?:#(\d{1,9}))|(?:/?(?:pr|mr)/(\d{1,9})(?:#([\w=-]+))?))?$`)

// ParseRef reads a reference.
func ParseRef(text string) (r Ref, ok bool) {
	m := refPattern().FindStringSubmatch(text)
	if m == nil || strings.Contains(m[2], "..") || strings.Contains("/"+m[2], "/-") {
		return r, false
	}
	r = Ref{Service: m[1], Repo: m[2], Thread: m[5]}
	r.Issue, _ = strconv.Atoi(m[3])
	r.Pull, _ = strconv.Atoi(m[4])
	if host, repo, _ := strings.Cut(r.Repo, "/"); strings.Contains(host, ".") && strings.Contains(repo, "/") {
		r.Host, r.Repo = host, repo
	}
	return r, true
}

// String returns the reference as ParseRef reads it.
func (r Ref) String() string {
	text := r.Service + ":" + strings.TrimPrefix(r.Host+"/", "/") + r.Repo
	switch {
	case r.Issue > 0:
		text += fmt.Sprintf("#%d", r.Issue)
	case r.Pull > 0:
		text += fmt.Sprintf("/%s/%d", map[bool]string{true: "pr", false: "mr"}[r.Service == "gh"], r.Pull)
		if r.Thread != "" {
			text += "#" + r.Thread
		}
	}
	return strings.Replace(text, ":/", ":", 1)
}

// at returns the reference with the host and the repository of an address of an issue or a pull request.
func (r Ref) at(s Service, address string) Ref {
	u, err := url.Parse(address)
	if err != nil {
		return r
	}
	repo := strings.Trim(u.Path, "/")
	for _, end := range []string{"/-/", "/issues/", "/pull/"} {
		repo, _, _ = strings.Cut(repo, end)
	}
	if r.Repo = repo; u.Host != s.host {
		r.Host = u.Host
	}
	return r
}

// LinkIn returns the reference in the title of a task, where import puts it: "(gh:OWNER/REPO#12)". If people added
// others, the last one counts.
func LinkIn(title string) (Ref, bool) {
	for end := len(title); ; {
		end = strings.LastIndexByte(title[:end], '(')
		if end < 0 {
			return Ref{}, false
		}
		inner, _, closed := strings.Cut(title[end+1:], ")")
		if r, ok := ParseRef(inner); ok && closed && r.Repo != "" && r.Issue+r.Pull > 0 {
			return r, true
		}
	}
}

// Client calls a program in a folder.
type Client struct {
	Service
	Dir  string
	path string
}

// Open finds the program of a service.
func Open(service, dir string) (*Client, error) {
	rows := Services()
	i := slices.IndexFunc(rows, func(s Service) bool { return s.Name == service })
	if i < 0 {
		return nil, &Error{Exit: state.ExitUsage, Text: fmt.Sprintf("unknown service %q; known: gh, glab", service)}
	}
	path, err := exec.LookPath(service)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, &Error{Exit: state.ExitUsage, Text: fmt.Sprintf("the %s CLI is needed, which is not installed; see: %s",
			service, rows[i].about)}
	}
	return &Client{rows[i], dir, path}, nil
}

// Error is why a forge did not do what it was asked, in one line.
type Error struct {
	Text  string
	Exit  int       // the exit code of ralph that fits
	Until time.Time // when a rate limit ends; zero: it is not one

	missing bool // there is no such thing
}

// missing is true for the error of something that does not exist.
func missing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.missing
}

func (e *Error) Error() string { return e.Text }

// callBound is how long one call may take.
const callBound = time.Minute

// Run runs the program and returns what it prints. It never asks anything.
func (c *Client) Run(ctx context.Context, stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	out, err := command.Call{Dir: c.Dir, Program: c.path, Stdin: stdin, Env: []string{"GH_PROMPT_DISABLED=1",
		"GLAB_NO_PROMPT=1", "NO_PROMPT=1", "NO_COLOR=1", "GH_NO_UPDATE_NOTIFIER=1", "GLAB_CHECK_UPDATE=false", "GH_DEBUG=",
		"DEBUG=", "GH_FORCE_TTY=", "PAGER=cat", "GH_PAGER=cat"}}.Run(ctx, args...)
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return "", &Error{Exit: state.ExitError, Text: fmt.Sprintf("%s %s did not end: %v", c.Name, args[0], ctx.Err())}
	}
	return out, c.explain(ctx, err)
}

// explain makes one line of what the program says about its failure.
func (c *Client) explain(ctx context.Context, err error) error {
	was := (*exec.ExitError)(nil)
	if !errors.As(err, &was) {
		return &Error{Exit: state.ExitError, Text: err.Error()}
	}
	_, said, _ := strings.Cut(err.Error(), was.Error()+":")
	line := termtext.Fit(strings.TrimPrefix(termtext.Line(logs.Redact(said)), c.Name+": "), 300)
	for _, row := range []struct {
		words string
		exit  int
		text  string
	}{
		{"rate limit|http 429|too many requests", state.ExitLimited, ""},
		{"unknown flag|unknown shorthand|unknown command|unknown json field", state.ExitUsage,
			c.Name + " is too old (" + line + "); update it: " + c.about},
		{"auth login|bad credentials|http 401|401 unauthorized", state.ExitUsage,
			c.Name + " is not logged in; run: " + c.Name + " auth login"},
		{"http 404|404 not found|404 commit not found|could not resolve to|no commit found", state.ExitUsage,
			"no such repository, issue or pull request, or you may not see it: " + line},
		{"http 403|403 forbidden|required scope|insufficient_scope|disabled issues", state.ExitUsage, "not allowed: " + line},
		{"no git remotes|not a git repository|none of the git remotes", state.ExitUsage,
			"this folder has no repository there; name it: " + c.Name + ":OWNER/REPO"},
		{"", state.ExitError, c.Name + ": " + line},
	} {
		if !saysOne(said, row.words) {
			continue
		}
		e := &Error{Exit: row.exit, Text: row.text, missing: strings.HasPrefix(row.text, "no such")}
		if row.exit == state.ExitLimited {
			e.Until = c.reset(ctx)
			e.Text = fmt.Sprintf("%s: rate limit until %s: %s", c.Name, e.Until.Local().Format("15:04:05"), line)
		}
		return e
	}
	return err
}

// saysOne reports whether a text has one of these words, which | separates. They are in lower case; an empty one is in any text.
func saysOne(text, words string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(strings.Split(words, "|"), func(word string) bool { return strings.Contains(text, word) })
}

// limitPause is how long a rate limit is taken to last if the service does not say.
const limitPause = time.Minute

// reset is when the rate limit ends. Asking does not count against it.
func (c *Client) reset(ctx context.Context) time.Time {
	until := time.Now().Add(limitPause)
	if c.Name != "gh" {
		return until
	}
	out, err := command.Call{Dir: c.Dir, Program: c.path}.Run(ctx, "api", "rate_limit")
	if err == nil {
		for _, r := range []string{"core", "graphql"} {
			r := gjson.Get(out, "resources."+r)
			if at := time.Unix(r.Get("reset").Int(), 0); r.Get("remaining").Int() == 0 && at.After(until) {
				until = at
			}
		}
	}
	return until
}

// Repo is the path of a repository in the API.
func (c *Client) Repo(r Ref) string {
	if r.Repo == "" {
		return c.here
	}
	return c.project + c.quote(r.Repo)
}

// on says on which host a repository is. Otherwise GH_HOST or the folder decides.
func (c *Client) on(r Ref) []string {
	if r.Repo == "" {
		return nil
	}
	return []string{"--hostname", cmp.Or(r.Host, c.host)}
}

// API calls the API with a path of the host of r, and returns the answers: the elements of a list, or one value. body is sent
// as JSON; nil: nothing is. Of a path with per_page, it gets all pages.
func (c *Client) API(ctx context.Context, r Ref, method, path string, body any) ([]gjson.Result, error) {
	args, input := append([]string{"api", path, "--method", method}, c.on(r)...), ""
	if strings.Contains(path, "per_page=") {
		args = append(args, "--paginate")
	}
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		input, args = string(data), append(args, "--header", "Content-Type: application/json", "--input", "-")
	}
	return c.values(ctx, input, args...)
}

// values returns what a call prints: the elements of lists, or single values.
func (c *Client) values(ctx context.Context, input string, args ...string) (all []gjson.Result, err error) {
	out, err := c.Run(ctx, input, args...)
	for dec := json.NewDecoder(strings.NewReader(out)); err == nil; { // a value for each page
		var page json.RawMessage
		if err = dec.Decode(&page); errors.Is(err, io.EOF) {
			return all, nil
		}
		if v := gjson.ParseBytes(page); v.IsArray() {
			all = append(all, v.Array()...)
		} else if err == nil {
			all = append(all, v)
		}
	}
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		err = &Error{Exit: state.ExitError, Text: c.Name + " did not print JSON: " + termtext.Fit(termtext.Line(out), 80)}
	}
	return nil, err
}

// One is API for one value.
func (c *Client) One(ctx context.Context, r Ref, method, path string, body any) (gjson.Result, error) {
	all, err := c.API(ctx, r, method, path, body)
	if err == nil && len(all) != 1 {
		err = &Error{Exit: state.ExitError, Text: fmt.Sprintf("%s: %d answers to %s, not one", c.Name, len(all), path)}
	}
	return append(all, gjson.Result{})[0], err
}
