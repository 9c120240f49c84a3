// Package state is the on-disk contract between the runner and its observers: the kinds of events,
// the table of files, atomic writes, the lock and the control requests. A Reader can only read. A Writer comes only
// from Acquire, which takes the lock, so the types keep a monitor from writing.
package state

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ralph/state/projectfs"
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
	fileOwn       = "user_changes.json"  // written by runner/git/own
	UseFile       = "agent.json"
	fileEvents    = "events.jsonl"
	fileLive      = "live.log"
	fileGitignore = ".gitignore"
	dirLogs       = "logs"
	dirControl    = "control"
	dirReports    = "reports"
	dirQuestions  = "questions"
	dirNotes      = "notes"
	dirHub        = "hub"
	LessonsFile   = "learnings.jsonl" // written by runner/memory
	fileLearnings = "LEARNINGS.md"    // written by runner/memory
	fileBranch    = ".branch"         // written by runner/memory
	dirArchive    = "archive"
	ConfigFile    = "config.yaml" // the user's
)

// File is one row of the file table.
type File struct {
	Name, Form, Lifetime string
}

// Files lists everything that ralph keeps in the state directory, in the order
// of the documentation.
func Files() []File {
	return []File{
		{fileLock, "flock held by the runner; JSON: `pid`, `run_id`, `started_at`", "process"},
		{fileCalls, "`7\\n`", "this clock hour"},
		{fileTokens, "`900\\n`", "this clock hour"},
		{fileReset, "`2026112004\\n`, `%Y%m%d%H` local", "this clock hour"},
		{fileBreaker, "JSON: state, counters and reason of the circuit breaker", "until reset"},
		{fileHistory, "JSON lines `{timestamp, loop, from_state, to_state, reason}`, the latest 500", "until reset --all"},
		{fileSignals,
			"JSON: `test_only_loops`, `done_signals`, `completion_indicators`: iteration numbers, the latest 5",
			"one run"},
		{fileAnalysis, "JSON: analysis of the latest agent call", "one run"},
		{fileSession, "JSON: `agent`, `session_id`, `created_at`, `last_used`, `reset_at`, `reset_reason`", "expires"},
		{fileStatus, "JSON: see [below](#statusjson)", "one run, kept after it"},
		{fileBaseline, "JSON: what failed before the agent did anything, by check and test", "by `BASELINE_SCOPE`, until `ralph undo`"},
		{fileOwn,
			"JSON: the files that had your changes when the run began, and all files that it left, with digests", "one run, kept after it"},
		{UseFile, "JSON: `run`, `agent`, `model`, `at`: what `ralph agent use` chose for the next turns", "one run"},
		{fileEvents, "JSON lines: see [below](#events)", "one run, the last runs kept"},
		{fileLive, "text: the agent's output in a readable form, as it arrives", "rotated"},
		{dirLogs + "/ralph.log", "text: ralph's own log, 10 MiB, 4 kept", "rotated"},
		{dirLogs + "/RUN/ITERATION.raw",
			"what the agent printed, with secrets hidden; next to it `ITERATION.prompt.md`, " +
				"what a sandbox kept out (`ITERATION.fix_plan.md`)", "pruned by size"},
		{dirReports + "/RUN.html",
			"the results of a run on one page; next to it `RUN.md` and `RUN.json`, the record that `ralph runs` lists; `RUN.pr.md`: the text of a pull request that could not be sent",
			"the latest 100 runs"},
		{dirQuestions + "/ID.json",
			"JSON: a question of an agent to a person: `id`, `task`, `text`, `options`, `context`, `answer`",
			"the latest 200"},
		{dirNotes + "/ID.json",
			"JSON: a note of a person for the next prompt: `id`, `at`, `text`, `iteration`, `run`, `task`",
			"the latest 100"},
		{dirHub + "/", "what `ralph-hub` has sent, a file for each address; `actions.jsonl`: what people did in the dashboard",
			"a month"},
		{LessonsFile, "JSON lines: what turns learned, with their files, uses and evidence", "kept"},
		{fileLearnings, "Markdown: the same for people; a file of yours of this name stays as it is", "kept"},
		{fileBranch, "text: the git branch of the latest run", "kept"},
		{dirArchive + "/DATE-BRANCH/",
			"the plan, memory and report of a branch", "kept"},
		{dirControl + "/",
			"requests such as `ralph pause` and `skip`, one file each; `agent+` marks those from inside of the run",
			"consumed"},
	}
}

