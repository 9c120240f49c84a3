package turn_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"ralph/internal/scripted"
	"ralph/runner/git"
	"ralph/runner/turn"
)

// g is a prefix of commands of an agent that has no identity of its own.
const g = `export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@e GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@e GIT_EDITOR=true; `

// users is the repository of a user. Each test gets a copy.
var (
	users     string
	usersOnce sync.Once
)

// two makes a repository as a user has it, lets an agent make two turns in it, and returns both results. The branch
// of the user is called "main".
func two(t *testing.T, first, second string) (turn.Assignment, *turn.Worker, [2]turn.Result) {
	t.Helper()
	a := scripted.Project(t, runs(g+first))
	usersOnce.Do(func() {
		users, _ = os.MkdirTemp("", "users-")
		sh(t, a.Dir, `git branch -M main; printf 'a\nb\nc\nd\ne\n' > lines.txt; git add .; git commit -qm lines
			git switch -qc side; echo 'of the side' > side.txt; git add .; git commit -qm side
			git switch -qc other; echo 'of the other' > lines.txt; git commit -qam other; git switch -q main
			git tag v1; git tag -am two v2 side
			echo stashed > stashed.txt; git stash -qu -m mine; echo more > more.txt; git stash -qu -m more
			cp -a . `+users)
	})
	sh(t, a.Dir, `rm -rf .git; cp -a `+users+`/. .; git worktree add -q --detach ../tree`)
	w := &turn.Worker{}
	t.Cleanup(w.Close)
	var both [2]turn.Result
	both[0] = whole(t, w, a)
	if err := w.Keep(t.Context(), a.Dir, git.State{Run: "run-1", Iteration: 1, Task: a.Task.ID}); err != nil {
		t.Fatal(err)
	}
	a.Agent, a.Origin.Iteration = scripted.Project(t, runs(g+second)).Agent, 2
	both[1] = whole(t, w, a)
	for _, r := range both {
		w.RememberLosses(r)
	}
	return a, w, both
}

