package main

import (
	"fmt"
	"os"

	"ralph/cmd/internal/wsl"
)

func main() {
	fmt.Fprintln(os.Stderr, wsl.Refusal("ralph-hub"))
	os.Exit(2)
}
