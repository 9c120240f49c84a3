//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// planTool is the program that people keep their plans with, from npm, pinned.
type planTool struct {
	agentCLI
	plan planProject // what make leaves behind, but for the files
	make func(p *toolProject)
	says func(p *toolProject) string // the tasks, "ID STATE" each
	// begin and end are what it says before and after the run.
	begin, end string
	// reopen opens the first task again with the tool.
	reopen func(p *toolProject)
	// shows has what the tool says of the first task; nil: its format cannot say that it is blocked.
	shows func(p *toolProject) string
}

// toolProject is a project whose plan a tool keeps.
type toolProject struct {
	*project
	tool string // path of the program
}

// run runs the tool in the project and returns what it prints.
func (p *toolProject) run(args ...string) string {
	p.Helper()
	return p.must(append([]string{p.tool}, args...)...)
}

// must runs a program that has to succeed.
func (p *toolProject) must(argv ...string) string {
	p.Helper()
	said, code := p.Run(append([]string{"sh", "-c", `exec "$@" 2>../complaints </dev/null`, "sh"}, argv...)...)
	if code != 0 {
		p.Fatalf("%q ended with %d:\n%s%s", argv, code, said, p.Read("../complaints"))
	}
	return said
}

// read reads the JSON that the tool prints, perhaps among other lines.
func (p *toolProject) read(into any, args ...string) {
	p.Helper()
	said := p.run(args...)
	if err := json.NewDecoder(strings.NewReader(said[max(0, strings.Index(said, "{")):])).Decode(into); err != nil {
		p.Fatalf("%q: %v:\n%s", args, err, said)
	}
}

func planTools() []planTool {
	return []planTool{openSpecTool(), taskmasterTool(), backlogTool(), bmadTool()}
}

func openSpecTool() planTool {
	const change = "openspec/changes/add-login/"
	return planTool{
		agentCLI: agentCLI{name: "openspec", pkg: "@fission-ai/openspec", version: "1.13.2"},
		plan: planProject{ids: []string{"1.1", "1.2.1", "1.2"},
			mark: "sed -i 's/\\[ \\] 1.1/[x] 1.1/' " + change + "tasks.md"},
		make: func(p *toolProject) {
			p.Set("OPENSPEC_TELEMETRY", "0")
			p.Set("OPENSPEC_NO_UPDATE_CHECK", "1")
			p.run("init", "--tools", "none", "--no-animation", ".")
			p.run("new", "change", "add-login")
			p.Write(change+"proposal.md", "# Proposal\n\n## Why\n\nUsers cannot see their own orders today, as nobody knows who they are.\n\n"+
				"## What Changes\n\n- A form.\n\n## Capabilities\n\n### New Capabilities\n\n- `auth`: log in\n\n## Impact\n\nNone.\n")
			p.Write(change+"specs/auth/spec.md", "## ADDED Requirements\n\n### Requirement: Log in\n\nThe system SHALL let a user log in.\n\n"+
				"#### Scenario: Right password\n\n- **WHEN** the password is right\n- **THEN** the user is logged in\n")
			p.Write(change+"tasks.md", "## 1. Accounts\n\n- [ ] 1.1 Make the form\n- [~] 1.2 Check the password\n  - [] 1.2.1 Refuse a wrong one\n- [ x ] 1.3 Choose a library\n")
		},
		says: func(p *toolProject) string {
			p.run("validate", "add-login", "--no-interactive")
			var said struct {
				Tasks []struct {
					Description string
					Done        bool
				}
			}
			p.read(&said, "instructions", "apply", "--change", "add-login", "--json")
			var all []string
			for _, t := range said.Tasks {
				id, _, _ := strings.Cut(t.Description, " ")
				all = append(all, fmt.Sprintf("%s %t", id, t.Done))
			}
			return strings.Join(all, ", ") + "; " + strings.Join(strings.Fields(p.run("list"))[2:4], " ")
		},
		begin:  "1.1 false, 1.2 false, 1.2.1 false, 1.3 true; 1/4 tasks",
		end:    "1.1 true, 1.2 true, 1.2.1 true, 1.3 true; ✓ Complete",
		reopen: nil, // it writes no boxes
	}
}

