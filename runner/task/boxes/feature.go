package boxes

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
)

// Feature returns the folder of Spec Kit's current feature, relative to the project. The environment names it, or else
// .specify/feature.json; empty: neither does. ok is false if the file is invalid.
func Feature(project string, config []byte) (folder string, ok bool) {
	if env := os.Getenv("SPECIFY_FEATURE_DIRECTORY"); env != "" {
		folder, _ = within(project, env)
		return folder, true
	}
	named := gjson.GetBytes(config, "feature_directory")
	if len(config) > 0 && !json.Valid(config) ||
		named.Exists() && named.Type != gjson.String && named.Type != gjson.Null {
		return "", false
	}
	if named.Str == "" {
		return "", true
	}
	return within(project, named.Str)
}

// within makes a folder relative to the project. It returns false if the folder is outside.
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

// NoFeature reads an invalid .specify/feature.json as a plan: its error says what is wrong with the file.
func NoFeature(in task.Input) (task.Parsed, error) {
	data := in.Files[0].Data
	if line, _, err := task.InvalidJSON(data); err != nil {
		return task.Parsed{}, fmt.Errorf("line %d: invalid JSON: %w", line, err)
	}
	v := gjson.GetBytes(data, "feature_directory")
	line, _ := task.Position(data, v.Index)
	return task.Parsed{}, fmt.Errorf("line %d: %q must be a folder in the project, found %.60s", line,
		"feature_directory", v.Raw)
}

// approval returns a fault if the spec.json of a Kiro spec says that its tasks are not approved.
func approval(spec task.File) (fault string, err error) {
	name := path.Base(spec.Name)
	if line, _, err := task.InvalidJSON(spec.Data); err != nil {
		return "", fmt.Errorf("%s line %d: invalid JSON: %w", name, line, err)
	}
	approved := gjson.GetBytes(spec.Data, "approvals.tasks.approved")
	if approved.Type != gjson.False {
		return "", nil
	}
	line, _ := task.Position(spec.Data, approved.Index)
	return fmt.Sprintf("%s line %d: nobody has approved the tasks: approvals.tasks.approved is false, and must be true",
		name, line), nil
}