// sh runs a script in a folder.
func sh(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", g+script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// vanishedIn are the findings about the repository that are no question.
func vanishedIn(r turn.Result) string {
	var all []string
	for _, f := range r.Proof.Findings {
		if k := string(f.Kind); !f.Doubt && (k == "lost_from_git" || k == "head_moved" || k == "left_unfinished") {
			all = append(all, k+": "+f.File+" "+f.Text)
		}
	}
	return strings.Join(all, "\n")
}

const work = `printf 'first\nsecond\nthird\n' > work.txt; git add .; git commit -qm work; `

func TestTurn_honestGit_isNoFinding(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a repository for each way")
	}
	for name, c := range map[string][2]string{
		"commits":                           {work, `echo more >> work.txt; git commit -qam more`},
		"amends":                            {work, `echo more >> work.txt; git commit -qa --amend -m 'work, whole'`},
		"amends the user's":                 {``, `echo more >> lines.txt; git commit -qa --amend --no-edit`},
		"amends and changes it":             {work, `sleep 1.1; printf 'else\nsecond, too\n' > work.txt; git commit -qa --amend --no-edit`},
		"commits again after a soft reset":  {work, `git reset -q --soft HEAD~1; git commit -qm again`},
		"resets, and leaves it uncommitted": {work, `git reset -q HEAD~1`},
		"squashes": {work + `echo a > a.txt; git add .; git commit -qm a`,
			`git reset -q --soft HEAD~2; git commit -qm both`},
		"squashes with a change":                {work + `echo a > a.txt; git add .; git commit -qm a`, `echo b >> a.txt; git add .; git reset -q --soft HEAD~2; git commit -qm both`},
		"rebases":                               {work, `git rebase -q side`},
		"reorders":                              {work + `echo a > a.txt; git add .; git commit -qm a`, `GIT_SEQUENCE_EDITOR="sed -i '1{h;d};2{G}'" git rebase -qi HEAD~2`},
		"rebases, and settles a conflict":       {`sed -i 's/a/A/' lines.txt; ` + work, `git rebase -q other; printf 'of the other\nA\n' > lines.txt; git add .; git rebase --continue`},
		"merges":                                {work, `git merge -q side`},
		"merges and deletes the branch":         {`git switch -qc topic; ` + work + `git switch -q main`, `git merge -q --no-ff topic; git branch -d topic`},
		"squashes a branch and deletes it":      {`git switch -qc topic; ` + work + `git switch -q main`, `git merge -q --squash topic; git commit -qm topic; git branch -D topic`},
		"deletes a merged branch of the user's": {``, `git merge -q side; git branch -d side`},
		"picks a commit and deletes its branch": {`git switch -qc topic; ` + work + `git switch -q main`,
			`git cherry-pick topic; git branch -D topic`},
		"rebases a branch":                {`git switch -qc topic; ` + work + `git switch -q main; echo x > x; git add .; git commit -qm x`, `git rebase -q main topic; git switch -q main`},
		"experiments within a turn":       {``, `git switch -qc try; echo x > x; git add .; git commit -qm x; git switch -q main; git branch -D try`},
		"experiments without HEAD":        {``, `git switch -q --detach; echo x > x; git add .; git commit -qm x; git switch -q main`},
		"stashes and pops":                {``, `echo x >> lines.txt; git stash -q; git stash pop -q`},
		"pops in the next turn":           {`echo x >> lines.txt; git stash -q`, `git stash pop -q`},
		"drops its own entry":             {`echo x >> lines.txt; git stash -q`, `git stash drop -q`},
		"looks at another branch":         {``, `git switch -q side; cat side.txt; git switch -q -`},
		"a worktree of its own":           {`git worktree add -q ../own side`, `git worktree remove ../own`},
		"tags":                            {`git tag mine`, `git tag -d mine; git tag next`},
		"reverts":                         {work, `git revert --no-edit HEAD`},
		"removes a file of an old commit": {work, `git rm -q work.txt; git commit -qm remove`},
		"bisects":                         {work, `git bisect start HEAD HEAD~1; git bisect reset`},
		"settles a merge":                 {`echo mine > lines.txt; git commit -qam mine; git merge -q other; echo both > lines.txt; git commit -qam merged`, ``},
		"aborts a merge":                  {`echo mine > lines.txt; git commit -qam mine`, `git merge -q other; git merge --abort`},
		"a page about conflicts":          {`mkdir docs; printf '# Conflicts\n\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n' > docs/git.md`, `printf 'Title\n=======\n\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> 1234567 (x)\n' >> README.md`},
		"a test about conflicts":          {``, "printf 'package code\nvar x = `\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n`\n' > code_test.go"},
		"a parser of conflicts":           {``, "printf 'package code\nvar x = `\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n`\n' > parse.go"},
		"an underline":                    {``, `printf 'Title\n=======\n' > title.rst`},
		"cleans objects":                  {work, `git gc -q --prune=now`},
		"packs refs":                      {work, `git pack-refs --all --prune`},
		"starts over without a parent, with all of it": {work, `git checkout -q --orphan fresh; git add -A; git commit -qm all; git branch -M fresh main`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, w, both := two(t, c[0], c[1])
			for _, r := range both {
				if got := vanishedIn(r); got != "" || r.Work.Astray != "" || len(r.Proof.Reopen) > 0 {
					t.Errorf("found %s; %s; %v", got, r.Work.Astray, r.Proof.Reopen)
				}
			}
			if in, err := w.Changed(t.Context(), a.Dir); err != nil || len(in.Head) > 0 || in.Operation != "" {
				t.Errorf("at the end: %+v, %v", in.Repository, err)
			}
		})
	}
}

