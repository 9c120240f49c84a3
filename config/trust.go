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
	"strconv"
	"strings"

	"github.com/google/renameio/v2"

	"ralph/logs/termtext"
)

// Untrusted is what a project wants and this user has not yet agreed to.
type Untrusted struct {
	File  string   // the project file; two are joined with ", "; empty: it is no setting
	Lines []string // "file:line: KEY=value", or a sentence; nothing in them is invisible
	Hash  string   // of the project's path and what is agreed to, hexadecimal
}

// Untrusted returns nil when no project file sets an option that needs consent,
// when a flag or the environment replaces what it sets, or when Trust recorded
// just these settings for this project before. Errors are those of Load.
func (l Loader) Untrusted() (*Untrusted, error) {
	c, _, err := l.Load()
	if err != nil {
		return nil, err
	}
	u := l.claims(c)
	if len(u.Lines) == 0 {
		return nil, nil
	}
	if trusted, err := Trusted(l.StateHome(), u); trusted || err != nil {
		return nil, err
	}
	return &u, nil
}

// Claim is something else about the project that needs consent. The id is what
// the user agrees to: with another one, they are asked again.
func (l Loader) Claim(id string, lines ...string) Untrusted {
	hash := sha256.Sum256(fmt.Appendf(nil, "%q\n%q\n", l.project(), id))
	u := Untrusted{Hash: hex.EncodeToString(hash[:])}
	for _, line := range lines {
		u.Lines = append(u.Lines, termtext.Visible(line))
	}
	return u
}

// claims collects the settings of the project's files that need consent. The
// line numbers stay out of the hash: a comment must not cost a new consent.
func (l Loader) claims(c *Config) Untrusted {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", l.project())
	var u Untrusted
	var files []string
	for _, o := range c.table {
		source, value := c.sources[o.Key], c.text(o)
		claim := o.Claim(value, c.own[o.Key])
		if claim == "" || source.Kind != SourceRC && source.Kind != SourceProject {
			continue
		}
		file := source.Where[:strings.LastIndexByte(source.Where, ':')]
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		u.Lines = append(u.Lines, source.Where+": "+termtext.Visible(claim))
		fmt.Fprintf(hash, "%q %q %q\n", file, o.Key, value)
	}
	fromYAML := func(source Source, claim, hashed string) {
		if source.Kind != SourceProject {
			return
		}
		if !slices.Contains(files, yamlName) {
			files = append(files, yamlName)
		}
		u.Lines = append(u.Lines, source.Where+": "+claim)
		fmt.Fprintf(hash, "%q %s\n", yamlName, hashed)
	}
	for _, row := range c.agents {
		claim := agentClaim(row.custom)
		fromYAML(row.source, claim, strconv.Quote(claim))
	}
	for _, row := range c.checks {
		hashed := fmt.Sprintf("%q %q %q", row.check.Name, row.check.Command, row.check.Dir)
		if easy := weaker(row.check); easy != "" {
			hashed += fmt.Sprintf("\n%q", easy)
		}
		fromYAML(row.source, termtext.Visible(checkClaim(row.check)), hashed)
	}
	for _, row := range c.hooks {
		claim := hookClaim(row.hook)
		fromYAML(row.source, termtext.Visible(claim), strconv.Quote(claim))
	}
	u.File = strings.Join(files, ", ")
	u.Hash = hex.EncodeToString(hash.Sum(nil))
	return u
}

// project is the folder by its one name, whatever link it was reached by.
func (l Loader) project() string {
	if real, err := filepath.EvalSymlinks(l.Dir); err == nil {
		return real
	}
	return l.Dir
}

// Trusted tells whether Trust recorded these settings before; never without a stateHome.
func Trusted(stateHome string, u Untrusted) (bool, error) {
	if stateHome == "" {
		return false, nil
	}
	_, err := os.Lstat(trustFile(stateHome, u.Hash))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read trusted settings: %w", err)
	}
	return err == nil, nil
}

// StateHome is the folder for Trust: $XDG_STATE_HOME, else ~/.local/state; ""
// when neither is known.
func (l Loader) StateHome() string {
	return l.xdg("XDG_STATE_HOME", filepath.Join(".local", "state"))
}

// Trust records that this user agrees to these settings, as one file under
// stateHome/ralph/trusted, which is named by the hash and shows the settings.
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
