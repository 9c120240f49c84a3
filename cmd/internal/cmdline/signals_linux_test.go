package cmdline

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"ralph/ptyexec"
)

// The child of the test is its own program, told by the environment what to do after the first signal.
func TestMain(m *testing.M) {
	ptyexec.Init()
	if what := os.Getenv("SIGNALS_TEST"); what != "" {
		os.Exit(awaitSignal(what))
	}
	os.Exit(m.Run())
}

func awaitSignal(what string) int {
	sig := HandleSignals(os.Stdin)
	defer sig.Stop()
	r, _, _ := os.Pipe()
	script := "trap '' TERM; echo ready; exec sleep 3"
	begun := make(chan bool)
	if what == "ends a command" {
		go func() {
			_, _ = ptyexec.Run(sig.Ctx, ptyexec.Command{Args: []string{"sh", "-c", script}, KillGrace: 10 * time.Second}, func([]byte) bool {
				os.Stdout.WriteString("ready\n")
				return false
			})
			close(begun)
		}()
	} else {
		os.Stdout.WriteString("ready\n")
	}
	<-sig.Ctx.Done()
	switch what {
	case "ends a command":
		<-begun
	case "starts a command":
		_, _ = ptyexec.Run(context.Background(), ptyexec.Command{Args: []string{"sleep", "3"}}, func([]byte) bool { return false })
	case "computes":
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		}
	default:
		// The descriptor blocks, as a file of a network that does not answer.
		_, _ = syscall.Read(int(r.Fd()), make([]byte, 1))
	}
	return 7
}

func TestHandleSignals_theEndIsBlocked_theProcessEndsWithinTwoSeconds(t *testing.T) {
	for _, tt := range []struct {
		what   string
		signal syscall.Signal
		code   int
	}{
		{"blocks", syscall.SIGTERM, 143}, {"blocks", syscall.SIGINT, 130}, {"blocks", syscall.SIGHUP, 143},
		{"ends a command", syscall.SIGTERM, 7}, {"starts a command", syscall.SIGTERM, 7}, {"computes", syscall.SIGTERM, 7},
	} {
		t.Run(tt.what+" "+tt.signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "SIGNALS_TEST="+tt.what)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			asked := time.Now()
			_ = cmd.Process.Signal(tt.signal)
			_ = cmd.Wait()
			took, code := time.Since(asked), cmd.ProcessState.ExitCode()
			if code != tt.code || tt.code != 7 && took > 2*time.Second || tt.code == 7 && took < 2*time.Second {
				t.Errorf("ended with %d after %s", code, took)
			}
		})
	}
}
