package replica

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
)

// maxTarget is how many bytes of a target folder are copied. Cargo builds what is missing.
const maxTarget = 2 << 30

// unused are folders of cargo's target that no test needs.
var unused = map[string]bool{"incremental": true, "doc": true, "package": true, "release": true}

// warm copies what cargo has built. The project and the copy cannot share one target folder: Cargo uses the same file
// names for both and goes by times alone, so after a test of the copy it would run old code in the project.
func (r *Replica) warm(ctx context.Context, from, name string) error {
	dir, err := os.OpenRoot(from)
	if err != nil {
		return nil // a link or a file: cargo builds anew
	}
	defer dir.Close()
	if err := r.files.Mkdir(name, 0o700); errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil // the state has its own, or not its folder
	} else if err != nil {
		return err
	}
	var left int64 = maxTarget
	return fs.WalkDir(dir.FS(), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || file == ".":
			return nil
		case d.IsDir() && unused[d.Name()]:
			return fs.SkipDir
		case d.IsDir():
			return r.files.Mkdir(path.Join(name, file), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > left {
			return nil
		}
		left -= info.Size()
		return r.copyFile(dir, file, path.Join(name, file), info)
	})
}

// copyFile also copies the time of the file, by which cargo sees whether it is current.
func (r *Replica) copyFile(dir *os.Root, file, name string, info fs.FileInfo) error {
	in, err := dir.Open(file)
	if err != nil {
		return nil // gone meanwhile
	}
	defer in.Close()
	out, err := r.files.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o600)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	if err == nil {
		err = r.files.Chtimes(name, info.ModTime(), info.ModTime())
	}
	return err
}
