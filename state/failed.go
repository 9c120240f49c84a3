package state

import "bytes"

// Failed reports whether an event says that something went wrong.
func (e Event) Failed() bool {
	switch d := e.Data.(type) {
	case AgentError, Denied, Blocked, Retry:
		return true
	case ToolResult:
		return d.Error
	case Check:
		return !d.Passed && d.Skipped == "" && d.Run != CheckOldTests // which says nothing about the work by itself
	case FinalMessage:
		return d.Error
	case IterationEnd:
		return d.Failed
	}
	return false
}

// MayFail reports whether the event of a line of this kind may have Failed. It is for those who read long
// files: it misses none, and only a few others have to be decoded.
func MayFail(kind Kind, line []byte) bool {
	// A quote within a string is written \", so that no text looks like one of these fields.
	switch kind {
	case KindError, KindDenied, KindBlocked, KindRetry:
		return true
	case KindToolResult, KindResult:
		return bytes.Contains(line, []byte(`"error":true`))
	case KindCheck:
		return bytes.Contains(line, []byte(`"passed":false`))
	case KindIterationEnd:
		return bytes.Contains(line, []byte(`"failed":true`))
	}
	return false
}
