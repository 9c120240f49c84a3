package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ralph/logs/termtext"
	"ralph/state/option"
	"ralph/state/projectfs"
)

// Untrusted is something that a project wants and this user has not yet agreed to. Each setting is one, so that
// removing another needs no new consent; a list is one, because without one of its checks, less is proved.
type Untrusted struct {
	File  string   // the project file; empty if it is not a setting
	Lines []string // "file:line: KEY=value", or a sentence; nothing in them is invisible
	Hash  string   // of the project's path and what is agreed to, hexadecimal
}

// Untrusted returns what Trust has not recorded for this project: of the settings in its files that need consent and
// that no flag or environment replaces, and of more. Errors are those of Load, and what a run refuses: nobody should
// agree to that.
func (l Loader) Untrusted(more ...Untrusted) ([]Untrusted, error) {
	c, _, err := l.Load()
	if err != nil {
		return nil, err
	}
	settings := l.claims(c)
	var left []Untrusted
	for i, u := range append(settings, more...) {
		if trusted, err := l.Trusted(u); trusted || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		left = append(left, u)
		if _, err = c.InTouch(); err == nil {
			err = c.Located(c.SlotOptions.Check())
		}
		if err != nil && i < len(settings) {
			return nil, err
		}
	}
	return left, nil
}

// Claim is something else about the project that needs consent. The user agrees to
// the id: if it changes, they are asked again.
func (l Loader) Claim(id string, lines ...string) Untrusted {
	hash := sha256.Sum256(fmt.Appendf(nil, "%q\n%q\n", l.project(), id))
	u := Untrusted{Hash: hex.EncodeToString(hash[:])}
	for _, line := range lines {
		u.Lines = append(u.Lines, termtext.Visible(line))
	}
	return u
}

// claims collects the settings of the project's files that need consent. Hashes do
// not include line numbers: a new comment must not need new consent.
func (l Loader) claims(c *Config) (all []Untrusted) {
	add := func(file, hashed string, lines ...string) {
		u := l.Claim("setting "+hashed, lines...)
		u.File = file
		all = append(all, u)
	}
	for _, o := range c.table {
		source, value := c.sources[o.Key], c.text(o)
		own := c.own[o.Key]
		if o.Key == "JUDGES" && (own == nil || *own == "") {
			own = c.ownJudges() // all of them look, unless JUDGES names some
		}
		claim := o.Claim(value, own)
		if name := c.spelled[o.Key]; name != "" {
			claim = strings.Replace(claim, o.Key+"=", name+"=", 1)
		}
		if o.Kind == option.String { // an address is shown: it says where messages go
			claim = strings.Replace(claim, "="+value, "="+Display(o, value), 1)
		} else if key, list, ok := strings.Cut(claim, " adds "); ok && o.Secret {
			claim = key + " adds " + shownAddresses(list)
		}
		if claim == "" || source.Kind != SourceRC && source.Kind != SourceProject {
			continue
		}
		file := source.Where[:strings.LastIndexByte(source.Where, ':')]
		add(file, fmt.Sprintf("%q %q %q", file, o.Key, value), source.Where+": "+claim)
	}
	var lines []string
	list := ""
	row := func(source Source, claim, hashed string) {
		if source.Kind == SourceProject && claim != "" {
			lines = append(lines, source.Where+": "+claim)
			list += hashed + "\n"
		}
	}
	for _, a := range c.agents {
		claim := agentClaim(a.row.custom)
		row(a.source, claim, strconv.Quote(claim))
	}
	for _, r := range c.checks {
		row(r.source, checkClaim(r.row), fmt.Sprintf("%q %q %q %q", r.row.Name, r.row.Command, r.row.Dir, weaker(r.row)))
	}
	for _, r := range c.judges {
		claim := judgeClaim(r)
		row(r.source, claim, fmt.Sprintf("%q %d %t %g", claim, r.row.Threshold, r.row.RequireEvidence, r.row.Weight))
	}
	for _, r := range c.hooks {
		claim, key := hookClaim(r.row.hook), r.row.key
		if key == "" {
			row(r.source, claim, strconv.Quote(claim))
		} else if r.source.Kind == SourceProject { // a hook beside it must not cost a new consent
			add(yamlName, fmt.Sprintf("%q %q %q", yamlName, key, r.row.hook.Command), r.source.Where+": "+claim)
		}
	}
	if len(lines) > 0 {
		add(yamlName, list, lines...)
	}
	return all
}

// project is the path of the project's folder with all links resolved.
func (l Loader) project() string {
	if real, err := filepath.EvalSymlinks(l.Dir); err == nil {
		return real
	}
	return l.Dir
}

// Trusted reports whether Trust has recorded this; never without a folder for state.
func (l Loader) Trusted(u Untrusted) (bool, error) {
	_, err := os.Lstat(l.state("trusted", u.Hash))
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

// Trust records that this user agrees to this, as a file in the folder for state that is named by the hash and
// shows what it is.
func (l Loader) Trust(u Untrusted) error {
	path := l.state("trusted", u.Hash)
	if path == "" {
		return errors.New("record trust: neither XDG_STATE_HOME nor a home folder is known")
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = projectfs.In(filepath.Dir(path)).Write(path, []byte(strings.Join(u.Lines, "\n")+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	return nil
}
