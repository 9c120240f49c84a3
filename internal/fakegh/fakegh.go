// Package fakegh stands in for gh and glab in tests. It knows the calls that ralph makes; paths, flags and the fields of the
// answers follow the documentation of both.
package fakegh

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// State is what the service knows. It is kept in a file beside the program.
type State struct {
	Login  string           // who is logged in
	Here   string           // the repository of the folder
	Repos  map[string]*Repo // by OWNER/NAME
	Faults []Fault
	Calls  []string // the command lines so far
	Folder string   // in which the latest call ran
	Reset  int64    // of the rate limit; 0: there is none
	NextID int
}

// Fault makes a call fail.
type Fault struct {
	Call  string // a part of its command line
	Says  string // on standard error
	Exit  int
	Times int // it happens; below 0: always
}

// Repo is a repository.
type Repo struct {
	Issues      []*Issue
	Comments    []*Comment        // of issues and pull requests
	Permissions map[string]string // of people: admin, write, read
	Pulls       []*Pull
	Commits     []string       // that were pushed, without Git
	Columns     map[int]string // of issues in project 3
	CI
}

// Issue is an issue.
type Issue struct {
	Number              int
	Title, Body, Author string
	State               string // empty: open
	Milestone           string
	Labels              []string
}

// Comment is a comment on an issue.
type Comment struct {
	ID, Issue    int
	Author, Body string
	Created      time.Time
	Edits        int
}

// Pull is a pull request.
type Pull struct {
	Number                            int
	Title, Body, Head, Base, HeadRepo string
	State                             string // empty: open
	Draft                             bool
	Labels                            []string
	Edits                             int
	Threads                           []*Thread
}

// Thread is a thread of a review.
type Thread struct {
	ID, Path string
	Line     int
	Resolved bool
	Comments []Comment
}

// Init acts as gh or glab if the test binary has that name. TestMain calls it first.
func Init() {
	name := filepath.Base(os.Args[0])
	if name != "gh" && name != "glab" {
		return
	}
	f := file(filepath.Join(filepath.Dir(os.Args[0]), "forge.json"))
	code := 0
	f.Change(func(s *State) { code = s.run(name, os.Args[1:]) })
	os.Exit(code)
}

// Forge is a service in the hands of a test.
type Forge struct {
	Bin  string // folder of the programs
	file file
}

