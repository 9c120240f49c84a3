package notify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"ralph/state/projectfs"
)

// recordFile records what people have sent, and the result.
const recordFile = "replies.jsonl"

// ReplyEntry is something that a person asked for remotely.
type ReplyEntry struct {
	Time   time.Time `json:"time"` // set by Record
	Source string    `json:"source"`
	ID     string    `json:"id,omitempty"` // of the message at its source
	Args   []string  `json:"args"`         // of ralph
	Said   string    `json:"said"`         // by ralph
}

// RecordReply adds an entry. It ignores errors: what the entry says has already happened.
func RecordReply(hubDir string, e ReplyEntry) {
	e.Time = time.Now()
	project := projectfs.Above(hubDir)
	line, err := json.Marshal(e)
	if err == nil {
		err = project.MkdirAll(hubDir, 0o755)
	}
	if err != nil {
		return
	}
	f, err := project.OpenFile(filepath.Join(hubDir, recordFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.Write(append(line, '\n'))
		_ = f.Close()
	}
}
