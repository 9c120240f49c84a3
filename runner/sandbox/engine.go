package sandbox

import (
	"fmt"
	"os"
)

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
