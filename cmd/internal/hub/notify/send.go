package notify

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/nicholas-fedor/shoutrrr"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"ralph/config/huboptions"
)

const (
	bound      = 20 * time.Second // for one try
	most       = 3500             // characters; Telegram takes 4096
	ofDiscord  = 1900             // characters
	discordURL = "discord"
)

// Send sends a message to a shoutrrr address or to the desktop. Without a notification
// program, the desktop gets the terminal bell of tty. The error never contains the address.
func Send(ctx context.Context, to, tty string, m Message) error {
	if to == huboptions.Desktop {
		Desktop(ctx, tty, m)
		return nil // trying again would not help: nothing here can show it
	}
	scheme, _, _ := strings.Cut(to, "://")
	limit := most
	if scheme == discordURL {
		limit = ofDiscord - len([]rune(m.Title))
	}
	text := m.Text
	if !showsTitle(scheme, to) {
		text = m.Title + "\n" + text
	}
	text = cut(text, limit)
	sender, err := shoutrrr.CreateSender(to)
	if err != nil {
		return fmt.Errorf("the %s address is unusable: %w", scheme, hidden(err, to))
	}
	sender.Timeout = bound
	failed := make(chan error, 1)
	go func() { // some services have no timeout
		failed <- errors.Join(sender.Send(text, &types.Params{"title": m.Title})...)
	}()
	select {
	case err = <-failed:
	case <-time.After(bound):
		err = errors.New("no answer in time")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", scheme, hidden(err, to))
	}
	return nil
}

// showsTitle is false for services that show nothing but the text.
func showsTitle(scheme, to string) bool {
	to = strings.ToLower(to)
	switch scheme {
	case "bark", discordURL, "gotify", "join", "lark", "notifiarr", "ntfy", "opsgenie", "pushbullet", "pushover",
		"slack", "smtp", "teams":
		return true
	case "telegram":
		return !strings.Contains(to, "parsemode=")
	}
	return strings.HasPrefix(scheme, "generic") && strings.Contains(to, "template=json")
}

// cut shortens a text to a number of characters. It keeps the last line, which says what to type.
func cut(text string, limit int) string {
	all := []rune(text)
	if len(all) <= limit {
		return text
	}
	end := []rune(text[strings.LastIndexByte(text, '\n')+1:])
	if room := limit - len(end) - 2; len(end) < len(all) && room > 0 {
		return string(all[:room]) + "…\n" + string(end)
	}
	return string(all[:limit-1]) + "…"
}

// hidden is the error without any part of the address: user, host, path and parameters.
func hidden(err error, to string) error {
	text := strings.ReplaceAll(err.Error(), to, "[address]")
	parts := []string{}
	if u, parseErr := url.Parse(to); parseErr == nil {
		key, _ := u.User.Password()
		parts = append(parts, key, u.User.Username(), u.Host)
		parts = append(parts, strings.Split(u.Path, "/")...)
		for _, values := range u.Query() {
			parts = append(parts, values...)
		}
	} else {
		return errors.New("it cannot be read")
	}
	for _, part := range parts {
		if len(part) >= 4 {
			text = strings.ReplaceAll(text, part, "[...]")
		}
	}
	return errors.New(text)
}

// Bell is what Desktop returns when it could only ring the bell.
const Bell = "the terminal's bell"

// Desktop tries the notification programs in the same order as other ralphs, then the bell of
// tty. It returns what it used; empty: nothing worked.
func Desktop(ctx context.Context, tty string, m Message) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, args := range [][]string{
		{"tt", "notify", m.Title, m.Text},
		{"terminal-notifier", "-title", m.Title, "-message", m.Text, "-group", "ralph"},
		{"notify-send", "--app-name=ralph", "--", m.Title, m.Text},
	} {
		if path, err := exec.LookPath(args[0]); err == nil && exec.CommandContext(ctx, path, args[1:]...).Run() == nil {
			return args[0]
		}
	}
	if tty == "" {
		return ""
	}
	f, err := os.OpenFile(tty, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "" // the terminal is gone
	}
	defer f.Close()
	if _, err := f.WriteString("\a"); err != nil {
		return ""
	}
	return Bell
}
