package sandbox

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"ralph/ptyexec/cover"
)

// seeGit lets the command read a copy of the user's settings of git without credentials, and the files that they name.
func (v *view) seeGit(env []string) {
	text := withoutCredentials(env, v.Dir)
	file := cover.Place{Path: tempName(), Text: text}
	v.places.Blanks, v.gitCopy = append(v.places.Blanks, file), file.Path
	v.env = append(v.env, "GIT_CONFIG_GLOBAL="+file.Path)
	for _, m := range gitFiles().FindAllStringSubmatch(text, -1) {
		path := v.home.named(m[1])
		if info, err := os.Stat(path); err != nil || v.holdsAll(path) {
			continue
		} else if text, ok := readSettings(path); info.Mode().IsRegular() && (!ok || hasSecret(text)) {
			continue
		}
		v.see(path)
	}
}

// gitFiles matches settings that name a file or folder which git reads.
var gitFiles = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^[ \t]*(?:excludesfile|attributesfile|hookspath|template|templatedir|ignorerevsfile|mailmap\.file)` +
		`[ \t]*=[ \t]*"?(~/[^"\n]+|/[^"\n]+)"?[ \t]*$`)
})

// withoutCredentials returns the user's settings as git reads them in a folder, with those of included files, and
// without those that may have a credential.
//
//nolint:contextcheck,nolintlint // for its callers: it has a bound of its own
func withoutCredentials(env []string, dir string) string {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "config", "--global", "--includes", "--null", "--list")
	cmd.Dir, cmd.Env = dir, env
	out, _ := cmd.Output() // after an error: what it could read
	var b strings.Builder
	for entry := range strings.SplitSeq(string(out), "\x00") {
		key, value, has := strings.Cut(entry, "\n")
		section, rest, ok := strings.Cut(key, ".")
		if !ok || !has || hasSecret(entry) || strings.HasPrefix(section, "include") || section == "credential" {
			continue
		}
		name := rest
		if i := strings.LastIndexByte(rest, '.'); i >= 0 {
			section, name = section+` "`+gitQuote(rest[:i])+`"`, rest[i+1:]
		}
		b.WriteString("[" + section + "]\n\t" + name + ` = "` + gitQuote(value) + "\"\n")
	}
	return b.String()
}

func gitQuote(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text)
}
