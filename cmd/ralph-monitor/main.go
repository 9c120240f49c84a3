//go:build !windows

// Command ralph-monitor watches a run: ralph monitor.
package main

import (
	"os"

	"ralph/cmd/internal/cli"
	"ralph/ptyexec"
)

func main() {
	ptyexec.Init()
	os.Exit(cli.Main("ralph-monitor", append([]string{"monitor"}, os.Args[1:]...)))
}
