package setupcmd

import (
	"os"
	"testing"

	"ralph/ptyexec"
)

func TestMain(m *testing.M) {
	ptyexec.Init()
	os.Exit(m.Run())
}
