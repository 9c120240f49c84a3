package task

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Position returns the 1-based line and column (in bytes) of offset in data.
func Position(data []byte, offset int) (line, col int) {
	before := data[:min(offset, len(data))]
	return bytes.Count(before, []byte("\n")) + 1, offset - bytes.LastIndexByte(before, '\n')
}

// InvalidJSON returns where data is not valid JSON, and what is wrong there. The error is nil if it is valid.
func InvalidJSON(data []byte) (line, col int, err error) {
	var raw json.RawMessage
	if err = json.Unmarshal(data, &raw); err == nil {
		return 0, 0, nil
	}
	at := len(data)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(syntax.Offset)
	}
	line, col = Position(data, max(at-1, 0))
	return line, col, err
}
