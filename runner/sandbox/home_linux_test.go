package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ralph/ptyexec"
	"ralph/runner/agent"
)

// reads runs a script that prints the files of the home folder which a command can read, a line for each.
func reads(t *testing.T, b Box, env []string, names ...string) (all []string) {
	t.Helper()
	script := ""
	for _, name := range names {
		script += "test -n \"$(cat \"$HOME/" + name + "\" 2>/dev/null)\" && echo '" + name + "'; "
	}
	ok, out := run(t, b, env, script+"true")
	if !ok {
		t.Fatal(out)
	}
	return strings.Fields(out)
}

// run runs a script with an environment, of which HOME and TMPDIR are a part.
func run(t *testing.T, b Box, env []string, script string) (bool, string) {
	t.Helper()
	c, err := b.Wrap(ptyexec.Command{Args: []string{"/bin/bash", "-c", script}, Dir: b.Dir, Env: env, Pipe: true})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	exit, err := ptyexec.Run(t.Context(), c, func(p []byte) bool { out.Write(p); return false })
	if err != nil {
		t.Fatal(err)
	}
	return exit.Code == 0, out.String()
}

// plant makes a home folder with a project, and files with their names as texts.
func plant(t *testing.T, names ...string) (home, project string, env []string) {
	t.Helper()
	home = t.TempDir()
	project = filepath.Join(home, "src", "project")
	for _, name := range append(names, "src/project/main.go", "temp/file") {
		put(t, filepath.Join(home, name), name)
	}
	return home, project, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(home, "temp")}
}

func here(t *testing.T, p profile, project string, read ...string) Box {
	t.Helper()
	at, err := Settings{Sandbox: p.name, SandboxRead: read}.At(project, nil)
	if err != nil {
		t.Fatal(err)
	}
	return at.Box(project, "")
}

func TestHome_toolchainsAreSeen_withoutTheirCredentials(t *testing.T) {
	long(t)
	seen := []string{".cargo/bin/cargo", ".rustup/settings.toml", "go/bin/tool", "go/pkg/mod/x", ".npm/x", ".nvm/nvm.sh", ".pyenv/version",
		".local/bin/tool", ".m2/repository/x", ".gradle/caches/x", ".sdkman/candidates/x", ".rbenv/x", ".config/git/ignore"}
	not := []string{".cargo/credentials.toml", "go/src/x", ".m2/settings.xml", ".gradle/gradle.properties", ".config/other/x", ".bashrc",
		".npmrc", "src/other/main.go", "file", ".dotnet/corefx/key"}
	each(t, func(t *testing.T, p profile) {
		_, project, env := plant(t, slices.Concat(seen, not)...)
		want := seen
		if p.engine != nil {
			want = nil
		}
		if got := reads(t, here(t, p, project), env, slices.Concat(seen, not)...); !slices.Equal(got, want) {
			t.Errorf("seen are %q, want %q", got, want)
		}
		ok, out := run(t, here(t, p, project), env, "for f in .cargo/bin/cargo .local/bin/tool new .config/new; do echo x >~/$f && echo $f; done; echo x >~/go/pkg/mod/x && echo x >~/.npm/x")
		if p.engine == nil && (!ok || strings.Contains(out, "\nnew") || strings.HasPrefix(out, ".cargo")) {
			t.Errorf("%v %s", ok, out)
		}
	})
}

// Settings of tools are seen as long as they have no credentials, and no text of another kind.
func TestHome_settings_onlyPlainOnesAreSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"registry=https://r.example.com\n# comment\n\nprefix=${HOME}/x\n": true, "[http]\nproxy = \"p:1\"\n[net]\n": true, "a: b\n- c\n": true, "": true,
		"//r.example.com/:_authToken=x": false, "registry=https://me:pw@r.example.com": false, "registry=https://me@r.example.com": false,
		"[registry]\ntoken = \"x\"": false, "planted": false, "a=b\nplanted\n": false, "key = sk-ant-api03-" + strings.Repeat("Ab3_", 20): false,
	} {
		path := filepath.Join(t.TempDir(), "settings")
		put(t, path, text)
		if isPlain(path) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if isPlain(t.TempDir()) || isPlain("/dev/zero") {
		t.Error("what is no file is plain")
	}
}