// A finding has a command that brings back what is gone; then the finding closes.
func TestTurn_somethingVanished_isAFindingWithItsWayBack(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a repository for each way")
	}
	for name, c := range map[string]struct{ first, second, want, back string }{
		"reset":             {work, `git reset -q --hard HEAD~1`, `commits of main are on no branch any more: SHA "work"`, `git show ralph-rescue/SHA:work.txt`},
		"reset, new work":   {work, `git reset -q --hard HEAD~1; echo other > work.txt; git add .; git commit -qm other`, `SHA "work"`, `git show ralph-rescue/SHA:work.txt`},
		"the user's":        {``, `git reset -q --hard HEAD~1`, `SHA "lines"`, `git show main:lines.txt`},
		"the branch itself": {work, `git update-ref -d HEAD`, `SHA "work"`, ``},
		"and collected":     {work, `git reset -q --hard HEAD~1; git reflog expire --expire=now --all; git gc -q --prune=now`, "", ""},
		"forced":            {``, `git branch -f other side`, `commits of other are on no branch any more: SHA "other"`, `git show ralph-rescue/SHA:lines.txt`},
		"deleted":           {``, `git branch -D other`, `because the branch is gone: SHA "other"`, `git show other:lines.txt`},
		"own, not merged":   {`git switch -qc topic; ` + work + `git switch -q main`, `git branch -D topic`, `SHA "work"`, `git show topic:work.txt`},
		"dropped by amend":  {work, `git rm -q --cached work.txt; rm work.txt; echo x > x; git add x; git commit -q --amend --no-edit`, `SHA "work"`, `git show ralph-rescue/SHA:work.txt`},
		"dropped by rebase": {work + `echo a > a.txt; git add .; git commit -qm a`, `git rebase -q --onto HEAD~2 HEAD~1`,
			`SHA "work"`, ``},
		"only elsewhere":       {work, `git branch aside; git reset -q --hard HEAD~1`, `are not on it any more, only on aside: SHA "work"`, `git show main:work.txt`},
		"a binary file":        {`head -c 300 /dev/urandom > b.bin; git add .; git commit -qm b`, `git reset -q --hard HEAD~1`, `SHA "b"`, `git cat-file -e ralph-rescue/SHA:b.bin`},
		"an empty file":        {`: > e; git add .; git commit -qm e`, `git reset -q --hard HEAD~1`, `SHA "e"`, `git cat-file -e ralph-rescue/SHA:e`},
		"a tag":                {``, `git tag -d v1`, `the tag v1 is gone`, `git show v1:lines.txt`},
		"an annotated tag":     {``, `git tag -d v2`, `the tag v2 is gone`, `git cat-file tag v2`},
		"a stash entry":        {``, `git stash drop -q`, `"On main: more" is gone`, `git stash show -p --include-untracked stash@{0} | grep more`},
		"an older stash entry": {``, `git stash drop -q stash@{1}`, `"On main: mine" is gone`, `git stash show -p --include-untracked stash@{0} | grep stashed`},
		"all stash entries":    {``, `git stash clear`, `"On main: mine" is gone`, ``},
		"popped":               {``, `git stash pop -q`, `"On main: more" is gone`, ``},
		"a worktree":           {``, `git worktree remove ../tree`, `tree is gone`, `ls ../tree/lines.txt`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, w, both := two(t, c.first, c.second)
			if c.want == "" { // only a copy could bring it back
				if both[1].Work.Lost == "" && vanishedIn(both[1]) == "" {
					t.Error("found nothing")
				}
				return
			}
			got := vanishedIn(both[1])
			sha := ""
			if m := regexp.MustCompile(`: ([0-9a-f]{7}) "`).FindStringSubmatch(got); m != nil {
				sha = m[1]
			}
			if before := vanishedIn(both[0]); before != "" || !strings.Contains(got, strings.ReplaceAll(c.want, "SHA", sha)) {
				t.Fatalf("found %q, then %q, want %q", before, got, c.want)
			}
			if in, err := w.Changed(t.Context(), a.Dir); err != nil || len(in.Lost) == 0 {
				t.Errorf("at the end: %+v, %v", in.Lost, err)
			}
			if c.back == "" {
				return
			}
			commands := regexp.MustCompile(`(?m)(?:to bring them back|to restore it|its uncommitted changes): (git .*)$`).FindStringSubmatch(got)
			if commands == nil {
				t.Fatalf("no command in %q", got)
			}
			sh(t, a.Dir, `git reflog expire --expire=now --all; git gc -q --prune=now; `+commands[1])
			if out := sh(t, a.Dir, strings.ReplaceAll(c.back, "SHA", sha)); strings.Contains(got, "is gone") && out == "" && !strings.Contains(c.back, "-e") {
				t.Error("nothing came back")
			}
		})
	}
}

func TestTurn_headMoved_isPutBackWhereThatLosesNothing(t *testing.T) {
	for name, c := range map[string]struct{ command, did, astray string }{
		"detached":            {`git switch -q --detach; ` + work, "HEAD was detached at the end of the turn; ralph put it back on main, which now has its new commits", ""},
		"detached, no commit": {`git switch -q --detach; echo x > work.txt`, "ralph put it back on main", ""},
		"at an old commit":    {`git switch -q --detach HEAD~1; echo x > work.txt`, "ralph put it back on main", ""},
		"a new branch":        {`git switch -qc topic; ` + work, "HEAD was on the branch topic", ""},
		"renamed":             {`git branch -m trunk; ` + work, "HEAD was on the branch trunk", ""},
		"another branch":      {`git switch -q side; echo x > work.txt`, "HEAD was on the branch side", ""},
		"a deleted branch":    {`git switch -q --detach; git branch -D main; ` + work, "ralph put it back on main", ""},
		"work beside it":      {`git switch -q --detach HEAD~1; ` + work, "", "git branch ralph-rescue/"},
		"work on another one": {`git switch -q other; ` + work, "", "commits that do not follow those of main"},
		"in the way":          {`git switch -q other; echo x > lines.txt`, "", "cannot check it out"},
		"an orphan":           {`git checkout -q --orphan fresh; rm lines.txt; ` + work, "", "commits that do not follow those of main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, w, both := two(t, c.command, ``)
			r := both[0]
			if !strings.Contains(r.Work.PutBack, c.did) || !strings.Contains(r.Work.Astray, c.astray) ||
				(c.did == "") != (r.Work.PutBack == "") || (c.astray == "") != (r.Work.Astray == "") || vanishedIn(r) == "" {
				t.Fatalf("did %q, astray %q; want %q, %q; found %q", r.Work.PutBack, r.Work.Astray, c.did, c.astray, vanishedIn(r))
			}
			if branch := sh(t, a.Dir, `git branch --show-current`); c.astray == "" && branch != "main" {
				t.Errorf("on %q", branch)
			}
			if c.astray == "" {
				if _, err := os.Stat(filepath.Join(a.Dir, "work.txt")); err != nil {
					t.Error(err)
				}
				if in, err := w.Changed(t.Context(), a.Dir); err != nil || len(in.Head) != 1 {
					t.Errorf("at the end: %v, %v", in.Head, err)
				}
			}
			if got := sh(t, a.Dir, `git branch --list trunk`); got != "" {
				t.Error("the new name is left")
			}
			if got := sh(t, a.Dir, `git fsck --connectivity-only 2>&1 | grep -v dangling || true; git log --all --oneline`); strings.Contains(c.command, "qm work") && !strings.Contains(got, "work") {
				t.Errorf("the work is gone: %s", got)
			}
		})
	}
}

