package config

// This file lists the projects in which a user has started runs.

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

// projectsFolder has one record a project: PROJECT in its field "project".
func projectsFolder(stateHome string) string { return filepath.Join(stateHome, "ralph", "runs") }

// Projects reads the records. What cannot be read is left out.
func Projects(stateHome string) []string {
	entries, _ := os.ReadDir(projectsFolder(stateHome))
	var all []string
	for _, e := range entries {
		var record struct {
			Project string `json:"project"`
		}
		data, err := os.ReadFile(filepath.Join(projectsFolder(stateHome), e.Name())) // file: in the state home
		if err == nil && json.Unmarshal(data, &record) == nil && record.Project != "" {
			all = append(all, record.Project)
		}
	}
	slices.Sort(all)
	return all
}
