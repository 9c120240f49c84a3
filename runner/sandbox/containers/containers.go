// Package containers names the containers of ralph, so that those that nobody ended can be found.
package containers

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

// Name returns a new name for a container. It says which process it belongs to.
func Name() string {
	pid := os.Getpid()
	return fmt.Sprintf("%s%d-%s-%s", prefix(), pid, began(pid), strings.ToLower(rand.Text())[:12])
}

// prefix is the same for all processes that see the same process ids: those of one start of one
// machine, outside of containers or in the same one.
func prefix() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		host, _ := os.Hostname()
		boot = []byte(host)
	}
	space, _ := os.Readlink("/proc/self/ns/pid")
	sum := sha256.Sum256([]byte(string(boot) + space))
	return "ralph-" + hex.EncodeToString(sum[:4]) + "-"
}

// began is when a process did; 0: this machine does not say.
func began(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])); len(fields) > 19 {
		return fields[19]
	}
	return "0"
}

// left reports whether a container belongs to a process of this machine that has ended.
func left(name string) bool {
	rest, ours := strings.CutPrefix(name, prefix())
	id, rest, ok := strings.Cut(rest, "-")
	since, _, also := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(id)
	if !ours || !ok || !also || err != nil {
		return false
	}
	now := began(pid) // "0" also for a process of somebody else that cannot be looked at
	return syscall.Kill(pid, 0) == syscall.ESRCH || now != "0" && now != since
}

// Remove is the command that removes a container by the id that the engine wrote into a file. An
// engine that was ended earlier has written none, and may have made the container all the same:
// then its name says which.
func Remove(engine, name, file string) []string {
	script := `id=$(cat "$2"); rm -f "$2"; test ${#id} -eq 64 || id=$1; ` + engine + ` rm --force "$id"`
	if engine == "podman" { // it would ask politely first; older ones cannot do without
		script = strings.Replace(script, "podman rm", `podman rm --force --time 0 "$id" || podman rm`, 1)
	}
	return []string{"sh", "-c", script, "sh", name, file}
}

// RemoveLeft removes the containers of an engine whose ralph has ended, with its guard: after kill -9
// of both.
func RemoveLeft(ctx context.Context, engine string) {
	out, err := exec.CommandContext(ctx, engine, "ps", "--all", "--filter", "name=ralph-", "--format", "{{.Names}}").Output()
	if err != nil {
		return // what is wrong shows when a container starts
	}
	for _, name := range strings.Fields(string(out)) {
		if left(name) {
			_ = exec.CommandContext(ctx, engine, "rm", "--force", name).Run()
		}
	}
}
