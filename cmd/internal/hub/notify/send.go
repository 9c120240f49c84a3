package notify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nicholas-fedor/shoutrrr"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"ralph/cmd/internal/config"
	"ralph/logs/termtext"
)

const (
	bound = 20 * time.Second // for one try
	most  = 3500             // characters; Telegram takes 4096
)

// service is what ralph must know of a service to word its message.
type service struct {
	title bool // it shows a title; others get the title in the text, and some refuse it as a parameter
	limit int  // characters with the title, if not most
}

// services has a row for each service that differs from the zero value.
func services() map[string]service {
	return map[string]service{
		"bark": {title: true}, "discord": {true, 1900}, "gotify": {title: true}, "join": {title: true},
		"lark":      {true, 1000}, // 4096 bytes
		"notifiarr": {title: true}, "ntfy": {title: true}, "opsgenie": {title: true}, "pushbullet": {title: true},
		"pushover": {title: true}, "slack": {title: true}, "smtp": {title: true}, "teams": {title: true},
		"telegram": {title: true},
		"wecom":    {limit: 1000}, // 4096 bytes
		"zulip":    {limit: 2500}, // 10,000 bytes
	}
}

// colors are those of a message, by its occasion.
var colors = map[string]string{"ended": "0x1a7f4b", "halted": "0xb8272c", "review": "0xd98a1f",
	"question": "0xd98a1f", "limited": "0xd98a1f", "waiting": "0xd98a1f"}

// Send sends a message to a shoutrrr address or to the desktop. The error never contains the address.
func Send(ctx context.Context, to string, m Message) error {
	if to == config.Desktop {
		Desktop(ctx, m)
		return nil // trying again would not help: nothing here can show it
	}
	to = config.Address(to)
	scheme, _, _ := strings.Cut(to, "://")
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- hand(ctx, to, m) }() // some services have no timeout
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		if err = ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("no answer in time")
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", scheme, hidden(err, to))
	}
	return nil
}

// hand gives a message to the library. A panic there is an error like others: it must not end the program, which has
// other messages to send.
func hand(ctx context.Context, to string, m Message) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the service cannot be reached, or its answer cannot be read")
		}
	}()
	library, err := shoutrrr.NewSender(nil)
	if err != nil {
		return err
	}
	sender, err := library.Locate(to)
	if err != nil {
		return fmt.Errorf("the address, or its server, is unusable: %w", err) // matrix logs in
	}
	name := sender.GetID()
	row := services()[name]
	if name == "generic" { // it shows all parameters, or only the text
		row.title = strings.Contains(strings.ToLower(to), "template=json")
	}
	limit, text, params := most, m.Text, types.Params{}
	if row.limit > 0 {
		limit = row.limit - len([]rune(m.Title))
	}
	if row.title {
		params["title"] = m.Title
	} else {
		text = m.Title + "\n" + text
	}
	text = cut(text, limit)
	switch s := sender.(type) {
	case *telegram.Service:
		return toTelegram(ctx, s.GetConfig(), m.Title, text)
	case *discord.Service:
		s.HTTPClient = until{ctx}
		params["splitLines"] = "no" // one card, not one for each line
		if color := colors[m.On]; color != "" {
			params["color"] = color
		}
	case *pagerduty.Service: // the library does not apply the defaults that it documents
		s.Config.Host, s.Config.Port = cmp.Or(s.Config.Host, "events.pagerduty.com"), cmp.Or(s.Config.Port, 443)
	}
	return sender.Send(text, &params)
}

// until is a client whose requests end with ctx: the library goes on trying for minutes.
type until struct{ ctx context.Context }

// Do is that of http.Client.
func (u until) Do(req *http.Request) (*http.Response, error) {
	return http.DefaultClient.Do(req.WithContext(u.ctx))
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

// Desktop tries the notification programs in the same order as other ralphs. It returns the one that it used; empty: none
// works.
func Desktop(ctx context.Context, m Message) string {
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
	return ""
}

// open are words of addresses that are no secrets.
func open() []string {
	return []string{"yes", "no", "true", "false", "http", "https", "hook", "webhook", "telegram"}
}

// hidden returns the error on one line. It hides every address in it, and each word of this one (user, host, path,
// values of parameters), however the part is escaped. A single character is no secret: a sentence may have it, too.
func hidden(err error, to string) error {
	u, parseErr := url.Parse(to)
	if parseErr != nil {
		return errors.New("it cannot be read")
	}
	key, _ := u.User.Password()
	_, raw, _ := strings.Cut(to, "://")
	raw, _, _ = strings.Cut(raw, "?")
	parts := []string{raw, u.Path, u.User.Username(), key, u.EscapedFragment(), u.Fragment}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			value = name
		}
		plain, _ := url.QueryUnescape(value) // empty: it is not escaped
		parts = append(parts, value, plain)
	}
	text := strings.ReplaceAll(err.Error(), to, "[address]")
	text = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"']+`).ReplaceAllString(text, "[address]")
	words := strings.FieldsFunc(strings.Join(parts, " "), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	for _, word := range words {
		pattern := "(?i)" + word
		switch {
		case len(word) < 2 || slices.Contains(open(), strings.ToLower(word)):
			continue
		case len(word) < 4:
			pattern = `(?i)\b` + word + `\b`
		}
		text = regexp.MustCompile(pattern).ReplaceAllString(text, "[...]")
	}
	return errors.New(termtext.Line(text))
}

// toTelegram sends a message to each chat of an address. The library would report a request that failed as sent.
func toTelegram(ctx context.Context, c *telegram.Config, title, text string) error {
	mode := c.ParseMode
	if mode == telegram.ParseModes.None || mode == telegram.ParseModes.HTML {
		mode, text = telegram.ParseModes.HTML, "<b>"+html.EscapeString(title)+"</b>\n"+html.EscapeString(text)
	} else {
		text = title + "\n" + text
	}
	for _, chat := range c.Chats {
		id, thread, _ := strings.Cut(chat, ":")
		m := telegram.SendMessagePayload{Text: text, ID: id, ParseMode: mode.String(), DisablePreview: !c.Preview,
			DisableNotification: !c.Notification}
		if n, err := strconv.Atoi(thread); err == nil {
			m.MessageThreadID = &n
		}
		if err := postTelegram(ctx, c.Token, m); err != nil {
			return err
		}
	}
	return nil
}

func postTelegram(ctx context.Context, token string, m telegram.SendMessagePayload) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	to := "https://api.telegram.org/bot" + token + "/sendMessage"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return errors.Unwrap(err) // without the address
	}
	defer res.Body.Close()
	var got struct {
		OK          bool
		Description string
	}
	err = json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&got)
	switch {
	case err != nil:
		return fmt.Errorf("the service answered %s without JSON", res.Status)
	case !got.OK:
		return fmt.Errorf("the service answered %s: %s", res.Status, got.Description)
	}
	return nil
}