func TestHome_variablesMoveToolchains_theyAreFollowed(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		if p.engine != nil {
			return // has those of its image
		}
		names := []string{"x/cargo/bin/cargo", "x/cargo/credentials.toml", "x/cargo/other", "x/go/pkg/mod/m", "x/go/src/s", "x/jdk/release", "x/conf/git/ignore",
			"x/conf/gh/hosts", "x/node/bin/node", "x/node/lib/node_modules/npm/x", "x/node/secret", "x/venv/pyvenv.cfg", "x/venv/bin/python", "x/venv/lib/a", "x/ca.pem"}
		home, project, env := plant(t, names...)
		for name, value := range map[string]string{"CARGO_HOME": "cargo", "GOPATH": "go", "JAVA_HOME": "jdk", "XDG_CONFIG_HOME": "conf", "SSL_CERT_FILE": "ca.pem"} {
			env = append(env, name+"="+filepath.Join(home, "x", value))
		}
		env[1] += ":" + filepath.Join(home, "x/node/bin") + ":" + filepath.Join(home, "x/venv/bin")
		want := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return slices.Contains([]string{"x/cargo/credentials.toml", "x/cargo/other", "x/go/src/s", "x/conf/gh/hosts", "x/node/secret"}, name)
		})
		if got := reads(t, here(t, p, project), env, names...); !slices.Equal(got, want) {
			t.Errorf("seen are %q, want %q", got, want)
		}
	})
}

// A variable may call the home folder, or one with everything in it, a toolchain.
func TestHome_variablesNameWideFolders_theyStayHidden(t *testing.T) {
	long(t)
	names := []string{".ssh/id", ".config/gh/hosts", ".local/share/keyrings/k", "Documents/d", ".netrc"}
	each(t, func(t *testing.T, p profile) {
		if p.engine != nil {
			return
		}
		home, project, env := plant(t, names...)
		for name, value := range map[string]string{"GOPATH": "", "JAVA_HOME": "", "PYENV_ROOT": "/", "CARGO_HOME": "", "npm_config_cache": "/.config", "GOCACHE": "",
			"PNPM_HOME": "/.local/share", "VIRTUAL_ENV": "/..", "GOROOT": "/.ssh", "XDG_CONFIG_HOME": "", "SSL_CERT_DIR": ""} {
			env = append(env, name+"="+home+value)
		}
		env[1] += ":" + home + ":" + home + "/:" + filepath.Dir(home) + ":" + home + "/.ssh/.."
		if got := reads(t, here(t, p, project), env, names...); len(got) > 0 {
			t.Errorf("seen are %q", got)
		}
		if ok, out := run(t, here(t, p, project), env, "echo x >~/new || echo x >~/.config/new"); ok {
			t.Errorf("the home folder is writable: %s", out)
		}
	})
}

func TestHome_sandboxRead_isSeenAndNotWritable(t *testing.T) {
	long(t)
	names := []string{"data/a", "data/b/c", "more/x", "one/file", "one/other", ".m2/settings.xml", ".ssh/id"}
	each(t, func(t *testing.T, p profile) {
		home, project, env := plant(t, names...)
		b := here(t, p, project, "~/data", filepath.Join(home, "more"), "~/one/file", "~/.m2/settings.xml", "~/missing", "~/src/project")
		want := []string{"data/a", "data/b/c", "more/x", "one/file", ".m2/settings.xml"}
		if got := reads(t, b, env, names...); !slices.Equal(got, want) {
			t.Errorf("seen are %q, want %q", got, want)
		}
		if ok, out := run(t, b, env, "echo x >~/data/a || rm ~/data/b/c || echo x >~/one/file"); ok {
			t.Errorf("writable: %s", out)
		}
		if ok, out := run(t, b, env, "echo x >~/src/project/new"); !ok {
			t.Error(out)
		}
	})
}

