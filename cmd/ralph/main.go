//go:build !windows

// Command ralph runs an AI coding agent again and again until a plan is done. Called as
// ralph-status or ralph-monitor, by a link, it is that verb.
package main

import (
	"os"

	"ralph/cmd/internal/cli"
	"ralph/ptyexec"
)

func main() {
	ptyexec.Init()
	os.Exit(cli.Main(os.Args))
}
