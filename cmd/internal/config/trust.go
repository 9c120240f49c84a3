package config

import (
	"cmp"
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

	"ralph/logs/termtext"
	"ralph/state/option"
	"ralph/state/projectfs"
)

// Untrusted is what a project wants and this user has not yet agreed to.
type Untrusted struct {
	File  string   // the project file; two are joined with ", "; empty if it is not a setting
	Lines []string // "file:line: KEY=value", or a sentence; nothing in them is invisible
	Hash  string   // of the project's path and what is agreed to, hexadecimal
	// parts are agreed to one by one, so that removing a setting needs no new consent;
	// nil: the user agrees to the whole.
	parts []part
}

// part is one setting, or one list of a file.
type part struct {
	file string
	line int // index of its first line in Untrusted.Lines
	hash string
}

// Untrusted returns nil when no project file sets an option that needs consent,
// when a flag or the environment replaces what it sets, or when Trust recorded
// just these settings for this project before. Errors are those of Load, and what a run refuses: nobody should agree to that.
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
	if u, err = u.without(l.StateHome()); len(u.Lines) == 0 || err != nil {
		return nil, err
	}
	_, err = c.InTouch()
	return &u, cmp.Or(err, c.Located(c.SlotOptions.Check()))
}

// without leaves out what was agreed to before.
func (u Untrusted) without(stateHome string) (Untrusted, error) {
	left := Untrusted{Hash: u.Hash}
	var files []string
	for i, p := range u.parts {
		if trusted, err := Trusted(stateHome, Untrusted{Hash: p.hash}); trusted || err != nil {
			if err != nil {
				return u, err
			}
			continue
		}
		end := len(u.Lines)
		if i+1 < len(u.parts) {
			end = u.parts[i+1].line
		}
		left.parts = append(left.parts, part{p.file, len(left.Lines), p.hash})
		left.Lines = append(left.Lines, u.Lines[p.line:end]...)
		if !slices.Contains(files, p.file) {
			files = append(files, p.file)
		}
	}
	left.File = strings.Join(files, ", ")
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
// not include line numbers: a new comment must not need new consent. A list is one
// part: without one of its checks, less is proved.
func (l Loader) claims(c *Config) Untrusted {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", l.project())
	var u Untrusted
	var files []string
	add := func(file string, lines []string, hashed string) {
		if len(lines) == 0 {
			return
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		u.parts = append(u.parts, part{file, len(u.Lines), l.Claim("setting " + hashed).Hash})
		u.Lines = append(u.Lines, lines...)
		fmt.Fprint(hash, hashed)
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
		add(file, []string{source.Where + ": " + termtext.Visible(claim)},
			fmt.Sprintf("%q %q %q\n", file, o.Key, value))
	}
	for _, row := range c.hooks {
		if row.key != "" && row.source.Kind == SourceProject { // a hook beside it must not cost a new consent
			add(yamlName, []string{row.source.Where + ": " + termtext.Visible(hookClaim(row.hook))},
				fmt.Sprintf("%q %q %q\n", yamlName, row.key, row.hook.Command))
		}
	}
	lines, list := c.rowClaims()
	add(yamlName, lines, list)
	u.File = strings.Join(files, ", ")
	u.Hash = hex.EncodeToString(hash.Sum(nil))
	return u
}

// rowClaims are the rows of the project's config.yaml that need consent, and what is agreed to.
func (c *Config) rowClaims() (lines []string, list string) {
	fromYAML := func(source Source, claim, hashed string) {
		if source.Kind == SourceProject {
			lines = append(lines, source.Where+": "+claim)
			list += fmt.Sprintf("%q %s\n", yamlName, hashed)
		}
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
	for _, row := range c.judges {
		if claim := judgeClaim(row); claim != "" {
			j := row.judge
			hashed := fmt.Sprintf("%q %d %t %g", claim, j.Threshold, j.RequireEvidence, j.Weight)
			fromYAML(row.source, termtext.Visible(claim), hashed)
		}
	}
	for _, row := range c.hooks {
		if row.key != "" {
			continue
		}
		claim := hookClaim(row.hook)
		fromYAML(row.source, termtext.Visible(claim), strconv.Quote(claim))
	}
	return lines, list
}

// project is the path of the project's folder with all links resolved.
func (l Loader) project() string {
	if real, err := filepath.EvalSymlinks(l.Dir); err == nil {
		return real
	}
	return l.Dir
}

// Trusted reports whether Trust has recorded these settings; never without a stateHome.
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

// Trust records that this user agrees to these settings, as files under
// stateHome/ralph/trusted, which are named by the hashes and show the settings.
func Trust(stateHome string, u Untrusted) error {
	if stateHome == "" {
		return errors.New("record trust: neither XDG_STATE_HOME nor a home folder is known")
	}
	for _, hash := range append(u.hashes(), u.Hash) {
		path := trustFile(stateHome, hash)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("record trust: %w", err)
		}
		if err := projectfs.In(filepath.Dir(path)).Write(path, []byte(strings.Join(u.Lines, "\n")+"\n"), 0o600); err != nil {
			return fmt.Errorf("record trust: %w", err)
		}
	}
	return nil
}

func (u Untrusted) hashes() (all []string) {
	for _, p := range u.parts {
		all = append(all, p.hash)
	}
	return all
}

func trustFile(stateHome, hash string) string {
	return filepath.Join(stateHome, "ralph", "trusted", hash)
}