// Install puts gh and glab on PATH.
func Install(t testing.TB, s State) *Forge {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	f := &Forge{bin, file(filepath.Join(bin, "forge.json"))}
	data, err := json.Marshal(s)
	if err := errors.Join(err, os.Symlink(self, filepath.Join(bin, "gh")), os.Symlink(self, filepath.Join(bin, "glab")),
		os.WriteFile(string(f.file), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return f
}

// Change reads the state, lets do change it, and writes it.
func (f *Forge) Change(do func(*State)) { f.file.Change(do) }

// State reads the state.
func (f *Forge) State() (now State) {
	f.file.Change(func(s *State) { now = *s })
	return now
}

type file string

// Change holds a lock: calls come side by side.
func (f file) Change(do func(*State)) {
	lock, err := os.OpenFile(string(f)+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		panic(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		panic(err)
	}
	var s State
	data, err := os.ReadFile(string(f))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		panic(err)
	}
	do(&s)
	if data, err = json.Marshal(s); err == nil { // a call may be killed while it writes
		err = errors.Join(os.WriteFile(string(f)+".new", data, 0o600), os.Rename(string(f)+".new", string(f)))
	}
	if err != nil {
		panic(err)
	}
}

// call is one call of a program.
type call struct {
	*State
	program string
	words   []string
	flags   map[string][]string
	body    map[string]any
}

func (s *State) run(program string, args []string) int {
	line := program + " " + strings.Join(args, " ")
	c := call{State: s, program: program, flags: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		name, value, with := strings.Cut(args[i], "=")
		switch {
		case !strings.HasPrefix(args[i], "-"):
			c.words = append(c.words, args[i])
			continue
		case !with && !slices.Contains([]string{"--paginate", "--draft", "--undo", "--log-failed"}, name) && i+1 < len(args):
			i++
			value = args[i]
		}
		c.flags[name] = append(c.flags[name], value)
	}
	if c.flag("--input") == "-" {
		data, err := io.ReadAll(os.Stdin)
		if err == nil {
			err = json.Unmarshal(data, &c.body)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		line += " < " + string(data)
	}
	s.Calls = append(s.Calls, line)
	s.Folder, _ = os.Getwd()
	for i, f := range s.Faults {
		if strings.Contains(line, f.Call) && f.Times != 0 {
			s.Faults[i].Times--
			fmt.Fprintln(os.Stderr, f.Says)
			return f.Exit
		}
	}
	answer, err := c.answer()
	if err != nil {
		fmt.Fprintln(os.Stderr, program+": "+err.Error())
		return 1
	}
	all, several := answer.(pages)
	for _, page := range all {
		data, err := json.Marshal(page)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\n", data)
	}
	if text, ok := answer.(string); ok {
		fmt.Println(text)
	} else if answer != nil && !several {
		data, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s\n", data)
	}
	return 0
}

func (c *call) flag(name string) string { return strings.Join(c.flags[name], ",") }

type object = map[string]any

// answers are the commands and paths, with what answers them; * stands for a segment. The first that fits does. The paths
// of glab are those of gh with other words: see answer.
func answers() (rows []row) {
	for _, r := range append(reviewAnswers(), []reply{
		{"gh issue list", (*call).issueList},
		{"gh project item-list *", (*call).itemList},
		{"gh GET rate_limit", func(c *call, _ []string) (any, error) {
			limit := object{"remaining": 5000, "reset": 0}
			if c.Reset > 0 {
				limit = object{"remaining": 0, "reset": c.Reset}
			}
			return object{"resources": object{"core": limit}}, nil
		}},
		{"gh GET user", func(c *call, _ []string) (any, error) { return c.user(c.Login), nil }},
		{"glab GET user", func(c *call, _ []string) (any, error) { return c.user(c.Login), nil }},
		{"gh GET repos/*/*/issues/*", (*call).issue},
		{"glab GET repos/*/*/issues", (*call).issueList},
		{"glab GET repos/*/*/issues/*", (*call).issue},
		{"gh GET repos/*/*/issues/*/comments", (*call).comments},
		{"glab GET repos/*/*/issues/*/comments", (*call).comments},
		{"gh POST repos/*/*/issues/*/comments", (*call).comment},
		{"glab POST repos/*/*/issues/*/comments", (*call).comment},
		{"gh PATCH repos/*/*/issues/comments/*", (*call).edit},
		{"glab PUT repos/*/*/issues/*/comments/*", (*call).edit},
		{"gh GET repos/*/*/collaborators/*/permission", (*call).permission},
		{"glab GET repos/*/*/members/all/*", (*call).permission},
		{"gh GET repos/*/*", (*call).shownRepo},
		{"gh pr list", (*call).pullList},
		{"gh pr create", (*call).pullCreate},
		{"gh pr view *", (*call).pullView},
		{"gh pr ready *", (*call).pullReady},
		{"gh pr checks *", (*call).pullChecks},
		{"gh run view", (*call).runView},
		{"gh PATCH repos/*/*/pulls/*", (*call).pullEdit},
		{"gh POST repos/*/*/issues/*/labels", (*call).label},
		{"gh DELETE repos/*/*/issues/*/labels/*", (*call).unlabel},
	}...) {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(r.words), `\*`, `([^/]+)`)
		rows = append(rows, row{regexp.MustCompile("^" + pattern + "$"), r.do})
	}
	return rows
}

type reply struct {
	words string
	do    func(c *call, part []string) (any, error)
}

type row struct {
	match *regexp.Regexp
	do    func(c *call, part []string) (any, error)
}

var errNotFound = errors.New("Not Found (HTTP 404)") //nolint:staticcheck // its words

func (c *call) answer() (any, error) {
	if len(c.words) == 0 || c.words[0] == "" {
		return nil, errors.New("unknown command")
	}
	words := c.program + " " + strings.Join(c.words, " ")
	if c.words[0] == "api" {
		path, query, _ := strings.Cut(c.words[1], "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			return nil, err
		}
		for k, v := range values {
			c.flags["?"+k] = v
		}
		path = strings.NewReplacer("{owner}/{repo}", c.Here, ":fullpath", url.PathEscape(c.Here)).Replace(path)
		if rest, ok := strings.CutPrefix(path, "projects/"); ok && c.program == "glab" {
			path = "repos/" + strings.NewReplacer("%2F", "/", "/notes", "/comments").Replace(rest)
		}
		method := c.flag("--method")
		if method == "" {
			method = "GET"
		}
		words = c.program + " " + method + " " + path
	}
	for _, row := range answers() {
		if m := row.match.FindStringSubmatch(words); m != nil {
			return row.do(c, m[1:])
		}
	}
	return nil, fmt.Errorf("unknown command %q", words)
}

// repo is that of the first parts, or of --repo.
func (c *call) repo(part []string) (*Repo, error) {
	name := c.Here
	if given := strings.Split(c.flag("--repo"), "/"); len(given) > 1 { // with a host, or without
		name = strings.Join(given[len(given)-2:], "/")
	} else if len(part) > 1 {
		name = part[0] + "/" + part[1]
	}
	if r := c.Repos[name]; r != nil {
		return r, nil
	}
	if c.words[0] == "api" {
		return nil, errNotFound
	}
	return nil, fmt.Errorf("GraphQL: Could not resolve to a Repository with the name '%s'. (repository)", name)
}

// issueList returns the open issues that the flags want, or the query of glab.
func (c *call) issueList(part []string) (any, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	name, list := strings.Join(part, "/"), []object{}
	for _, other := range []string{c.flag("--repo"), c.Here} {
		if name == "" {
			name = other
		}
	}
	labels, milestone, author := c.flags["--label"], c.flag("--milestone"), c.flag("--author")
	if c.program == "glab" {
		labels, milestone, author = strings.Split(c.flag("?labels"), ","), c.flag("?milestone"), c.flag("?author_username")
	}
	for _, i := range r.Issues {
		if i.State != "" || milestone != "" && milestone != i.Milestone || author != "" && author != i.Author ||
			slices.ContainsFunc(labels, func(l string) bool { return l != "" && !slices.Contains(i.Labels, l) }) {
			continue
		}
		shown := c.shownIssue(i, name)
		if c.program == "gh" {
			shown = object{"number": i.Number, "title": i.Title, "body": i.Body, "url": shown["html_url"]}
		}
		list = append(list, shown)
	}
	return list, nil
}

func (c *call) shownIssue(i *Issue, repo string) object {
	state := i.State
	if state == "" {
		state = map[string]string{"gh": "open", "glab": "opened"}[c.program]
	}
	if c.program == "glab" {
		return object{"iid": i.Number, "id": 5000 + i.Number, "title": i.Title, "description": i.Body, "state": state,
			"web_url": fmt.Sprintf("https://gitlab.com/%s/-/issues/%d", repo, i.Number)}
	}
	return object{"number": i.Number, "id": 5000 + i.Number, "title": i.Title, "body": i.Body, "state": state,
		"url": fmt.Sprintf("https://api.github.com/repos/%s/issues/%d", repo, i.Number), "html_url": fmt.Sprintf("https://github.com/%s/issues/%d", repo, i.Number)}
}

func (c *call) itemList([]string) (any, error) {
	items := []object{}
	for name, r := range c.Repos {
		for n, column := range r.Columns {
			items = append(items, object{"status": column, "content": object{"type": "Issue", "number": n, "repository": name,
				"url": fmt.Sprintf("https://github.com/%s/issues/%d", name, n)}})
		}
	}
	return object{"items": items, "totalCount": len(items)}, nil
}

func (c *call) user(name string) object {
	kind := map[bool]string{true: "Bot", false: "User"}[strings.HasSuffix(name, "[bot]")]
	return object{map[string]string{"gh": "login", "glab": "username"}[c.program]: name, "id": idOf(name), "type": kind}
}

// idOf is the number of a person.
func idOf(name string) int {
	id := 0
	for _, r := range name {
		id = id*31%1_000_003 + int(r)
	}
	return id
}

func (c *call) issue(part []string) (any, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	for _, i := range r.Issues {
		if strconv.Itoa(i.Number) == part[2] {
			return c.shownIssue(i, part[0]+"/"+part[1]), nil
		}
	}
	return nil, errNotFound
}

func (c *call) shown(m *Comment) object {
	return object{"id": m.ID, "body": m.Body, map[string]string{"gh": "user", "glab": "author"}[c.program]: c.user(m.Author),
		"created_at": m.Created.UTC().Format(time.RFC3339)}
}

func (c *call) comments(part []string) (any, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	list := []object{}
	for _, m := range r.Comments {
		if strconv.Itoa(m.Issue) == part[2] {
			list = append(list, c.shown(m))
		}
	}
	return list, nil
}

func (c *call) comment(part []string) (any, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	c.NextID++
	m := &Comment{ID: 1000 + c.NextID, Author: c.Login, Body: fmt.Sprint(c.body["body"]), Created: time.Now()}
	if m.Issue, err = strconv.Atoi(part[2]); err != nil {
		return nil, err
	}
	r.Comments = append(r.Comments, m)
	return c.shown(m), nil
}

func (c *call) edit(part []string) (any, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	for _, m := range r.Comments {
		if strconv.Itoa(m.ID) == part[len(part)-1] && m.Author == c.Login {
			m.Body, m.Edits = fmt.Sprint(c.body["body"]), m.Edits+1
			return c.shown(m), nil
		}
	}
	return nil, errNotFound
}

func (c *call) permission(part []string) (any, error) {
	r, err := c.repo(part)
	if err != nil {
		return nil, err
	}
	for name, what := range r.Permissions {
		switch {
		case c.program == "gh" && name == part[2]:
			return object{"permission": what}, nil
		case c.program == "glab" && strconv.Itoa(idOf(name)) == part[2]:
			return object{"access_level": map[string]int{"read": 20, "write": 30, "admin": 50}[what], "state": "active"}, nil
		}
	}
	return nil, errNotFound
}
