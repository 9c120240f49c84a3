//go:build !windows

// Command ralph runs an AI coding agent again and again until a plan is done.
package main

import (
	"os"

	"ralph/cmd/internal/cli"
	"ralph/ptyexec"
)

func main() {
	ptyexec.Init()
	os.Exit(cli.Main("ralph", os.Args[1:]))
}
