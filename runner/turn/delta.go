package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"ralph/runner/git"
)

// deltaOf is the same for the same change of the same files, from the same texts to the same texts.
// A change that is made twice was taken back in between. Empty: nothing changed, or only files that
// are not text. count is the number of all changed files.
func deltaOf(count int, texts []git.Text) string {
	if len(texts) == 0 || len(texts) < count {
		return ""
	}
	h := sha256.New()
	for _, t := range texts {
		_, _ = fmt.Fprintf(h, "%q %t %d %s %t %d %s", t.Path, t.Existed, len(t.Before), t.Before, t.Exists,
			len(t.After), t.After) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