func TestSandboxRead_badPaths_areRefused(t *testing.T) {
	for path, want := range map[string]bool{"~/a": true, "/home/me/a": true, "~/.m2/settings.xml": true, "a/b": false, "": false, "~": false, "~/": false, "/": false,
		".": false, "..": false, "~/..": false, "~/a/../..": false, "~other/a": false} {
		if isNamed(path) != want {
			t.Errorf("%q: %v", path, !want)
		}
	}
	home, project, env := plant(t)
	t.Setenv("HOME", home)
	for _, path := range []string{home, filepath.Dir(home)} {
		at, err := Settings{Sandbox: "landlock", SandboxRead: []string{path}}.At(project, nil)
		if err == nil || !strings.Contains(err.Error(), "SANDBOX_READ") {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := at.Box(project, "").Wrap(ptyexec.Command{Args: []string{"true"}, Env: env}); err == nil {
			t.Errorf("%s is wrapped", path)
		}
	}
}

// Links of people lead where they led. One that a contained program can make leads nowhere.
func TestHome_links(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		home, project, env := plant(t, "dotfiles/gitconfig", "disk/cargo/bin/cargo", "disk/conf/git/ignore", "disk/conf/gh/hosts", "secret/file", "disk/ours/login")
		put(t, filepath.Join(home, "dotfiles/gitconfig"), "[user]\n\tname = Me\n")
		link := func(target, name string) {
			t.Helper()
			path := filepath.Join(home, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		}
		link("dotfiles/gitconfig", ".gitconfig")
		link("../disk/conf", "links/conf")
		link(filepath.Join(home, "links/conf"), ".config")
		link("disk/cargo", ".cargo")
		link("disk/ours", ".ours")
		link("../../secret", "src/project/planted")
		link("../secret", "~/temp/planted")
		b := here(t, p, project, "~/src/project/planted", "~/temp/planted")
		b.Agent = agent.Variables{State: []string{".ours/"}}
		env = append(env, "JAVA_HOME="+filepath.Join(project, "planted"), "GOPATH="+filepath.Join(project, "planted"))
		want := []string{".config/git/ignore", ".cargo/bin/cargo", ".ours/login"}
		names := append(want, ".gitconfig", ".config/gh/hosts", "disk/conf/gh/hosts", "secret/file", "src/project/planted/file", "temp/planted/file")
		if p.engine != nil {
			want = nil // of a link to a folder of the agent, it has the target only
		}
		if got := reads(t, b, env, names...); !slices.Equal(got, want) {
			t.Errorf("seen are %q, want %q", got, want)
		}
		if ok, out := run(t, b, env, "git config user.name && echo x >~/.ours/session"); p.engine == nil && (!ok || out != "Me\n") {
			t.Errorf("%v %s", ok, out)
		}
	})
}

// In a folder of a repository, the rest of the repository is there, and cannot be written.
func TestHome_projectInAFolderOfARepository(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		home, _, env := plant(t, "mono/other/o.go", "mono/part/p.go", "beside/b.go")
		repository(t, filepath.Join(home, "mono"))
		git(t, filepath.Join(home, "mono"), "add", "-A")
		git(t, filepath.Join(home, "mono"), "-c", "user.name=x", "-c", "user.email=x@ralph.invalid", "commit", "-qm", "x")
		b := here(t, p, filepath.Join(home, "mono/part"))
		if got := reads(t, b, env, "mono/other/o.go", "mono/part/p.go", "beside/b.go"); p.engine == nil && !slices.Equal(got, []string{"mono/other/o.go", "mono/part/p.go"}) {
			t.Errorf("seen are %q", got)
		}
		if ok, out := run(t, b, env, "git status --porcelain && ! echo x 2>/dev/null >../other/o.go"); p.engine == nil && (!ok || out != "") {
			t.Errorf("%v %s", ok, out)
		}
	})
}

// With a repository in the home folder, such as one of dotfiles, its files stay hidden.
func TestHome_repositoryOfTheHomeFolder(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		home, project, env := plant(t, ".ssh/id", "other/x")
		t.Setenv("HOME", home)
		repository(t, home)
		if got := reads(t, here(t, p, project), env, ".ssh/id", "other/x", ".git/HEAD"); len(got) > 0 {
			t.Errorf("seen are %q", got)
		}
	})
}

