package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"ralph/state"
)

// Issue is an issue, or a thread of a review, as a plan needs it. Strangers may have written Title and Text.
type Issue struct {
	Ref              Ref
	Title, Text, URL string
}

// Wanted reads a query such as "milestone=1.0&label=bug", which chooses among the open issues of a repository.
func Wanted(query string) (url.Values, error) {
	known := []string{"milestone", "label", "author", "project", "column"}
	v, err := url.ParseQuery(query)
	for name := range v {
		if !slices.Contains(known, name) {
			return nil, usage("?%s= is not allowed here; known: %s", name, strings.Join(known, ", "))
		}
	}
	if err != nil {
		err = usage("?%s: %v", query, err)
	}
	return v, err
}

func usage(format string, args ...any) error {
	return &Error{Exit: state.ExitUsage, Text: fmt.Sprintf(format, args...)}
}

// Issues returns the open issues of a repository, or the one that r names, by number.
func (c *Client) Issues(ctx context.Context, r Ref, want url.Values) (issues []Issue, err error) {
	var list []gjson.Result
	switch {
	case r.Issue > 0:
		var one gjson.Result
		one, err = c.One(ctx, r, "GET", fmt.Sprintf("%s/issues/%d", c.Repo(r), r.Issue), nil)
		if err == nil && one.Get("state").String() == "closed" {
			return nil, usage("%s is closed", r)
		}
		if one.Get("pull_request").Exists() {
			return nil, usage("%s is a pull request; what its reviewers want: ralph import %s", r, Ref{Service: r.Service,
				Host: r.Host, Repo: r.Repo, Pull: r.Issue})
		}
		list = append(list, one)
	case c.Name == "gh":
		list, err = c.listGitHub(ctx, r, want)
	case want.Has("project"):
		return nil, usage("glab: has no projects; a column of a board is a label: glab:GROUP/REPO?label=NAME")
	default:
		query := url.Values{"state": {"opened"}, "per_page": {"100"}}
		for flag, name := range map[string]string{"milestone": "milestone", "author_username": "author", "labels": "label"} {
			if want.Has(name) {
				query.Set(flag, strings.Join(want[name], ","))
			}
		}
		list, err = c.API(ctx, r, "GET", c.Repo(r)+"/issues?"+query.Encode(), nil)
	}
	for _, i := range list {
		address := cmp.Or(i.Get(c.url).String(), i.Get("url").String()) // as gh issue list calls it
		at := r.at(c.Service, address)
		at.Issue = int(max(i.Get("number").Int(), i.Get("iid").Int()))
		issues = append(issues, Issue{at, i.Get("title").String(), i.Get(c.text).String(), address})
	}
	slices.SortStableFunc(issues, func(a, b Issue) int { return a.Ref.Issue - b.Ref.Issue })
	return issues, err
}

// listGitHub lists issues with the names that people give, which the API does not take.
func (c *Client) listGitHub(ctx context.Context, r Ref, want url.Values) ([]gjson.Result, error) {
	args := []string{"issue", "list", "--state", "open", "--limit", "500", "--json", "number,title,body,url"}
	if r.Repo != "" {
		args = append(args, "--repo="+strings.TrimPrefix(r.Host+"/", "/")+r.Repo)
	}
	for _, name := range []string{"milestone", "author", "label"} {
		for _, value := range want[name] {
			args = append(args, "--"+name+"="+value)
		}
	}
	out, err := c.Run(ctx, "", args...)
	if err != nil || !want.Has("project") && !want.Has("column") {
		return gjson.Parse(out).Array(), err
	}
	owner, _, _ := strings.Cut(r.Repo, "/")
	if _, bad := strconv.Atoi(want.Get("project")); bad != nil || owner == "" {
		return nil, usage("a column is that of a project: gh:OWNER/REPO?project=NUMBER&column=NAME")
	}
	items, err := c.Run(ctx, "", "project", "item-list", want.Get("project"), "--owner="+owner, "--format=json", "--limit=1000")
	in := map[string]bool{}
	for _, item := range gjson.Get(items, "items").Array() {
		if !want.Has("column") || strings.EqualFold(item.Get("status").String(), want.Get("column")) {
			in[item.Get("content.url").String()] = true
		}
	}
	return slices.DeleteFunc(gjson.Parse(out).Array(), func(i gjson.Result) bool { return !in[i.Get("url").String()] }), err
}
