package config

import (
	"slices"
	"strconv"
	"strings"

	"ralph/state/option"
)

// baselineKey is a key of config.yaml that is not an option: it is accepted with the value
// that it always has.
const baselineKey = "test.baseline_file"

// foreignKeys are keys that a .ralphrc for frankbria/ralph-claude-code may have
// and that ralph does not use. The text says what the user must know; keys
// without a text are only listed together.
func foreignKeys() map[string]string {
	keys := map[string]string{
		"CLAUDE_SESSION_EXPIRY_HOURS": "write SESSION_EXPIRY_HOURS",
		"FIX_PLAN_FILE":               "write PLAN_FILE, relative to the project",
		"VERBOSE_PROGRESS":            "write RALPH_VERBOSE",
		"DRY_RUN":                     "use the flag --dry-run",
		"RALPH_DIR":                   "its files are always in .ralph",
	}
	for _, key := range []string{
		"PROJECT_NAME", "PROJECT_TYPE", "TASK_SOURCES", "GITHUB_TASK_LABEL", "BEADS_FILTER", "AGENT_FILE",
		"CLAUDE_OUTPUT_FORMAT", "CLAUDE_AUTO_UPDATE", "CLAUDE_MIN_VERSION", "CLAUDE_EFFORT", "RALPH_SHELL_INIT_FILE",
		"ENABLE_BACKUP", "LIVE_OUTPUT", "LIVE_SHOW_TOOL_ARGS", "SLEEP_DURATION", "USE_TMUX",
		"MAX_CONSECUTIVE_TEST_LOOPS", "MAX_CONSECUTIVE_DONE_SIGNALS", "TEST_PERCENTAGE_THRESHOLD",
		"LOG_MAX_SIZE_MB", "LOG_MAX_FILES", "LOG_MAX_OUTPUT_FILES", "LOG_DIR", "DOCS_DIR",
		"GITHUB_ISSUE", "COMMENT_PROGRESS", "COMMENT_INTERVAL", "AUTO_CLOSE", "CLOSE_SUMMARY", "CREATE_PR",
		"LINK_ISSUE", "DRAFT_PR", "CREATE_FOLLOWUPS", "FOLLOWUP_LABEL", "ADD_COMPLETION_LABELS",
		"SYNC_INCLUDE", "SYNC_EXCLUDE", "SYNC_MAX_FILE_SIZE", "SYNC_LARGE_FILE_ACTION",
		"SANDBOX_DOCKER_IMAGE", "SANDBOX_DOCKER_MEMORY", "SANDBOX_DOCKER_CPUS", "SANDBOX_DOCKER_NETWORK",
		"SANDBOX_E2B_TEMPLATE", "SANDBOX_E2B_SANDBOX_ID", "SANDBOX_E2B_TIMEOUT", "SANDBOX_E2B_KEEP_ALIVE",
		"SANDBOX_E2B_MAX_COST", "SANDBOX_E2B_COST_ALERT", "SANDBOX_E2B_COST_PER_HOUR",
	} {
		keys[key] = ""
	}
	return keys
}

// unknown is the warning about a key that ralph does not know, or the error for one that was meant to protect
// something: a typing mistake must not turn that off.
func unknown(where, key, meant string) (Warning, error) {
	if !protects(key, meant) {
		return warnUnknown(where, key, meant), nil
	}
	return "", &UsageError{where, "unknown key " + quote(key) + didYouMean(meant) + "; correct or remove it to start"}
}

func warnUnknown(where, key, meant string) Warning {
	return warn(where, "unknown key %s%s", quote(key), didYouMean(meant))
}

// protects reports whether a key stands among those of a protection, or is a misspelled option that decides about
// programs, permissions, checks or reviews.
func protects(key, meant string) bool {
	groups := []string{checksKey, hooksKey, judgesKey, "permissions"}
	for _, o := range Table() {
		protects := slices.Contains([]string{"Checks", "Review", "Hooks", "Sandbox"}, o.Group)
		if (protects || o.Trust) && (o.Key == meant || o.YAML == meant || slices.Contains(o.Aliases, meant)) {
			return true
		}
		if protects {
			group, _, _ := strings.Cut(o.YAML, ".")
			groups = append(groups, group)
		}
	}
	group, _, _ := strings.Cut(key, ".")
	return slices.Contains(groups, group) || slices.Contains(groups, meant) || strings.HasPrefix(key, "SANDBOX_")
}

// suggestKey returns the name of .ralphrc that was probably meant, or "".
func suggestKey(name string) string {
	var names []string
	for _, o := range Table() {
		names = append(append(names, o.Key), o.Aliases...)
	}
	return option.Nearest(strings.ToUpper(name), names)
}

// suggestYAML also knows the names of .ralphrc, and the last part of a path.
func suggestYAML(path string) string {
	table := Table()
	last := path[strings.LastIndexByte(path, '.')+1:]
	if o, ok := index(table)[strings.ToUpper(last)]; ok {
		return o.YAML
	}
	var paths []string
	for _, o := range table {
		if o.YAML[strings.LastIndexByte(o.YAML, '.')+1:] == last {
			return o.YAML
		}
		group, _, _ := strings.Cut(o.YAML, ".")
		paths = append(paths, group, o.YAML)
	}
	return option.Nearest(path, append(paths, agentsKey, checksKey, hooksKey, judgesKey))
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// quote makes a piece of input safe and short enough for a one-line message.
func quote(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) > most {
		return strconv.Quote(string(runes[:most])) + "..."
	}
	return strconv.Quote(text)
}
