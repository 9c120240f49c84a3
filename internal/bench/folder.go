package main

import (
	"fmt"
	"path/filepath"
	"time"

	"ralph/runner/task"
	"ralph/runner/task/store"
)

// folderTasks is the number of tasks in a plan with a file for each. The bounds are for that many.
const folderTasks = 2_000

const (
	folderBound       = 750 * time.Millisecond
	folderMemoryBound = 160 // MiB
	// turnBound is how long ralph may take between two agents with a plan of 20,000 tasks.
	turnBound       = time.Second
	folderTurnBound = 2500 * time.Millisecond
)

// folders reads and edits plans that have a file for each task.
func (b *bencher) folders() error {
	for _, p := range []struct{ name, plan, file, text, beside, has string }{
		{"Backlog.md", "backlog", "backlog/tasks/task-%d - Build-part-%[1]d.md",
			"---\nid: TASK-%d\ntitle: Build part %[1]d\nstatus: To Do\nassignee: []\ncreated_date: '2026-11-20 08:00'\n" +
				"labels:\n  - backend\ndependencies: []\n---\n\n" +
				"## Description\n\nBuild part %[1]d of it.\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 it works\n<!-- AC:END -->\n",
			"backlog/config.yml", "statuses: [To Do, In Progress, Done]\n"},
		{"AIOS", "docs/stories", "docs/stories/1.%d.story.md",
			"# Story 1.%d: Build part %[1]d\n\n## Status\n\nReady\n\n## Story\n\nBuild part %[1]d of it.\n\n" +
				"## Acceptance Criteria\n\n- [ ] it works\n", ".aios-core/x", ""},
		{"PRD folder", "docs/prd", "docs/prd/part%d.json",
			`{"items": [{"id": "P-%d", "description": "Build part %[1]d of it", "status": "pending", ` +
				`"steps": ["it works"]}]}` + "\n", "", ""},
	} {
		project := filepath.Join(b.dir, "folder-"+p.name)
		for i := range folderTasks {
			if err := write(filepath.Join(project, fmt.Sprintf(p.file, i+1)), fmt.Sprintf(p.text, i+1)); err != nil {
				return err
			}
		}
		if p.beside != "" {
			if err := write(filepath.Join(project, p.beside), p.has); err != nil {
				return err
			}
		}
		if err := b.oneFolder(p.name, project, filepath.Join(project, p.plan)); err != nil {
			return err
		}
	}
	project := filepath.Join(b.dir, "folder-Backlog.md")
	if err := commit(project); err != nil {
		return err
	}
	return b.turns("Backlog.md", project, folderTurnBound)
}

func (b *bencher) oneFolder(name, project, path string) error {
	list, err := store.Load(store.File{Path: path})
	if err != nil || len(list.Tasks) != folderTasks {
		return fmt.Errorf("%s: %d tasks: %w", path, len(list.Tasks), err)
	}
	read, err := fastest(5, func(int) error { _, err := store.Load(store.File{Path: path}); return err })
	if err != nil {
		return err
	}
	edit, err := fastest(5, func(i int) error { return store.Set(store.File{Path: path}, list.Tasks[folderTasks-1-i], task.Done) })
	if err != nil {
		return err
	}
	memory, err := peak(filepath.Join(b.bin, "ralph"), "-C", project, "task", "next")
	if err != nil {
		return err
	}
	name = fmt.Sprintf("2,000 files of %s: ", name)
	b.add(figure{name + "read", ms(read), "", "at most " + ms(folderBound), read > folderBound})
	b.add(figure{name + "edit", ms(edit), "", "at most " + ms(folderBound), edit > folderBound})
	b.add(figure{name + "peak of ralph task next", fmt.Sprintf("%d MiB", memory), "",
		fmt.Sprintf("at most %d MiB", folderMemoryBound), memory > folderMemoryBound})
	return nil
}

// turns measures what ralph does between two agents with a large plan.
func (b *bencher) turns(name, project string, bound time.Duration) error {
	if err := write(filepath.Join(project, ".ralph/PROMPT.md"), "Do it.\n"); err != nil {
		return err
	}
	if err := b.run(project, 6, workVar+"="+agentWorks); err != nil {
		return err
	}
	all, err := gaps(project)
	if err != nil {
		return err
	}
	gap := median(all)
	b.add(figure{"between two agents, many tasks in " + name, ms(gap), "", "at most " + ms(bound), gap > bound})
	return nil
}
