package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ralph/ptyexec"
	"ralph/ptyexec/cover"
)

// containerHub is the path of ralph-hub inside a container.
const containerHub = "/run/ralph/ralph-hub"

// engine is a program that runs containers, and what differs between them.
type engine struct {
	name    string
	install string   // how to get it
	keepsID bool     // without root, it can keep the user's id inside
	kill    []string // options of rm that old versions may not know: kill immediately; nil: rm does so anyway
}

// wrap runs the command in a container of its own. The command sees the image, the project and the agent's own files;
// the latter two have the same paths as outside.
func (e *engine) wrap(c ptyexec.Command, v *view, n network) (ptyexec.Command, error) {
	name, file := containerName(), tempName()
	args := append(e.base(name), "--cidfile", file)
	switch {
	case c.Stdin != nil: // a prompt; with a terminal, the engine refuses a pipe
		args = append(args, "--interactive")
	case !c.Pipe:
		args = append(args, "--tty")
	}
	if !n.All {
		args = append(args, "--network", "none")
	}
	args = append(args, "--tmpfs", v.home.dir+":mode=1777,exec") // programs write there; it is gone with the container
	args = append(args, v.volumes()...)
	if n.route != (Route{}) {
		dir := filepath.Dir(n.route.Socket)
		args = append(args, "--volume", n.route.Hub+":"+containerHub+":ro", "--volume", dir+":"+dir+":ro")
		n.route.Hub = containerHub
	}
	program := c.Args[0]
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		program = filepath.Join(cmp.Or(c.Dir, v.Dir), program)
	}
	if !within(program, v.Dir) {
		program = filepath.Base(program) // the image has its own
	}
	env := programEnv(c.Env)
	command, env, err := n.bridge(slices.Concat([]string{program}, c.Args[1:]), env)
	if err != nil {
		return c, err
	}
	args = append(args, e.variables(env)...)
	args = append(args, "--workdir", cmp.Or(c.Dir, v.Dir), v.image)
	c.Args = slices.Concat(args, command)
	c.Dir = os.TempDir() // of the engine: its monitor may leave a file there when memory runs out
	// The engine itself needs more variables, to find its service.
	c.Env = slices.Concat(containerEnv(), env)
	c.After = removeContainer(e.name, e.kill, name, file)
	return c, nil
}

// volumes mounts what a container sees of this machine.
func (v *view) volumes() (args []string) {
	shown := slices.DeleteFunc(slices.Concat([]string{v.Dir}, v.Write), func(path string) bool {
		return v.isCache(path) || slices.Contains(v.locked, path) // mounts adds locked paths
	})
	for _, path := range shown {
		args = append(args, "--volume", path+":"+path)
	}
	v.mounts(func(from, to string, readOnly bool) {
		mode := ""
		if readOnly {
			mode = ":ro"
		}
		args = append(args, "--volume", from+":"+to+mode)
	})
	for _, a := range v.asked {
		if !slices.ContainsFunc(shown, func(dir string) bool { return within(a.path, dir) }) {
			shown = append(shown, a.path)
			args = append(args, "--volume", a.target+":"+a.path+":ro")
		}
	}
	if v.gitCopy != "" {
		args = append(args, "--volume", v.gitCopy+":"+v.gitCopy+":ro")
	}
	for _, path := range v.hidden {
		switch in := func(dir string) bool { return path != dir && within(path, dir) }; {
		case !slices.ContainsFunc(shown, in): // the container does not see it anyway
		case isDir(path):
			// Not a tmpfs: podman would copy the secret into it.
			empty := tempName()
			v.places.Shared = append(v.places.Shared, cover.Place{Path: empty, Kind: cover.Dir})
			args = append(args, "--volume", empty+":"+path+":ro")
		default:
			args = append(args, "--volume", v.blank("")+":"+path+":ro")
		}
	}
	return args
}

// base returns the arguments for every container.
func (e *engine) base(name string) []string {
	args := []string{e.name, "run", "--rm", "--init", "--pull", "never", "--name", name, "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--security-opt", "label=disable",
		"--pids-limit", strconv.Itoa(maxProcesses)}
	if bytes := containerMemory(); bytes > 0 {
		args = append(args, "--memory", strconv.FormatUint(bytes, 10))
	}
	if e.keepsID && os.Geteuid() != 0 {
		return append(args, "--userns", "keep-id")
	}
	return append(args, "--user", fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid()))
}

// variables returns the options that pass variables into the container. They have only names, because other users can
// read arguments.
func (e *engine) variables(env []string) (args []string) {
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if name == "" || name == "PATH" || name == "TMPDIR" || slices.Contains(args, name) {
			continue // the image has its own
		}
		args = append(args, "--env", name)
	}
	return args
}

// works runs the image once.
func (e *engine) works(s Settings) error {
	path, err := exec.LookPath(e.name)
	if err != nil {
		return fmt.Errorf("%s is not installed (%s)", e.name, e.install)
	}
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	removeOrphans(ctx, path)
	if out, err := exec.CommandContext(ctx, path, "image", "inspect", "--format", "{{.Id}}",
		s.image()).CombinedOutput(); err != nil {
		if line := firstLine(string(out), err); !strings.Contains(strings.ToLower(line), "no such") &&
			!strings.Contains(line, "not known") {
			return errors.New(line)
		}
		if s.image() != DefaultImage {
			return fmt.Errorf("there is no image %s: build it with %s, or pull it", s.image(), e.name)
		}
		return fmt.Errorf("there is no image %s: build it with %s, as docs/sandbox.md says under Containers", s.image(), e.name)
	}
	args := append(e.base(containerName()), s.image(), "true")
	if out, err := exec.CommandContext(ctx, path, args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s cannot run the image %s: %s", e.name, s.image(), firstLine(string(out), err))
	}
	return nil
}

