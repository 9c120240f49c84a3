package notify

// This file reads what people send back: from a topic of ntfy or from the chats of a Telegram bot. It ignores
// messages that do not begin with the user's token.

import (
	"bufio"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ralph/cmd/internal/config"
)

const (
	repliesBound = 20 * time.Second // for one look
	maxRead      = 16 << 20         // bytes of one answer: Telegram sends 100 messages at once, perhaps with what they quote
)

// received is a message of a person, without the token.
type received struct {
	Source string // ntfy or telegram
	ID     string // of the message there
	Text   string
}

// inbox is one address. The zero value of since: messages from now on.
type inbox struct {
	to    *url.URL
	token string
	since string
	start time.Time
}

// openInbox opens an address in the form of shoutrrr. The error does not name it.
func openInbox(to, token string) (*inbox, error) {
	u, err := url.Parse(to)
	if err = cmp.Or(config.CheckReplies(to), config.CheckToken(token), err); err != nil {
		return nil, err
	}
	return &inbox{to: u, token: token, start: time.Now()}, nil
}

// Look returns the new replies. The error does not name the address.
func (b *inbox) Look(ctx context.Context) ([]received, error) {
	ctx, cancel := context.WithTimeout(ctx, repliesBound)
	defer cancel()
	if b.to.Scheme == "ntfy" {
		return b.ntfy(ctx)
	}
	return b.telegram(ctx)
}

func (b *inbox) get(ctx context.Context, u url.URL) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("the address is unusable")
	}
	if key, ok := b.to.User.Password(); ok && b.to.Scheme == "ntfy" {
		req.SetBasicAuth(b.to.User.Username(), key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, errors.Unwrap(err) // without the address
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return nil, fmt.Errorf("the service answered %s", res.Status)
	}
	return res.Body, nil
}

// scheme is that of HTTP: https, unless the address says otherwise.
func (b *inbox) scheme() string {
	if b.to.Query().Get("scheme") == "http" {
		return "http"
	}
	return "https"
}

func (b *inbox) ntfy(ctx context.Context) (all []received, err error) {
	since := b.since
	if since == "" {
		since = strconv.FormatInt(b.start.Unix(), 10)
	}
	u := url.URL{Scheme: b.scheme(), Host: b.to.Host, Path: strings.TrimRight(b.to.Path, "/") + "/json",
		RawQuery: url.Values{"poll": {"1"}, "since": {since}}.Encode()}
	body, err := b.get(ctx, u)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	lines := bufio.NewScanner(io.LimitReader(body, maxRead))
	lines.Buffer(nil, maxRead)
	for lines.Scan() {
		var m struct{ ID, Event, Message string }
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.Event != "message" || m.ID == "" {
			continue
		}
		b.since = m.ID
		all = b.add(all, received{Source: "ntfy", ID: m.ID, Text: m.Message})
	}
	return all, lines.Err()
}

func (b *inbox) telegram(ctx context.Context) (all []received, err error) {
	host := b.to.Host
	if host == "telegram" {
		host = "api.telegram.org"
	}
	key, _ := b.to.User.Password()
	u := url.URL{Scheme: b.scheme(), Host: host, Path: "/bot" + b.to.User.Username() + ":" + key + "/getUpdates",
		RawQuery: url.Values{"offset": {b.since}}.Encode()}
	body, err := b.get(ctx, u)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var got struct {
		Result []struct {
			ID      int64 `json:"update_id"`
			Message struct {
				Date int64
				Text string
				Chat struct{ ID int64 }
			}
		}
	}
	if err := json.NewDecoder(io.LimitReader(body, maxRead)).Decode(&got); err != nil {
		return nil, errors.New("the service answered no JSON")
	}
	chats := strings.Split(b.to.Query().Get("chats"), ",")
	for _, r := range got.Result {
		b.since = strconv.FormatInt(r.ID+1, 10)
		if r.Message.Date >= b.start.Unix() && slices.Contains(chats, strconv.FormatInt(r.Message.Chat.ID, 10)) {
			all = b.add(all, received{Source: "telegram", ID: strconv.FormatInt(r.ID, 10), Text: r.Message.Text})
		}
	}
	return all, nil
}

// add keeps a reply whose first word is the token, and takes that away.
func (b *inbox) add(all []received, r received) []received {
	first, rest, _ := strings.Cut(strings.TrimSpace(r.Text), " ")
	if subtle.ConstantTimeCompare([]byte(first), []byte(b.token)) != 1 {
		return all
	}
	r.Text = strings.TrimSpace(rest)
	return append(all, r)
}

// Verb returns the verb of ralph that a reply asks for, with its arguments; ok is false if it
// asks for none. living is true if the verb needs a run that is alive.
func (r received) Verb() (args []string, living, ok bool) {
	words := strings.Fields(r.Text)
	switch {
	case len(words) == 1 && slices.Contains([]string{"pause", "resume", "stop"}, words[0]):
		return words, true, true
	case len(words) == 4 && words[0] == "answer" && words[2] == "--option":
		return []string{"answer", "--by=" + r.Source, "--option=" + words[3], "--", words[1]}, false, true
	case len(words) > 2 && words[0] == "answer":
		_, text, _ := strings.Cut(r.Text, words[1])
		return []string{"answer", "--by=" + r.Source, "--", words[1], strings.TrimSpace(text)}, false, true
	}
	return nil, false, false
}