func TestAt_projectContainsTheHomeFolder_isRefused(t *testing.T) {
	home, _, env := plant(t)
	t.Setenv("HOME", home)
	for _, project := range []string{home, filepath.Dir(home)} {
		for _, p := range profiles() {
			at, err := Settings{Sandbox: p.name}.At(project, nil)
			if err == nil || !strings.Contains(err.Error(), "home folder") {
				t.Errorf("%s in %s: %v", p.name, project, err)
			}
			if _, err := at.Box(project, "").Wrap(ptyexec.Command{Args: []string{"true"}, Env: env}); err == nil {
				t.Errorf("%s in %s is wrapped", p.name, project)
			}
		}
		if _, err := (Settings{}).At(project, nil); err != nil {
			t.Errorf("without a sandbox: %v", err)
		}
	}
	project := t.TempDir()
	for _, value := range []string{"", "relative", "/"} {
		t.Setenv("HOME", value)
		if _, err := (Settings{Sandbox: "bwrap"}).At(project, nil); err == nil || !strings.Contains(err.Error(), "HOME must be an absolute path") {
			t.Errorf("HOME=%q: %v", value, err)
		}
	}
}

// A folder for temporary files that contains the home folder does not show it.
func TestHome_belowTheTemporaryFolder_isHidden(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		home, project, env := plant(t, ".ssh/id", "other/x", ".cargo/bin/cargo")
		for _, temp := range []string{"/tmp", filepath.Dir(home), ""} {
			env[2] = "TMPDIR=" + temp
			if got := reads(t, here(t, p, project), env, ".ssh/id", "other/x", ".cargo/bin/cargo"); p.engine == nil && !slices.Equal(got, []string{".cargo/bin/cargo"}) {
				t.Errorf("TMPDIR=%s: seen are %q", temp, got)
			}
			if ok, out := run(t, here(t, p, project), env, "echo x >~/other/x || echo x >~/new"); ok && p.engine == nil {
				t.Errorf("TMPDIR=%s: %s", temp, out)
			}
		}
		env[2] = "TMPDIR=" + filepath.Join(home, "temp")
		if ok, out := run(t, here(t, p, project), env, "f=$(mktemp) && echo x >$f && rm $f"); !ok && p.engine == nil {
			t.Errorf("a temporary file in the home folder: %s", out)
		}
	})
}

// The folder for temporary files may have the sockets of the user's own programs.
func TestHome_socketsInTheTemporaryFolder_areNotReached(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		home, project, env := plant(t)
		for name, format := range map[string]string{"SSH_AUTH_SOCK": "%s", "DOCKER_HOST": "unix://%s", "TMUX": "%s,1,0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=%s,guid=1"} {
			path := filepath.Join(home, "temp", "s")
			if len(path) > 100 {
				t.Skip("the path of the temporary folder is too long for a socket")
			}
			socket, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			for _, passed := range []bool{true, false} {
				more := []string{name + "=" + fmt.Sprintf(format, path)}
				t.Setenv(name, fmt.Sprintf(format, path))
				if !passed {
					more = nil
				}
				if ok, out := run(t, here(t, p, project), slices.Concat(env, more), "test -S "+path); ok && p.locks {
					t.Errorf("%s: the socket is there: %s", name, out)
				}
			}
			t.Setenv(name, "")
			if ok, out := run(t, here(t, p, project), env, "f=$(mktemp) && rm $f"); !ok && p.engine == nil {
				t.Errorf("%s: %s", name, out)
			}
			socket.Close()
		}
	})
}