func taskmasterTool() planTool {
	return planTool{
		// What is optional are agents of its own, of half a gigabyte.
		agentCLI: agentCLI{name: "task-master", pkg: "task-master-ai", version: "0.43.1", npm: []string{"--omit=optional"}},
		plan: planProject{ids: []string{"1.1", "1", "2"},
			mark: "sed -i '0,/in-progress/s//done/' .taskmaster/tasks/tasks.json"},
		make: func(p *toolProject) {
			p.Set("TASKMASTER_SKIP_AUTO_UPDATE", "1")
			p.Write(".taskmaster/config.json", `{"global": {"anonymousTelemetry": false}}`)
			p.Write(".taskmaster/state.json", `{"currentTag": "master", "branchTagMapping": {}}`)
			p.Write(".taskmaster/tasks/tasks.json", `{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Log in",
        "description": "Users log in",
        "details": "With sessions",
        "testStrategy": "",
        "status": "pending",
        "dependencies": [],
        "priority": "medium",
        "subtasks": [
          {
            "id": 1,
            "title": "The form",
            "description": "A form",
            "details": "",
            "status": "pending",
            "dependencies": [],
            "parentTaskId": 1
          }
        ]
      },
      {
        "id": 2,
        "title": "Log out",
        "description": "Users log out",
        "details": "Soon",
        "testStrategy": "",
        "status": "pending",
        "dependencies": [
          1
        ],
        "priority": "high",
        "subtasks": []
      }
    ],
    "metadata": {
      "created": "2026-11-28T15:25:47.879Z",
      "updated": "2026-11-28T15:26:18.703Z",
      "description": "Tasks for master context"
    }
  }
}
`)
		},
		says: func(p *toolProject) string {
			type item struct {
				ID, Status string
				Subtasks   []item
			}
			var said struct{ Tasks []item }
			p.read(&said, "list", "--json", "--with-subtasks")
			var all []string
			for _, t := range said.Tasks {
				all = append(all, t.ID+" "+t.Status)
				for _, sub := range t.Subtasks {
					all = append(all, t.ID+"."+sub.ID+" "+sub.Status)
				}
			}
			return strings.Join(all, ", ")
		},
		begin:  "1 pending, 1.1 pending, 2 pending",
		end:    "1 done, 1.1 done, 2 done",
		reopen: func(p *toolProject) { p.run("set-status", "--id=1.1", "--status=pending") },
		shows:  func(p *toolProject) string { return p.run("show", "1.1") },
	}
}

func backlogTool() planTool {
	return planTool{
		agentCLI: agentCLI{name: "backlog", pkg: "backlog.md", version: "1.52.0"},
		plan: planProject{ids: []string{"TASK-1", "TASK-2"},
			mark: "sed -i 's/status: In Progress/status: Done/' 'backlog/tasks/task-1 - Log-in.md'"},
		make: func(p *toolProject) {
			p.run("init", "Shop", "--defaults", "--integration-mode", "none")
			config := p.Read("backlog/config.yml")
			p.Write("backlog/config.yml", strings.Replace(config, `"In Progress", `, `"In Progress", "Blocked", `, 1))
			p.run("task", "create", "Log in", "-d", "Users log in.", "--ac", "a wrong password is refused")
			p.run("task", "create", "Log out", "--depends-on", "task-1", "--priority", "high", "--ac", "the session ends", "--ac", "the cookie goes")
			p.run("task", "create", "Some day", "-s", "Draft")
		},
		says: func(p *toolProject) string {
			var said struct {
				Tasks []struct {
					ID, Status string
					Done       int `json:"acceptanceCriteriaCompleted"`
					All        int `json:"acceptanceCriteriaCount"`
				}
			}
			p.read(&said, "task", "list", "--json", "--sort", "id")
			var all []string
			for _, t := range said.Tasks {
				all = append(all, fmt.Sprintf("%s %s %d/%d", t.ID, t.Status, t.Done, t.All))
			}
			return strings.Join(all, ", ")
		},
		begin:  "TASK-1 To Do 0/1, TASK-2 To Do 0/2",
		end:    "TASK-1 Done 0/1, TASK-2 Done 2/2", // ralph ticks what it marks itself
		reopen: func(p *toolProject) { p.run("task", "edit", "1", "-s", "To Do") },
		shows:  func(p *toolProject) string { return p.run("task", "view", "1", "--plain") },
	}
}