// Deciding returns patterns of the files in the state directory that decide what a run does, or
// the run that resumes it. During a call, only people write them, with ralph's commands.
func Deciding() []string {
	return []string{fileCalls, fileTokens, fileReset, fileBreaker, fileHistory, fileSignals, fileSession, fileBaseline,
		fileOwn, UseFile, LessonsFile, fileBranch, fileGitignore, ConfigFile,
		dirQuestions + "/*.json", dirNotes + "/*.json"}
}

// OfPeople reports whether ralph's commands let people write such a file while a run is alive.
func OfPeople(name string) bool {
	dir, _, nested := strings.Cut(name, "/")
	return nested && (dir == dirQuestions || dir == dirNotes) || name == UseFile || name == LessonsFile
}

// AgentNotes are the files in .ralph that belong to agents: how to build and test the project, and what
// the next iteration must know.
func AgentNotes() []string { return []string{"AGENT.md", "progress.txt"} }

// OfUser reports whether a slash path in .ralph is a plan, a prompt or settings. Everything else there is ralph's.
func OfUser(name string) bool {
	return slices.Contains([]string{"prd.json", "tasks.json", ConfigFile, ".gitignore"}, name) ||
		strings.HasSuffix(name, ".md") && (strings.HasPrefix(name, "specs/") || !strings.Contains(name, "/"))
}

// NoteFile is the name of a note in the state directory.
func NoteFile(id string) string { return dirNotes + "/" + id + ".json" }

// QuestionFile is the name of a question in the state directory.
func QuestionFile(id string) string { return dirQuestions + "/" + id + ".json" }

// Reader reads the state of one project. It creates nothing and never waits.
type Reader struct {
	dir string
	in  projectfs.Dir
}

// Open returns a Reader for the state directory dir (PROJECT/.ralph), which
// need not exist.
func Open(dir string) *Reader { return &Reader{dir: dir, in: Project(dir)} }

// Project is the project with the state directory dir.
func Project(dir string) projectfs.Dir { return projectfs.In(filepath.Dir(dir)) }

// Project is the project that the state is of.
func (r *Reader) Project() projectfs.Dir { return r.in }

// Dir is the state directory.
func (r *Reader) Dir() string { return r.dir }

// EventsPath is the file of the run's events.
func (r *Reader) EventsPath() string { return r.path(fileEvents) }

// LiveLogPath is the file of the agent's readable output.
func (r *Reader) LiveLogPath() string { return r.path(fileLive) }

// LogPath is ralph's own log.
func (r *Reader) LogPath() string { return r.path(dirLogs, "ralph.log") }

// NotesDir holds what people want the next prompt to say, a file for each note.
func (r *Reader) NotesDir() string { return r.path(dirNotes) }

// QuestionsDir holds what agents ask people, a file for each question.
func (r *Reader) QuestionsDir() string { return r.path(dirQuestions) }

// HubDir holds what ralph-hub remembers.
func (r *Reader) HubDir() string { return r.path(dirHub) }

// LogsDir holds ralph's own log and a folder for each run.
func (r *Reader) LogsDir() string { return r.path(dirLogs) }

// OwnPath is the file that records which uncommitted changes are the user's.
func (r *Reader) OwnPath() string { return r.path(fileOwn) }

// RunDir holds the raw output and the prompts of one run.
func (r *Reader) RunDir(run string) string { return r.path(dirLogs, runName(run)) }

// runName is the name of a run's folder. An agent may have written anything in place of
// an id, so the name never leads out of the folder of logs.
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

// isRunID tells whether ralph could have made this id.
func isRunID(run string) bool { return run != "" && len(run) <= 64 && runName(run) == run }

// RawPath is what the agent printed in one iteration, without secrets.
func (r *Reader) RawPath(run string, iteration int) string {
	return filepath.Join(r.RunDir(run), strconv.Itoa(iteration)+".raw")
}

// PromptPath is the exact prompt of one iteration.
func (r *Reader) PromptPath(run string, iteration int) string {
	return filepath.Join(r.RunDir(run), strconv.Itoa(iteration)+".prompt.md")
}

func (r *Reader) path(elem ...string) string {
	return filepath.Join(append([]string{r.dir}, elem...)...)
}

// Exists tells whether anything has ever run here.
func (r *Reader) Exists() bool {
	_, err := r.in.Lstat(r.path(fileStatus))
	return err == nil
}
