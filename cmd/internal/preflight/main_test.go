package preflight

import (
	"os"
	"testing"

	"ralph/internal/fakebd"
	"ralph/ptyexec"
)

func TestMain(m *testing.M) {
	fakebd.Init()
	ptyexec.Init()
	os.Exit(m.Run())
}
