package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

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
