package boxes

import (
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"
)

// Feature is the folder of Spec Kit's current feature, relative to the project: that of the environment, or
// else of .specify/feature.json. Empty: neither names one, or it is elsewhere.
func Feature(project string, config []byte) string {
	path := os.Getenv("SPECIFY_FEATURE_DIRECTORY")
	if path == "" {
		path = gjson.GetBytes(config, "feature_directory").Str
	}
	if filepath.IsAbs(path) {
		if rel, err := filepath.Rel(project, path); err == nil {
			path = rel
		}
	}
	if !filepath.IsLocal(path) {
		return ""
	}
	return path
}
