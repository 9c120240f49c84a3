package world

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// Mail is what a mail server on loopback prints: the messages it received, and more lines.
type Mail struct {
	Address string // HOST:PORT

	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends what the server prints.
func (m *Mail) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.b.Write(p)
}

func (m *Mail) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.b.String()
}

// MailServer starts aiosmtpd, which prints the messages it receives. Without it, the test is
// skipped.
func MailServer(t *testing.T) *Mail {
	t.Helper()
	program, err := exec.LookPath("aiosmtpd")
	if err != nil {
		if os.Getenv("RALPH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("aiosmtpd is not installed")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &Mail{Address: free.Addr().String()}
	_ = free.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "-n", "-c", "aiosmtpd.handlers.Debugging", "stdout", "-l", m.Address)
	cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1")
	cmd.Stdout, cmd.Stderr = m, m
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) { // polling
		if c, err := net.Dial("tcp", m.Address); err == nil {
			_ = c.Close()
			return m
		}
	}
	t.Fatalf("aiosmtpd does not listen: %s", m)
	return nil
}
