//go:build !windows

// Command ralph-hub is the only program of ralph that uses a network.
package main

import (
	"os"
	_ "time/tzdata" // a small container has none

	"ralph/cmd/internal/hub"
	"ralph/ptyexec"
)

func main() {
	ptyexec.Init()
	os.Exit(hub.Main(os.Args[1:]))
}
