package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const webhookBound = 20 * time.Second // for one try

// webhookMessage is one event.
type webhookMessage struct {
	ID   string // the same in each try
	Body []byte // JSON
}

// sendWebhook posts a message, signed as Standard Webhooks (standardwebhooks.com) describe it. An answer that is not 2xx is an error; redirects are not followed.
// The error does not name the address.
func sendWebhook(ctx context.Context, to, key string, m webhookMessage) error {
	ctx, cancel := context.WithTimeout(ctx, webhookBound)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(m.Body))
	if err != nil {
		return errors.New("the address is unusable")
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "ralph-hub")
	req.Header.Set("webhook-id", m.ID)
	req.Header.Set("webhook-timestamp", at)
	if key != "" {
		req.Header.Set("webhook-signature", "v1,"+signWebhook(key, m, at))
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return errors.Unwrap(err) // without the address, which a *url.Error names
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection is used again
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answered %s", res.Status)
	}
	return nil
}

// signWebhook returns the signature of a message that is sent at a Unix time. A key that begins
// with whsec_ is the base64 of its bytes.
func signWebhook(key string, m webhookMessage, at string) string {
	secret := []byte(key)
	if encoded, ok := strings.CutPrefix(key, "whsec_"); ok {
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			secret = raw
		}
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", m.ID, at, m.Body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
