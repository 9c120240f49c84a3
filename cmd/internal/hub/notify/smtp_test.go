package notify

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// locked is a buffer that a process writes and the test reads.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// mailServer starts aiosmtpd, which prints the messages that it gets.
func mailServer(t *testing.T) (address string, printed *locked) {
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
	address, printed = free.Addr().String(), &locked{}
	_ = free.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "-n", "-c", "aiosmtpd.handlers.Debugging", "stdout", "-l", address)
	cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1")
	cmd.Stdout, cmd.Stderr = printed, printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) { // polling
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return address, printed
		}
	}
	t.Fatalf("aiosmtpd does not listen: %s", printed)
	return "", nil
}

func TestSend_realMailServer_getsTheMessage(t *testing.T) {
	address, printed := mailServer(t)
	to := "smtp://" + address + "/?from=ralph@example.com&to=me@example.com&usestarttls=no&encryption=None&auth=None"
	if err := Send(t.Context(), to, "", Message{Title: "ralph: shop: done", Text: "12 of 12 tasks\nNext: ralph report"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"To: me@example.com", "Subject: ralph: shop: done", "12 of 12 tasks", "Next: ralph report"} {
		for end := time.Now().Add(10 * time.Second); !strings.Contains(printed.String(), want); time.Sleep(20 * time.Millisecond) { // polling
			if time.Now().After(end) {
				t.Fatalf("no %q in\n%s", want, printed)
			}
		}
	}
}
