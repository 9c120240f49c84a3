// Command sbom lists the modules of a Go program as CycloneDX JSON, from the build
// information in the program:
//
//	go run ./internal/sbom PROGRAM FILE
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/sbom PROGRAM FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write uses no time and no random number: the same program gives the same list.
func write(program, file string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read modules: %w", err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	list := cdx.NewBOM()
	self := cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: "program", Name: filepath.Base(program),
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(data))}}}
	list.Metadata = &cdx.Metadata{Component: &self}
	std := module("std", info.GoVersion)
	parts, refs := []cdx.Component{std}, []string{std.BOMRef}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		part := module(m.Path, m.Version)
		parts, refs = append(parts, part), append(refs, part.BOMRef)
	}
	list.Components = &parts
	list.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	var text bytes.Buffer
	err = cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(list)
	return errors.Join(err, os.WriteFile(file, text.Bytes(), 0o644))
}

func module(path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: path, Version: version, PackageURL: url}
}
