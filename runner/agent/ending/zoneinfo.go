package ending

// This file has the world's time zones, for machines without them. time/tzdata does the
// same with five times the bytes.

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strconv"
	"strings"
	"time"
)

// packed is a gzip of all zones: for each a line with its name and size, and its data.
//
//go:embed zones.gz
var packed []byte

// loadZone is time.LoadLocation, which also knows the zones that this machine does not have.
func loadZone(name string) (*time.Location, error) {
	loc, err := time.LoadLocation(name)
	if err != nil {
		if data := find(name); data != nil {
			return time.LoadLocationFromTZData(name, data)
		}
	}
	return loc, err
}

// SetLocalZone makes the zone in the variable TZ the local one where Go could not, as it is unknown on this
// machine: in a small container.
func SetLocalZone(tz string) { local(tz, time.LoadLocation) }

func local(tz string, load func(string) (*time.Location, error)) {
	name := strings.TrimPrefix(tz, ":")
	if _, err := load(name); err == nil {
		return
	}
	if loc, err := loadZone(name); err == nil {
		time.Local = loc
	}
}

// find returns the data of a zone, or nil.
func find(name string) []byte {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	for r := bufio.NewReader(unpacked); ; {
		line, err := r.ReadString('\n')
		zone, size, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, bad := strconv.Atoi(size)
		if err != nil || bad != nil {
			return nil
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil
		}
		if zone == name {
			return data
		}
	}
}
