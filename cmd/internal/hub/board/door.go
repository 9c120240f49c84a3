package board

// This file controls access to the dashboard: who may see it, and who may act. Reading may
// need a login, acting always does. There are no stored sessions: a login is a signed cookie, and
// a new token ends all of them.

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How long a link and a login are good for.
const (
	linkTime  = 15 * time.Minute
	loginTime = 30 * 24 * time.Hour
)

const cookieName = "ralph"

// Door has the settings that decide who gets in.
type Door struct {
	Token  string   // of the user; it signs cookies, and is a bearer token for programs
	Public *url.URL // behind a proxy: the address that people use; nil if there is none
	Closed bool     // reading needs a login, too
	Secure bool     // people use TLS
	Used   string   // folder with the names of links that somebody has used; it may be missing

	Now func() time.Time
}

// ReadToken reads the user's token. If the file does not exist, it creates one.
func ReadToken(file string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", fmt.Errorf("make token: %w", err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // file: in the state home
	if err == nil {
		_, err = f.WriteString(rand.Text() + "\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("make token: %w", err)
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make token: %w", err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("read token: %q must be a file that only you can read: chmod 600 it, "+
			"or remove it for a new token", file)
	}
	data, err := os.ReadFile(file) // file: in the state home
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < 20 {
		return "", fmt.Errorf("read token: %q has fewer than 20 characters; remove it for a new token", file)
	}
	return token, nil
}

func (d *Door) sign(parts ...string) string {
	mac := hmac.New(sha256.New, []byte(d.Token))
	for _, part := range parts {
		fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil)[:20])
}

// seal makes a signed value that is valid until a time: "TIME.ID.SIGNATURE".
func (d *Door) seal(kind string, lasts time.Duration) string {
	until, id := strconv.FormatInt(d.Now().Add(lasts).Unix(), 10), rand.Text()[:16]
	return until + "." + id + "." + d.sign(kind, until, id)
}

// errExpired says that a value is ours, but no longer valid.
var errExpired = errors.New("expired")

func (d *Door) check(kind, value string) error {
	parts := strings.Split(value, ".")
	if len(parts) != 3 || !same(parts[2], d.sign(kind, parts[0], parts[1])) {
		return errors.New("not signed")
	}
	until, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || d.Now().Unix() > until {
		return errExpired
	}
	return nil
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Link is the address of a login. It is valid for LinkTime.
func (d *Door) Link(base string) string {
	return strings.TrimSuffix(base, "/") + "/login?code=" + d.seal("link", linkTime)
}

// Login answers a link: 401 for one that is not ours, 410 for one that is old or was used, 500 if that cannot be noted,
// else 200 and the cookie.
func (d *Door) Login(w http.ResponseWriter, code string) (status int) {
	err := d.check("link", code)
	if same(code, d.Token) {
		err = nil // a person has typed the token itself
	} else if err == nil {
		err = d.use(code)
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return http.StatusInternalServerError
	}
	switch {
	case errors.Is(err, errExpired):
		return http.StatusGone
	case err != nil:
		return http.StatusUnauthorized
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: d.seal("login", loginTime), Path: "/",
		MaxAge: int(loginTime / time.Second), HttpOnly: true, Secure: d.Secure, SameSite: http.SameSiteStrictMode})
	return http.StatusOK
}

// use marks a link as used. It returns errExpired if it was used before.
func (d *Door) use(code string) error {
	if err := os.MkdirAll(d.Used, 0o700); err != nil {
		return err
	}
	old, _ := os.ReadDir(d.Used) // what stays is small
	for _, e := range old {
		if info, err := e.Info(); err == nil && d.Now().Sub(info.ModTime()) > 2*linkTime {
			_ = os.Remove(filepath.Join(d.Used, e.Name()))
		}
	}
	id := strings.Split(code, ".")[1]                                                          // letters and digits, see seal
	f, err := os.OpenFile(filepath.Join(d.Used, id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // file: in the state home
	if errors.Is(err, fs.ErrExist) {
		return errExpired
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Session is the login of a request; empty: none.
func (d *Door) Session(r *http.Request) string {
	for _, c := range r.CookiesNamed(cookieName) {
		if d.check("login", c.Value) == nil {
			return c.Value
		}
	}
	return ""
}

// FormToken is what a form of this login has to carry.
func (d *Door) FormToken(session string) string { return d.sign("form", session) }

// MayAct checks a request that changes something: a login, and a form that this program made for it.
func (d *Door) MayAct(r *http.Request) (status int, why string) {
	session := d.Session(r)
	switch {
	case session == "":
		return http.StatusUnauthorized, "you are not logged in; get a link with: ralph serve --link"
	case !same(r.PostFormValue("token"), d.FormToken(session)):
		return http.StatusForbidden, "the form is not of this login; load the page again"
	}
	return http.StatusOK, ""
}

// Guard wraps the handler of all pages.
func (d *Door) Guard(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	if d.Public != nil {
		_ = origin.AddTrustedOrigin(d.Public.Scheme + "://" + d.Public.Host) // fails only for no URL
	}
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the request comes from another site", http.StatusForbidden)
	}))
	guarded := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
				"img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			head.Set(name, value)
		}
		switch {
		case !d.knows(r.Host):
			http.Error(w, "the dashboard does not answer to this host name", http.StatusMisdirectedRequest)
		case d.Closed && !d.mayRead(r):
			http.Error(w, "you are not logged in; get a link with: ralph serve --link", http.StatusUnauthorized)
		default:
			guarded.ServeHTTP(w, r)
		}
	})
}

// mayRead reports whether a request may read. Everybody may read the login page and its style.
func (d *Door) mayRead(r *http.Request) bool {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return d.Session(r) != "" || bearer && same(token, d.Token) ||
		slices.Contains([]string{"/login", "/board.css", "/favicon.ico"}, r.URL.Path)
}

// knows reports whether a Host header is ours. It refuses names that somebody else may have pointed at this machine
// (DNS rebinding); a plain address is always ours.
func (d *Door) knows(host string) bool {
	if d.Public != nil && strings.EqualFold(host, d.Public.Host) {
		return true
	}
	name := (&url.URL{Host: host}).Hostname()
	_, err := netip.ParseAddr(name)
	return err == nil || strings.EqualFold(name, "localhost")
}
