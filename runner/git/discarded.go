package git

import (
	"slices"
	"strings"
)

// Discarded returns the files among files that were dirty before and whose content is gone: it was neither committed
// nor moved. c is the change from before to after; after must be current.
func (c Change) Discarded(before, after Snapshot, files []string) []string {
	if !before.Repo || !after.Repo {
		return nil
	}
	var gone []string
	s := signer{root: after.root}
	for _, path := range files {
		was, dirty := before.signature(path)
		if !dirty || was == (signature{}) || strings.HasSuffix(path, "/") {
			continue
		}
		is, dirty := after.signature(path)
		if !dirty { // clean, committed, ignored or gone
			is = s.sign(entry{path: path}, true).signature
		}
		switch {
		case is == was, dirty && is != signature{}: // unchanged, or edited
		case is != signature{} && c.HeadMoved && (c.Count > len(c.Files) || slices.Contains(c.Files, path)): // edited and committed
		case after.has(was): // moved
		default:
			gone = append(gone, path)
		}
	}
	slices.Sort(gone)
	return gone
}

// has reports whether a dirty file has this signature.
func (s Snapshot) has(sig signature) bool {
	for _, other := range s.files {
		if other == sig {
			return true
		}
	}
	return false
}
