package git

// This file visits the project's own files in a folder.

import (
	"io/fs"
	"os"
)

// WalkFiles calls visit for the files below dir, in lexical order, with slash-separated
// paths relative to dir, and counts left down to zero. It skips unreadable files and
// folders that do not hold the project's own work.
func WalkFiles(dir string, left *int, visit func(path string, info fs.FileInfo) error) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == ".":
			return err
		case err != nil:
			return nil
		}
		if d.IsDir() && path != "." {
			switch d.Name() {
			case ".git", ".ralph", "node_modules", "vendor":
				return fs.SkipDir
			}
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone
		}
		if *left <= 0 {
			return fs.SkipAll
		}
		*left--
		return visit(path, info)
	})
}
