package memory

import "ralph/state/option"

// LessonOptions are the user's options for lessons.
type LessonOptions struct {
	Learn         bool
	ArchiveBranch bool
	MemoryFile    bool // in projects of AIOS
}

// Options returns the rows of the option table that fill c.
func (c *LessonOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Memory", Key: "LEARN", YAML: "memory.learn",
		Kind: option.Bool, Default: "true", Field: &c.Learn,
		Help: "Keep what agents learn about the project, and put lessons that fit a task into its prompt.",
	}, {
		Group: "Memory", Key: "ARCHIVE_ON_BRANCH_CHANGE", YAML: "memory.archive_on_branch_change",
		Kind: option.Bool, Default: "true", Field: &c.ArchiveBranch,
		Help: "When a run starts on another git branch than the run before, copy the plan, progress.txt, " +
			"the memory and the report to .ralph/archive, and start with the memory of the new branch.",
	}, {
		Group: "Memory", Key: "AIOS_MEMORY_SYNC", YAML: "aios.memory_sync",
		Kind: option.Bool, Default: "true", Field: &c.MemoryFile,
		Help: "In AIOS projects that have a MEMORY.md, also write what was learned there.",
	}}
}
