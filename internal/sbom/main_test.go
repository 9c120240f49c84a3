package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite_namesTheModulesOfAProgram_alwaysTheSame(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for range 2 {
		file := filepath.Join(t.TempDir(), "list")
		if err := write(self, file); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, want := range []string{`"bomFormat": "CycloneDX"`, "pkg:golang/std@go1.", "pkg:golang/github.com/CycloneDX/cyclonedx-go@v0."} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %s in:\n%s", want, texts[0])
		}
	}
	if texts[0] != texts[1] {
		t.Error("two lists of one program differ")
	}
	if err := write("main.go", filepath.Join(t.TempDir(), "list")); err == nil {
		t.Error("a text has modules")
	}
}
