// Package state is the on-disk contract between the runner and its observers: the
// events, the state files, the lock and the requests to a running ralph. A Reader
// only reads. A Writer exists only while the lock is held, so an observer cannot
// write by mistake.
package state

import (
	"path/filepath"
	"strconv"
	"strings"
)

// DirName is the state directory inside a project.
const DirName = ".ralph"

// The files of the state directory.
const (
	fileLock      = ".lock"
	fileCalls     = ".call_count"
	fileTokens    = ".token_count"
	fileReset     = ".last_reset"
	fileBreaker   = ".circuit_breaker_state"
	fileHistory   = ".circuit_breaker_history"
	fileSignals   = ".exit_signals"
	fileAnalysis  = ".response_analysis"
	fileSession   = ".ralph_session"
	fileStatus    = "status.json"
	fileBaseline  = "test_baseline.json" // written by runner/gate
	fileFlakes    = "test_flakes.json"   // written by runner/gate
	fileEvents    = "events.jsonl"
	fileLive      = "live.log"
	fileFlags     = "flags.json"
	fileGitignore = ".gitignore"
	dirLogs       = "logs"
	dirControl    = "control"
)

// File is one row of the file table.
type File struct {
	Name, Form, Lifetime string
	reset                bool // removed by ResetAll
}

// Files lists everything that ralph keeps in the state directory, in the order
// of the documentation.
func Files() []File {
	return []File{
		{fileLock, "flock held by the runner; JSON: `pid`, `run_id`, `started_at`", "process", false},
		{fileCalls, "`7\\n`", "this clock hour", true},
		{fileTokens, "`900\\n`", "this clock hour", true},
		{fileReset, "`2026112004\\n`, `%Y%m%d%H` local", "this clock hour", true},
		{fileBreaker, "JSON: state, counters, reason of the circuit breaker", "until reset", true},
		{fileHistory, "JSON lines `{timestamp, loop, from_state, to_state, reason}`, the latest 500", "until reset", true},
		{fileSignals, "JSON: `test_only_loops`, `done_signals`, `completion_indicators`: iteration numbers, the latest 5", "one run", true},
		{fileAnalysis, "JSON: analysis of the latest agent call", "one run", true},
		{fileSession, "JSON: `agent`, `session_id`, `created_at`, `last_used`, `reset_at`, `reset_reason`", "expires", true},
		{fileStatus, "JSON: the snapshot that `ralph status` and the monitor show", "one run, kept after it", true},
		{fileBaseline, "JSON: what was red before the agent did anything, by check and test", "by `BASELINE_SCOPE`", true},
		{fileFlakes, "JSON: tests that failed in one of two runs, bounded", "kept", true},
		{fileEvents, "JSON lines, one event a line", "one run, the last runs kept", false},
		{fileLive, "text: what a person wants to read of the agent's output, as it comes", "rotated", false},
		{dirLogs + "/ralph.log", "text: ralph's own log, 10 MiB, 4 kept", "rotated", false},
		{dirLogs + "/RUN/ITERATION.raw", "every byte that the agent printed; beside it `ITERATION.prompt.md`, and the run's `flags.json`", "pruned by size", false},
		{dirControl + "/", "requests of `ralph pause`, `skip`, ...: one file each", "consumed", false},
	}
}

// Reader reads the state of one project. It creates nothing and never waits.
type Reader struct{ dir string }

// Open returns a Reader for the state directory dir (PROJECT/.ralph), which
// need not exist.
func Open(dir string) *Reader { return &Reader{dir: dir} }

// Dir is the state directory.
func (r *Reader) Dir() string { return r.dir }

// EventsPath is the file of the run's events.
func (r *Reader) EventsPath() string { return r.path(fileEvents) }

// LiveLogPath is the file of the agent's output in readable form.
func (r *Reader) LiveLogPath() string { return r.path(fileLive) }

// LogPath is ralph's own log.
func (r *Reader) LogPath() string { return filepath.Join(r.LogsDir(), "ralph.log") }

// LogsDir holds ralph's own log and a folder for each run.
func (r *Reader) LogsDir() string { return r.path(dirLogs) }

// RunDir holds the raw output and the prompts of one run.
func (r *Reader) RunDir(run string) string { return r.path(dirLogs, runName(run)) }

// runName is the name of a run's folder. An agent may have written the id, so
// anything that could lead out of the logs is replaced.
func runName(run string) string {
	if run == "" {
		return "_"
	}
	return strings.Map(func(c rune) rune {
		if c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, run)
}

// isRunID reports whether ralph could have made this id.
func isRunID(run string) bool { return run != "" && len(run) <= 64 && runName(run) == run }

// RawPath is the file of every byte that the agent printed in an iteration.
func (r *Reader) RawPath(run string, iteration int) string {
	return filepath.Join(r.RunDir(run), strconv.Itoa(iteration)+".raw")
}

func (r *Reader) path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}