// bmadTool keeps a plan with the scripts that bmad installs in a project.
func bmadTool() planTool {
	const (
		kept   = "_bmad-output/implementation-artifacts"
		file   = kept + "/sprint-status.yaml"
		epics  = "_bmad-output/planning-artifacts/epics.md"
		script = ".claude/skills/bmad-sprint-planning/scripts/sprint_plan.py"
	)
	plan := func(p *toolProject, more ...string) string {
		return p.must(append([]string{"/usr/bin/python3", script}, more...)...)
	}
	generate := func(p *toolProject, more ...string) {
		plan(p, append([]string{"generate", "--epic-file", epics, "--status-file", file, "--stories-dir", kept, "--project", "Shop", "--date", "11-20-2026 08:00"}, more...)...)
	}
	return planTool{
		agentCLI: agentCLI{name: "bmad", pkg: "bmad-method", version: "6.12.0"},
		plan:     planProject{ids: []string{"1-1-log-in", "1-2-über-uns"}, mark: "sed -Ei 's/^( *1-1-log-in|Status): in-progress$/\\1: review/' " + file + " " + kept + "/1-1-log-in.md"},
		make: func(p *toolProject) {
			if said, code := p.Run("sh", "-c", "/usr/bin/python3 -c 'import ruamel.yaml'"); code != 0 {
				needs(p, fmt.Errorf("python3-ruamel.yaml, which the scripts of bmad need, is not installed: %s", said))
			}
			p.run("install", "-y", "--directory", ".", "--modules", "bmm", "--tools", "claude-code")
			p.Write(epics, "# Epics\n\n## Epic 1: Accounts\n\n### Story 1.1: Log in\n\nAs a user.\n\n### Story 1.2: Über uns\n")
			for key, title := range map[string]string{"1-1-log-in": "Story 1.1: Log in", "1-2-über-uns": "Story 1.2: Über uns"} {
				p.Write(filepath.Join(kept, key+".md"), "# "+title+"\n\nStatus: ready-for-dev\n\n## Acceptance Criteria\n\n1. It works.\n")
			}
			generate(p)
		},
		says: func(p *toolProject) string {
			var status struct{ Stories, Epics map[string]int }
			var valid struct {
				Valid    bool
				Problems []string
			}
			for command, into := range map[string]any{"status": &status, "validate": &valid} {
				if err := json.Unmarshal([]byte(plan(p, command, "--status-file", file)), into); err != nil {
					p.Fatal(err)
				}
			}
			return fmt.Sprint(status.Stories, status.Epics, valid)
		},
		begin:  "map[ready-for-dev:2] map[backlog:1] {true []}",
		end:    "map[done:2] map[in-progress:1] {true []}",
		reopen: func(p *toolProject) { generate(p, "--set", "1-1-log-in=ready-for-dev") },
	}
}

// A tool makes the plan, ralph works it off, and the tool reads what ralph has written.
func TestRalph_planOfItsOwnTool_agreesWithTheTool(t *testing.T) {
	for _, tool := range planTools() {
		t.Run(tool.name, func(t *testing.T) {
			bin, err := tool.fetch()
			needs(t, err)
			p := &toolProject{newProject(t, claude(), 1, tool.plan.script()), filepath.Join(bin, tool.name)}
			p.Git("rm", "-q", ".ralph/fix_plan.md")
			tool.make(p)
			p.Commit("plan")
			if got := tool.says(p); got != tool.begin {
				t.Fatalf("at first the tool says %s, want %s", got, tool.begin)
			}
			exit := p.ralph("run").Wait(3 * time.Minute)
			s := p.status()
			if exit != 0 || s.ExitReason != "plan_complete" || s.LoopCount != len(tool.plan.ids) {
				t.Errorf("exit %d, status %+v", exit, s)
			}
			if got := tool.says(p); got != tool.end {
				t.Errorf("the tool says %s, want %s", got, tool.end)
			}
			if tool.reopen == nil {
				return
			}
			tool.reopen(p)
			first := tool.plan.ids[0]
			var list []struct{ ID, State string }
			said, code := p.Run("ralph", "task", "list", "--json")
			err = json.Unmarshal([]byte(said), &list)
			if open := slices.ContainsFunc(list, func(t struct{ ID, State string }) bool { return t.ID == first && t.State == "open" }); code != 0 || err != nil || !open {
				t.Errorf("the tool has opened %s again, and ralph says (%d, %v):\n%s", first, code, err, said)
			}
			if tool.shows == nil {
				return
			}
			if said, code := p.Run("ralph", "task", "block", first, "--reason", "waits for the design"); code != 0 {
				t.Fatalf("%d: %s", code, said)
			}
			if said := strings.ToLower(tool.shows(p)); !strings.Contains(said, "blocked") {
				t.Errorf("the tool does not show that %s is blocked:\n%s", first, said)
			}
			before := tool.says(p)
			if said, code := p.Run("ralph", "task", "reopen", first); code != 0 {
				t.Fatalf("%d: %s", code, said)
			}
			if said := strings.ToLower(tool.shows(p)); strings.Contains(said, "status: blocked") || tool.says(p) == before {
				t.Errorf("the tool still shows that %s is blocked:\n%s", first, said)
			}
		})
	}
}