// engineTimeout limits the first start of an image, which an engine may have to prepare.
const engineTimeout = time.Minute

// DefaultImage is the image that packaging/sandbox.Dockerfile makes.
const DefaultImage = "localhost/ralph-sandbox"

func (s Settings) image() string { return cmp.Or(s.SandboxImage, DefaultImage) }

// Engines returns the programs that run containers, the stronger one first.
func Engines() (all []string) {
	for _, p := range profiles() {
		if p.engine != nil {
			all = append(all, p.name)
		}
	}
	return all
}

// InContainer is true if commands run in a container: with the programs of an image,
// not with those of this machine.
func (s Settings) InContainer() bool { return s.profile().engine != nil }

// NeedsProgram returns an error if commands run in a container whose image lacks the
// program. A container always sees programs in the project's folder.
func (s Settings) NeedsProgram(ctx context.Context, dir, name string) error {
	if !s.InContainer() || within(name, dir) {
		return nil
	}
	name = filepath.Base(name) // as wrap starts it
	e := s.profile().engine
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	args := append(e.base(containerName()), s.image(), "sh", "-c", `command -v "$0"`, name)
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && (failed.ExitCode() == 1 || failed.ExitCode() == 127):
		return fmt.Errorf("the image %s has no program %q", s.image(), name)
	case err != nil:
		return fmt.Errorf("look for %q in the image %s: %s", name, s.image(), firstLine(string(out), err))
	}
	return nil
}

// firstLine is the first line that the program printed; if it printed nothing, the error says what happened.
func firstLine(printed string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(printed), "\n")
	return cmp.Or(line, err.Error())
}

// containerName returns a new name for a container. The name says which process it belongs to.
func containerName() string {
	pid := os.Getpid()
	return fmt.Sprintf("%s%d-%s-%s", containerPrefix(), pid, startTime(pid), strings.ToLower(rand.Text())[:12])
}

// containerPrefix is the same for all processes that see the same process ids: on one machine since its boot, outside containers
// or in the same container.
func containerPrefix() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id") // file: of the kernel
	if err != nil {
		host, _ := os.Hostname()
		boot = []byte(host)
	}
	space, _ := os.Readlink("/proc/self/ns/pid")
	sum := sha256.Sum256([]byte(string(boot) + space))
	return "ralph-" + hex.EncodeToString(sum[:4]) + "-"
}

// startTime is when a process did; 0: this machine does not say.
func startTime(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // file: of the kernel
	if fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])); len(fields) > 19 {
		return fields[19]
	}
	return "0"
}

// orphaned reports whether a container belongs to a process of this machine that has ended.
func orphaned(name string) bool {
	rest, ours := strings.CutPrefix(name, containerPrefix())
	id, rest, _ := strings.Cut(rest, "-")
	since, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(id)
	if !ours || err != nil {
		return false
	}
	now := startTime(pid) // also "0" for another user's process that we may not look at
	return syscall.Kill(pid, 0) == syscall.ESRCH || now != "0" && now != since
}

// removeContainer returns the command that removes a container by the id that the engine wrote to a file. An engine that was
// ended too early has written no id but may have made the container: then the command uses the name. kill are
// options of the engine's rm; if they fail, the command does without: older versions do not know them.
func removeContainer(engine string, kill []string, name, file string) []string {
	rm := engine + ` rm --force "$id"`
	if len(kill) > 0 {
		rm = engine + ` rm --force ` + strings.Join(kill, " ") + ` "$id" || ` + rm
	}
	script := `id=$(cat "$2"); rm -f "$2"; test ${#id} -eq 64 || id=$1; ` + rm
	return []string{"sh", "-c", script, "sh", name, file}
}

// removeOrphans removes the containers of an engine whose ralph and guard have both ended, for example by kill -9.
func removeOrphans(ctx context.Context, engine string) {
	out, err := exec.CommandContext(ctx, engine, "ps", "--all", "--filter", "name=ralph-",
		"--format", "{{.Names}}").Output()
	if err != nil {
		return // the start of a container will report the error
	}
	for _, name := range strings.Fields(string(out)) {
		if orphaned(name) {
			_ = exec.CommandContext(ctx, engine, "rm", "--force", name).Run()
		}
	}
}

// containerMemory returns how many bytes a container may use: seven eighths of this machine's memory; 0: unknown.
func containerMemory() uint64 {
	text, err := os.ReadFile("/proc/meminfo") // file: of the kernel
	if err != nil {
		return 0
	}
	var kib uint64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err != nil {
		return 0
	}
	return kib * 1024 / 8 * 7
}

// containerEnv returns the variables that the engine itself needs and a contained program does not get.
func containerEnv() (env []string) {
	for _, name := range []string{"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DOCKER_HOST", "DOCKER_CONTEXT",
		"DOCKER_CONFIG", "DOCKER_CERT_PATH",
		"DOCKER_TLS_VERIFY", "CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
