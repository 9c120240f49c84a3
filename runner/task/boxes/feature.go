package boxes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// Feature is the folder of Spec Kit's current feature, relative to the project: that of the environment, or
// else of .specify/feature.json. Empty: neither names one. It is false if the file cannot be understood.
func Feature(project string, config []byte) (folder string, ok bool) {
	if env := os.Getenv("SPECIFY_FEATURE_DIRECTORY"); env != "" {
		folder, _ = within(project, env)
		return folder, true
	}
	named := gjson.GetBytes(config, "feature_directory")
	if len(config) > 0 && !json.Valid(config) || named.Exists() && named.Type != gjson.String && named.Type != gjson.Null {
		return "", false
	}
	if named.Str == "" {
		return "", true
	}
	return within(project, named.Str)
}

// within is a folder relative to the project; false: it is elsewhere.
func within(project, folder string) (string, bool) {
	if filepath.IsAbs(folder) {
		if rel, err := filepath.Rel(project, folder); err == nil {
			folder = rel
		}
	}
	if !filepath.IsLocal(folder) {
		return "", false
	}
	return folder, true
}

// NoFeature says why .specify/feature.json, taken for a plan, names no feature.
func NoFeature(in task.Input) (task.Parsed, error) {
	data := in.Files[0].Data
	if line, err := invalid(data); err != nil {
		return task.Parsed{}, fmt.Errorf("line %d: %w", line, err)
	}
	v := gjson.GetBytes(data, "feature_directory")
	return task.Parsed{}, fmt.Errorf("line %d: %q must be a folder in the project, found %.60s", lineOf(data, v.Index), "feature_directory", v.Raw)
}

// invalid says in which line something is not JSON, and what it is; nil: it is JSON.
func invalid(data []byte) (line int, err error) {
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if err = json.Unmarshal(data, &raw); err == nil {
		return 0, nil
	}
	if errors.As(err, &syntax) {
		line = lineOf(data, max(int(syntax.Offset)-1, 0))
	}
	return max(line, 1), fmt.Errorf("invalid JSON: %w", err)
}

func lineOf(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}

// approval reads the spec.json of a Kiro spec: why nobody should begin with its tasks, if that is so.
func approval(spec task.File) (fault string, err error) {
	name := path.Base(spec.Name)
	if line, err := invalid(spec.Data); err != nil {
		return "", fmt.Errorf("%s line %d: %w", name, line, err)
	}
	approved := gjson.GetBytes(spec.Data, "approvals.tasks.approved")
	if approved.Type != gjson.False {
		return "", nil
	}
	return fmt.Sprintf("%s line %d: nobody has approved the tasks: approvals.tasks.approved is false, and must be true",
		name, lineOf(spec.Data, approved.Index)), nil
}
