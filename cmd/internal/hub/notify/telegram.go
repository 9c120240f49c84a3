package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
)

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