// git has the user's settings, with those of included files, and without credentials.
func TestHome_gitSettings(t *testing.T) {
	long(t)
	const clean = "[user]\n\tname = Me\n\temail = me@ralph.invalid\n[core]\n\texcludesfile = ~/.ignored\n[alias]\n\tst = status -s\n"
	for name, c := range map[string]struct {
		files map[string]string
		not   []string // what is not seen
	}{
		"plain":      {map[string]string{".gitconfig": clean}, nil},
		"XDG":        {map[string]string{".config/git/config": clean}, nil},
		"helper":     {map[string]string{".gitconfig": clean + "[credential]\n\thelper = store\n"}, []string{"credential"}},
		"token":      {map[string]string{".gitconfig": clean + "[url \"https://x:planted@h/\"]\n\tinsteadOf = gh:\n[http]\n\textraheader = \"Authorization: planted\"\n"}, []string{"planted"}},
		"include":    {map[string]string{".gitconfig": "[include]\n\tpath = ~/work/config\n", "work/config": clean + "[x]\n\tpassword = planted\n"}, []string{"planted", "include."}},
		"includeIf":  {map[string]string{".gitconfig": "[includeIf \"gitdir:~/src/\"]\n\tpath = ~/work/config\n", "work/config": clean}, []string{"includeif."}},
		"broken":     {map[string]string{".gitconfig": clean + "planted\n"}, []string{"planted"}},
		"not a file": {map[string]string{".config/git/config": clean, ".gitconfig/planted": ""}, []string{"planted"}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, p profile) {
				home, project, env := plant(t, ".ignored")
				put(t, filepath.Join(home, ".ignored"), "*.tmp\n")
				for name, text := range c.files {
					put(t, filepath.Join(home, name), text)
				}
				repository(t, project)
				env = append(env, "GIT_CONFIG_NOSYSTEM=1")
				script := "git config user.name; git config --get alias.st; touch a.tmp; git status --porcelain -uall a.tmp; git config --list --show-origin | grep -v file:.git/; cat ~/.gitconfig ~/.config/git/config ~/work/config 2>/dev/null; true"
				ok, out := run(t, here(t, p, project), env, script)
				if broken := name == "broken" || name == "not a file"; !broken && p.engine == nil && (!ok || !strings.HasPrefix(out, "Me\nstatus -s\nfile:")) {
					t.Errorf("%v %s", ok, out)
				} else if broken && strings.Contains(out, "fatal") {
					t.Error(out)
				}
				for _, text := range c.not {
					if strings.Contains(out, text) {
						t.Errorf("%q is seen:\n%s", text, out)
					}
				}
			})
		})
	}
}

// An agent's own folders are where its variables say, and its program is where PATH or its path says.
func TestHome_folderOfTheAgentIsMoved_isFollowed(t *testing.T) {
	long(t)
	each(t, func(t *testing.T, p profile) {
		names := []string{"work/login", "work/settings.json", ".config/ours/login", "theirs/login", "tools/app/node_modules/cli/lib/x"}
		home, project, env := plant(t, names...)
		put(t, filepath.Join(home, "tools/app/node_modules/cli/run"), "#!/bin/sh\ncat \"$(dirname \"$0\")/lib/x\"\n")
		if err := os.Chmod(filepath.Join(home, "tools/app/node_modules/cli/run"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		b := here(t, p, project)
		b.Agent = agent.Variables{State: []string{".ours/", ".config/ours/"}, Fixed: []string{".ours/settings.json"}, Moved: []string{"OURS_DIR=.ours"}}
		env = append(env, "OURS_DIR="+filepath.Join(home, "work"))
		if got := reads(t, b, env, names[:4]...); !slices.Equal(got, names[:3]) {
			t.Errorf("seen are %q", got)
		}
		if ok, out := run(t, b, env, "echo x >~/work/session && echo x >~/.config/ours/session"); !ok {
			t.Error(out)
		}
		if ok, out := run(t, b, env, "echo x >~/work/settings.json"); ok && p.locks {
			t.Error(out)
		}
		if p.engine != nil {
			return
		}
		c, err := b.Wrap(ptyexec.Command{Args: []string{filepath.Join(home, "tools/app/node_modules/cli/run")}, Dir: project, Env: env, Pipe: true})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if _, err := ptyexec.Run(t.Context(), c, func(p []byte) bool { out.Write(p); return false }); err != nil || out.String() != names[4] {
			t.Errorf("%v %s", err, out.String())
		}
	})
}