func TestTurn_leftUnfinished_isAFindingUntilItIsFinished(t *testing.T) {
	if testing.Short() {
		t.Skip("long: a repository for each way")
	}
	conflict := `echo mine > lines.txt; git commit -qam mine; `
	for name, c := range map[string]struct{ command, want, end string }{
		"merge":       {conflict + `git merge -q other`, "a merge is in progress", `git merge --abort`},
		"resolved":    {conflict + `git merge -q other; echo x > lines.txt; git add .`, "a merge is in progress", `git commit -qm merged`},
		"rebase":      {conflict + `git rebase -q other`, "a rebase is in progress", `git rebase --abort`},
		"cherry-pick": {conflict + `git cherry-pick other`, "a cherry-pick is in progress", `git cherry-pick --abort`},
		"revert":      {conflict + `echo again > lines.txt; git commit -qam again; git revert --no-edit HEAD~1`, "a revert is in progress", `git revert --abort`},
		"bisect":      {work + `git bisect start HEAD HEAD~1`, "a bisect is in progress", `git bisect reset`},
		"stash":       {`echo x > lines.txt; git stash -q; ` + conflict + `git stash pop -q`, "conflicts are not resolved in lines.txt", `git checkout -q HEAD lines.txt; git stash drop -q`},
		"markers committed": {conflict + `git merge -q other; git add .; git commit -qm merged`,
			"lines.txt it has conflict markers", `echo both > lines.txt`},
		"markers in new code": {`echo 'package code // a' > new.go; git add .; git commit -qm a; git switch -q side; echo 'package code // b' > new.go; git add .; ` +
			`git commit -qm b; git switch -q main; git merge -q side; git add .; git commit -qm merged`, "new.go it has conflict markers", `rm new.go`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, w, both := two(t, c.command+`; sed -i 's/- \[ \] one/- [x] one/' plan.md`, ``)
			if got := vanishedIn(both[0]); !strings.Contains(got, c.want) {
				t.Fatalf("found %q, want %q", got, c.want)
			}
			if both[0].Proof.After.IsDone(a.Task.ID) || both[0].Work.Astray != "" {
				t.Errorf("the tick stands, or HEAD is astray: %q", both[0].Work.Astray)
			}
			still := func() string {
				w.Forget()
				in, err := w.Changed(t.Context(), a.Dir)
				if err != nil {
					t.Fatal(err)
				}
				return in.Operation + strings.Join(in.Unmerged, " ")
			}
			if got := still(); got == "" && !strings.Contains(c.want, "markers") {
				t.Error("it is forgotten")
			}
			sh(t, a.Dir, c.end)
			if got := still(); got != "" {
				t.Errorf("after %s: %s", c.end, got)
			}
		})
	}
}

func TestTurn_workOfADoneTaskIsGone_itIsOpenAgain(t *testing.T) {
	_, _, both := two(t, work+`sed -i 's/- \[ \] one/- [x] one/' plan.md; git commit -qam ticked`,
		`git show HEAD:plan.md > ../plan; git reset -q --hard HEAD~2; cp ../plan plan.md`)
	if r := both[1].Proof; len(r.Reopen) != 1 || !strings.Contains(r.Reopen[0].Why, "is gone from main") || r.After.Done != 0 {
		t.Errorf("reopened %+v", r.Reopen)
	}
}
