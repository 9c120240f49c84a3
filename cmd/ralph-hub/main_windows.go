package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr,
		"ralph-hub: ralph does not run on Windows itself; run it in WSL2: wsl --install, then see docs/wsl2.md")
	os.Exit(2)
}
