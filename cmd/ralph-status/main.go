//go:build !windows

// Command ralph-status shows the state of a run once: ralph status.
package main

import (
	"os"

	"ralph/cmd/internal/cli"
	"ralph/ptyexec"
)

func main() {
	ptyexec.Init()
	os.Exit(cli.Main("ralph-status", append([]string{"status"}, os.Args[1:]...)))
}
