package ending

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write zones.gz")

// known are the zones of this Go.
func known(t *testing.T) *zip.ReadCloser {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib/time/zoneinfo.zip"))
	if err != nil {
		t.Skip("this Go has no zoneinfo.zip")
	}
	t.Cleanup(func() { _ = z.Close() })
	return z
}

func TestGenerated_zones_areThoseOfGo(t *testing.T) {
	z := known(t)
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, "%s %d\n%s", f.Name, len(data), data)
		if find(f.Name) == nil && !*update {
			t.Errorf("no %s; run: make generate", f.Name)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("zones.gz", packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFind_zone_hasItsRules(t *testing.T) {
	data := find("America/Lima")
	loc, err := time.LoadLocationFromTZData("America/Lima", data)
	if err != nil {
		t.Fatal(err)
	}
	if _, offset := time.Date(2026, 11, 20, 12, 0, 0, 0, loc).Zone(); offset != -5*3600 {
		t.Errorf("offset %d", offset)
	}
	if find("Moon/Tycho") != nil || find("") != nil {
		t.Error("found what does not exist")
	}
	if _, err := loadZone("Moon/Tycho"); err == nil {
		t.Error("no error")
	}
}

func TestSetLocal_zoneThatTheMachineLacks_isTheLocalOne(t *testing.T) {
	for tz, want := range map[string]string{"Asia/Seoul": "KST", ":Asia/Seoul": "KST", "Moon/Tycho": "UTC", "": "UTC"} {
		before := time.Local
		time.Local = time.UTC
		local(tz, func(string) (*time.Location, error) { return nil, os.ErrNotExist })
		if got, _ := time.Now().Zone(); got != want {
			t.Errorf("TZ=%s: %s, want %s", tz, got, want)
		}
		time.Local = before
	}
}
