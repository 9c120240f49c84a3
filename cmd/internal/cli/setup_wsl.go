package cli

import (
	"fmt"
	"regexp"
	"strings"
)

// wslAdvice says what stands in the way of a good run in WSL, a line each. kernel is the
// release of the kernel, program the path of the agent's program; empty: unknown. Outside
// WSL there is nothing to say.
func wslAdvice(kernel, dir, program string) []string {
	if !strings.Contains(strings.ToLower(kernel), "microsoft") {
		return nil
	}
	var all []string
	if strings.HasSuffix(kernel, "-Microsoft") { // that of WSL 2 ends with -microsoft-standard, or more
		all = append(all, "this is WSL 1; ralph needs WSL 2: wsl --set-version DISTRIBUTION 2")
	}
	// WSL mounts the drives of Windows here.
	windows := regexp.MustCompile(`^/mnt/[a-z](/|$)`)
	if windows.MatchString(dir) {
		all = append(all, fmt.Sprintf("%s is on a Windows drive: git and checks are many times slower there; "+
			"move the project below ~", dir))
	}
	if windows.MatchString(program) {
		all = append(all, fmt.Sprintf("%s is a Windows program: install the agent inside WSL too", program))
	}
	return all
}
