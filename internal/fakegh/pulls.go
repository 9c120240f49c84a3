package fakegh

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// CI is how the checks of pull requests end.
type CI struct {
	Git string // the bare repository behind it
	// Needs is a file without which the check of a commit fails; empty: there are no checks. The first look at a commit finds
	// the check running.
	Needs    string
	Conflict bool           // the pull request cannot be merged
	Linkless bool           // the check has no address
	Slow     bool           // another check does not end
	Looks    map[string]int // by commit
}

// head is the commit of a branch on the server; empty: it has none.
func (r *Repo) head(branch string) string {
	out, err := exec.Command("git", "--git-dir", r.Git, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (c *call) shownRepo(part []string) (any, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	may := r.Permissions[c.Login]
	return object{"full_name": strings.Join(part, "/"), "default_branch": "main",
		"permissions": object{"push": may == "write" || may == "admin", "pull": true}}, nil
}

func (r *Repo) shown(p *Pull) object {
	state := p.State
	if state == "" {
		state = "OPEN"
	}
	labels := []object{}
	for _, l := range p.Labels {
		labels = append(labels, object{"name": l})
	}
	return object{"number": p.Number, "url": fmt.Sprintf("https://github.com/o/r/pull/%d", p.Number), "state": state,
		"isDraft": p.Draft, "title": p.Title, "body": p.Body, "headRefOid": r.head(p.Head), "isCrossRepository": p.HeadRepo != "",
		"mergeable": map[bool]string{true: "CONFLICTING", false: "MERGEABLE"}[r.Conflict],
		"labels":    labels}
}

func (c *call) pullList([]string) (any, error) {
	r, err := c.repo(nil)
	if err != nil {
		return nil, err
	}
	list := []object{}
	for _, p := range slices.Backward(r.Pulls) {
		if p.Head == c.flag("--head") {
			list = append(list, r.shown(p))
		}
	}
	return list, nil
}

func (c *call) pullCreate([]string) (any, error) {
	r, err := c.repo(nil)
	if err != nil {
		return nil, err
	}
	head, base := c.flag("--head"), c.flag("--base")
	switch {
	case r.head(head) == "" || r.head(head) == r.head(base):
		return nil, fmt.Errorf("pull request create failed: GraphQL: No commits between %s and %s (createPullRequest)", base, head)
	case slices.ContainsFunc(r.Pulls, func(p *Pull) bool { return p.Head == head && p.State == "" }):
		return nil, fmt.Errorf("a pull request for branch %q into branch %q already exists", head, base)
	}
	body, err := io.ReadAll(os.Stdin)
	if len(body) > 65536 {
		err = errors.New("GraphQL: Body is too long (maximum is 65536 characters) (createPullRequest)")
	}
	c.NextID++
	_, draft := c.flags["--draft"]
	p := &Pull{Number: 100 + c.NextID, Title: c.flag("--title"), Body: string(body), Head: head, Base: base, Draft: draft}
	r.Pulls = append(r.Pulls, p)
	return r.shown(p)["url"], err
}

// pull is the pull request with a number.
func (c *call) pull(repo []string, number string) (*Repo, *Pull, error) {
	r, err := c.repo(repo)
	if err != nil {
		return nil, nil, err
	}
	n, _ := strconv.Atoi(number)
	i := slices.IndexFunc(r.Pulls, func(p *Pull) bool { return p.Number == n })
	if i < 0 {
		return r, nil, errNotFound
	}
	return r, r.Pulls[i], nil
}

func (c *call) pullView(part []string) (any, error) {
	r, p, err := c.pull(nil, part[0])
	if err != nil {
		return nil, err
	}
	return r.shown(p), nil
}

func (c *call) pullReady(part []string) (any, error) {
	_, p, err := c.pull(nil, part[0])
	if err == nil {
		p.Draft = false
	}
	return nil, err
}

func (c *call) pullEdit(part []string) (any, error) {
	r, p, err := c.pull(part, part[2])
	if err != nil {
		return nil, err
	}
	if title, ok := c.body["title"].(string); ok {
		p.Title = title
	}
	if body, ok := c.body["body"].(string); ok {
		p.Body = body
	}
	p.Edits++
	return r.shown(p), nil
}

func (c *call) label(part []string) (any, error) {
	_, p, err := c.pull(part, part[2])
	if err != nil {
		return nil, err
	}
	names, _ := c.body["labels"].([]any)
	list := []object{}
	for _, name := range names {
		p.Labels = append(p.Labels, fmt.Sprint(name))
		list = append(list, object{"name": name})
	}
	return list, nil
}

func (c *call) unlabel(part []string) (any, error) {
	_, p, err := c.pull(part, part[2])
	if err == nil {
		p.Labels = slices.DeleteFunc(p.Labels, func(l string) bool { return l == part[3] })
	}
	return []object{}, err
}

func (c *call) pullChecks(part []string) (any, error) {
	r, p, err := c.pull(nil, part[0])
	switch {
	case err != nil:
		return nil, err
	case r.Needs == "":
		return nil, fmt.Errorf("no checks reported on the '%s' branch", p.Head)
	}
	head, bucket := r.head(p.Head), "pending"
	if r.Looks == nil {
		r.Looks = map[string]int{}
	}
	if r.Looks[head]++; r.Looks[head] > 1 {
		bucket = "pass"
		if exec.Command("git", "--git-dir", r.Git, "cat-file", "-e", head+":"+r.Needs).Run() != nil {
			bucket = "fail"
		}
	}
	link, other := "https://github.com/o/r/actions/runs/7/job/8", "skipping"
	if r.Linkless {
		link = ""
	}
	if r.Slow {
		other = "pending"
	}
	return []object{{"name": "test", "workflow": "CI", "bucket": bucket, "link": link},
		{"name": "docs", "workflow": "CI", "bucket": other, "link": ""}}, nil
}

func (c *call) runView([]string) (any, error) {
	r, err := c.repo(nil)
	if err != nil {
		return nil, err
	}
	return "test\tRun tests\t2026-11-29T12:00:00.0000000Z ##[group]Run make test\n" +
		"test\tRun tests\t2026-11-29T12:00:01.0000000Z FAIL: the file " + r.Needs + " is missing", nil
}
