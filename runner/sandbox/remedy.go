package sandbox

import "strings"

// remedies are parts of error messages of podman, docker and bubblewrap, in lower case, each with its fix.
func remedies() [][2]string {
	return [][2]string{
		{"cannot connect to the docker daemon",
			"start it with: sudo systemctl start docker (Docker Desktop: start it)"},
		{"permission denied while trying to connect",
			"join its group with: sudo usermod -aG docker $USER, then log in again"},
		{"cannot connect to podman", "start it with: podman machine start"},
		{"unable to connect to podman", "start it with: podman machine start"},
		{"subuid", "get ids with: sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER; " +
			"podman system migrate"},
		{"newuidmap", "install what makes them (apt install uidmap, dnf install shadow-utils)"},
		{"default oci runtime", "install one (apt install crun, dnf install crun)"},
		{"container-init binary not found", "install one (apt install catatonit, dnf install catatonit)"},
		{"setting rlimit",
			"lower them in ~/.config/containers/containers.conf: default_ulimits = [\"nofile=1024:1024\"]"},
		{"uid map: permission denied", "allow them with: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
		{"creating new namespace",
			"allow them with: sudo sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"},
	}
}

// remedyHint adds the fix to a program's error message, if it is known.
func remedyHint(said string) string {
	for _, r := range remedies() {
		if strings.Contains(strings.ToLower(said), r[0]) {
			return said + "; " + r[1]
		}
	}
	return said
}

// firstLine is the first line that the program printed; if it printed nothing, the error says what happened.
func firstLine(printed string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(printed), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}
