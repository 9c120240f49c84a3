// Command serve runs the stand-in for model APIs by hand:
//
//	go run ./internal/mockllm/serve -addr 127.0.0.1:8990
//
// An agent chooses a scenario by its base URL, http://127.0.0.1:8990/s/plan.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"slices"

	"ralph/internal/mockllm"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8990", "loopback address to listen on")
	flag.Parse()
	scenarios := mockllm.Builtin()
	s, err := mockllm.Listen(*addr, scenarios)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		fmt.Println(s.URL(name))
	}
	select {}
}
