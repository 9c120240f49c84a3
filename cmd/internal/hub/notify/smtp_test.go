package notify

import (
	"strings"
	"testing"
	"time"

	"ralph/internal/world"
)

func TestSend_realMailServer_getsTheMessage(t *testing.T) {
	mail := world.MailServer(t)
	to := "smtp://" + mail.Address + "/?from=ralph@example.com&to=me@example.com&usestarttls=no&encryption=None&auth=None"
	if err := Send(t.Context(), to, Message{Title: "ralph: shop: done", Text: "12 of 12 tasks\nNext: ralph report"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"To: me@example.com", "Subject: ralph: shop: done", "12 of 12 tasks", "Next: ralph report"} {
		for end := time.Now().Add(10 * time.Second); !strings.Contains(mail.String(), want); time.Sleep(20 * time.Millisecond) { // polling
			if time.Now().After(end) {
				t.Fatalf("no %q in\n%s", want, mail)
			}
		}
	}
}
