package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
)

// Untrusted is what a project's own files want to run and this user has not yet agreed
// to.
type Untrusted struct {
	File  string   // the project's files, joined with ", "
	Lines []string // the settings: "file:line: KEY=value"
	Hash  string   // hex digest of the project's path and the settings
}

// Untrusted returns nil if no project file sets an option that runs programs, if a flag
// or the environment overrides it, or if Trust has recorded exactly these settings for
// this project. Errors are those of Load.
func (l Loader) Untrusted() (*Untrusted, error) {
	c, _, err := l.Load()
	if err != nil {
		return nil, err
	}
	u := l.claims(c)
	if len(u.Lines) == 0 {
		return nil, nil
	}
	if trusted, err := trusted(l.StateHome(), u); trusted || err != nil {
		return nil, err
	}
	return &u, nil
}

// claims collects the project's settings about programs. The hash leaves out line
// numbers: a new comment must not need a new consent.
func (l Loader) claims(c *Config) Untrusted {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", l.project())
	var u Untrusted
	var files []string
	add := func(s Source, claim string, hashed ...string) {
		file := s.Where[:strings.LastIndexByte(s.Where, ':')]
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		u.Lines = append(u.Lines, s.Where+": "+claim)
		fmt.Fprintf(hash, "%q %q\n", file, hashed)
	}
	for _, o := range c.table {
		source, value := c.sources[o.Key], c.text(o)
		fromProject := source.Kind == SourceRC || source.Kind == SourceProject
		if fromProject && o.Trust && value != "" && !slices.Contains(o.Safe, value) {
			add(source, o.Key+"="+value, o.Key, value)
		}
	}
	for _, row := range c.agents {
		if row.source.Kind == SourceProject {
			claim := agentClaim(row.custom)
			add(row.source, claim, claim)
		}
	}
	for _, row := range c.checks {
		if row.source.Kind == SourceProject {
			add(row.source, oneLine(checkClaim(row.check)), row.check.Name, row.check.Command, row.check.Dir)
		}
	}
	u.File = strings.Join(files, ", ")
	u.Hash = hex.EncodeToString(hash.Sum(nil))
	return u
}

// project is the path of the project without symbolic links.
func (l Loader) project() string {
	if real, err := filepath.EvalSymlinks(l.Dir); err == nil {
		return real
	}
	return l.Dir
}

// trusted reports whether Trust has recorded these settings. Without a stateHome it has
// not.
func trusted(stateHome string, u Untrusted) (bool, error) {
	if stateHome == "" {
		return false, nil
	}
	_, err := os.Lstat(trustFile(stateHome, u.Hash))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read trusted settings: %w", err)
	}
	return err == nil, nil
}

// StateHome is $XDG_STATE_HOME, else ~/.local/state; "" if neither is known.
func (l Loader) StateHome() string {
	return l.xdg("XDG_STATE_HOME", filepath.Join(".local", "state"))
}

// Trust records that this user agrees to these settings: as a file in
// stateHome/ralph/trusted, named by the hash, that lists the settings.
func Trust(stateHome string, u Untrusted) error {
	if stateHome == "" {
		return errors.New("record trust: neither XDG_STATE_HOME nor a home folder is known")
	}
	path := trustFile(stateHome, u.Hash)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	if err := renameio.WriteFile(path, []byte(strings.Join(u.Lines, "\n")+"\n"), 0o600, renameio.WithStaticPermissions(0o600)); err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	return nil
}

func trustFile(stateHome, hash string) string {
	return filepath.Join(stateHome, "ralph", "trusted", hash)
}
