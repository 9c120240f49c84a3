package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"ralph/logs/termtext"
	"ralph/state/option"
)

// This file has the options that ralph hands to ralph-hub, and the list of
// services that can notify people: notifications and the dashboard.
// They go as JSON to its standard input, because they hold keys.

// Desktop stands in NOTIFY for a notification on this machine.
const Desktop = "desktop"

// occasions are the events of which a person can be notified.
func occasions() []string {
	return []string{"ended", "halted", "limited", "waiting", "question", "review"}
}

// services are the schemes of ralph-hub's library whose messages leave this machine, as a test compares them. With true,
// the service is of one company: where other addresses have a server, its have a key or a channel, which people who are
// asked for their consent must not see.
func services() map[string]bool {
	return map[string]bool{
		"bark": false, "discord": true, "generic": false, "googlechat": false,
		"gotify": false, "hangouts": false, "ifttt": true, "join": true,
		"lark": false, "matrix": false, "mattermost": false, "notifiarr": true,
		"ntfy": false, "opsgenie": false, "pagerduty": false, "pushbullet": true,
		"pushover": true, "rocketchat": false, "signal": false, "slack": true,
		"smtp": false, "teams": true, "telegram": false, "wecom": true,
		"zulip": false,
	}
}

// Services are the schemes that NOTIFY takes.
func Services() []string { return slices.Sorted(maps.Keys(services())) }

// Address is an entry of NOTIFY in the form of ralph-hub's library, also for the addresses that services show to their
// users.
func Address(to string) string {
	for _, row := range [][2]string{
		{`^https://(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(\d+)/([\w-]+)/?(\?thread_id=\d+)?(?:[?&].*)?$`, "discord://$2@$1$3"},
		{`^https://hooks\.slack\.com/services/(\w+)/(\w+)/(\w+)/?$`, "slack://hook:$1-$2-$3@webhook"},
		{`^https://chat\.googleapis\.com/(v1/spaces/.+)$`, "googlechat://chat.googleapis.com/$1"},
		{`^(https://[\w.-]+\.webhook\.office\.com/.+)$`, "teams+$1"},
		{`^https://ntfy\.sh/([\w-]+)/?$`, "ntfy://ntfy.sh/$1"},
	} {
		to = regexp.MustCompile(row[0]).ReplaceAllString(to, row[1])
	}
	return to
}

// Notifications are the values of the options.
type Notifications struct {
	Notify   []string `json:"notify"` // addresses of shoutrrr, and Desktop
	NotifyOn []string `json:"notify_on"`
}

// HubJob is what ralph tells ralph-hub to do.
type HubJob struct {
	Notifications
	Dir string `json:"dir"` // the project
	Run string `json:"run"`
	Log string `json:"log"` // file
}

// Wanted reports whether anything is to be sent.
func (s Notifications) Wanted() bool { return len(s.Notify) > 0 }

// Options are the rows of the option table that fill s.
func (s *Notifications) Options() []option.Row {
	const group = "In touch"
	return []option.Row{{
		Group: group, Key: "NOTIFY", YAML: "notify.to", Kind: option.List, Trust: true, Safe: []string{Desktop},
		Secret: true, Field: &s.Notify,
		Help: "Where notifications go: a comma list of shoutrrr addresses such as ntfy://ntfy.sh/my-topic, " +
			"webhook addresses of Discord, Slack, Google Chat and Teams, and desktop.",
	}, {
		Group: group, Key: "NOTIFY_ON", YAML: "notify.on", Kind: option.List,
		Default: "ended,halted,limited,question,review", Field: &s.NotifyOn,
		Help: "What you are notified about: a comma list of " + strings.Join(occasions(), ", ") + ".",
	}}
}

// Check returns what is wrong with the values; nil: nothing. The error names no address, because an address may contain a
// key.
func (s Notifications) Check() error {
	for i, to := range s.Notify {
		if why := unserved(to); why != "" {
			return fmt.Errorf("NOTIFY: entry %d %s", i+1, why)
		}
	}
	for _, name := range s.NotifyOn {
		if !slices.Contains(occasions(), name) {
			return fmt.Errorf("NOTIFY_ON: %q is not one of %s", name, strings.Join(occasions(), ", "))
		}
	}
	return nil
}

// unserved says why no message can go to an entry of NOTIFY; empty: one can. Some services take the service's own
// address after a plus: generic+https://HOST/PATH.
func unserved(to string) string {
	scheme, rest, _ := strings.Cut(Address(to), "://")
	service, _, custom := strings.Cut(strings.ToLower(scheme), "+")
	switch {
	case to == Desktop || rest != "" && slices.Contains(Services(), service) &&
		(!custom || slices.Contains([]string{"generic", "notifiarr", "teams"}, service)):
		return ""
	case service == "http" || service == "https":
		return fmt.Sprintf("begins with %s://, which names no service; to POST to it: generic+%[1]s://...", service)
	}
	return fmt.Sprintf("names no service; allowed are %s, and addresses such as ntfy://ntfy.sh/my-topic of %s",
		Desktop, strings.Join(Services(), ", "))
}

// String hides the values: they hold keys.
func (s Notifications) String() string {
	return "settings with " + strconv.Itoa(len(s.Notify)) + " addresses"
}

// InTouch is what the options say about being in touch, and what is wrong with that.
func (c *Config) InTouch() (Notifications, error) {
	s := c.Touch
	switch {
	case c.Notify && len(s.Notify) == 0:
		s.Notify = []string{Desktop}
	case !c.Notify && c.Source("ENABLE_NOTIFICATIONS").Kind == SourceFlag: // --no-notify
		s.Notify = nil
	}
	return s, c.Located(s.Check())
}

// Located puts the place of an option in front of an error that begins with the option's key. Any error becomes a
// *UsageError.
func (c *Config) Located(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	end := strings.IndexAny(text+" ", " :=")
	key, problem := text[:end], text[end:]
	if from := c.Source(key); from.Where != "" && strings.HasPrefix(problem, ": ") {
		return c.Bad(key, errors.New(problem[2:]))
	}
	return &UsageError{c.Source(key).Where, text}
}

// shownAddresses is a list of addresses for people who decide about it: of each entry the service, and the server that gets
// the messages. The rest may be a key.
func shownAddresses(list string) string {
	entries := termtext.Each(strings.Split(list, ","), func(to string) string { return shown(strings.TrimSpace(to)) })
	return strings.Join(entries, ", ")
}

func shown(to string) string {
	u, err := url.Parse(to)
	if err != nil || !strings.Contains(to, "://") {
		return "..."
	}
	at := u.Host
	if u.User != nil {
		at = "...@" + at
	}
	if services()[u.Scheme] {
		at = "..."
	} else if strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "" {
		at += "/..."
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		pair, _ = url.QueryUnescape(pair)
		if strings.HasPrefix(strings.ToLower(pair), "host=") { // signal and teams send there
			at += "?" + pair
		}
	}
	return u.Scheme + "://" + at
}

// Serve has the settings of the dashboard. ralph serve passes them to ralph-hub serve.
type Serve struct {
	Listen  string // HOST:PORT
	Cert    string // file; empty: no TLS
	Key     string
	Proxy   string // the address that people use, behind a proxy with TLS; empty if there is none
	Actions bool   // users who are logged in may act
	Link    bool   // only print a link
}

// Flags declares the flags.
func (s *Serve) Flags(fs *pflag.FlagSet) {
	fs.SortFlags = false
	fs.StringVar(&s.Listen, "listen", "127.0.0.1:8477",
		"Listen on `ADDRESS:PORT`; other than loopback needs TLS or a proxy.")
	fs.BoolVar(&s.Actions, "actions", false, "Let who is logged in pause, stop, answer, accept and change the plan.")
	fs.BoolVar(&s.Link, "link", false, "Print a link that logs you in, good for 15 minutes, and end.")
	fs.StringVar(&s.Cert, "cert", "", "TLS certificate `FILE`, with --key.")
	fs.StringVar(&s.Key, "key", "", "TLS key `FILE`.")
	fs.StringVar(&s.Proxy, "behind-proxy", "", "A proxy with TLS passes requests on; people use its `URL`.")
}

// Check returns what is wrong, as a line for people.
func (s Serve) Check() error {
	host, port, err := net.SplitHostPort(s.Listen)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n > 65535 {
		return fmt.Errorf("--listen %q is not ADDRESS:PORT, such as 127.0.0.1:8477", s.Listen)
	}
	if host != "localhost" {
		if _, err := netip.ParseAddr(host); err != nil {
			return fmt.Errorf("--listen %q must begin with an IP address or localhost; 0.0.0.0 means all", s.Listen)
		}
	}
	if (s.Cert == "") != (s.Key == "") {
		return errors.New("--cert and --key go together")
	}
	if s.Proxy != "" {
		u, err := url.Parse(s.Proxy)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" && u.Path != "/" || u.User != nil {
			return fmt.Errorf("--behind-proxy %q is not a URL such as https://ralph.example.org", s.Proxy)
		}
	}
	if !s.Loopback() && s.Cert == "" && s.Proxy == "" {
		return fmt.Errorf("--listen %s can be reached from other machines: add --cert and --key, "+
			"or --behind-proxy URL", s.Listen)
	}
	return nil
}

// Loopback reports whether only this machine can connect.
func (s Serve) Loopback() bool {
	host, _, _ := net.SplitHostPort(s.Listen)
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// URL is the address that people use.
func (s Serve) URL() string {
	switch {
	case s.Proxy != "":
		return s.Proxy
	case s.Cert != "":
		return "https://" + s.Listen + "/"
	}
	return "http://" + s.Listen + "/"
}

// Way says how to reach a fleet.
type Way struct {
	URL   string // empty: the server on this machine
	Creds string // a file with NATS credentials; empty: a token
}

// Flags declares the flags; url is the name of one.
func (w *Way) Flags(fs *pflag.FlagSet, url string) {
	fs.StringVar(&w.URL, url, "", "The `URL` of the fleet; without it, the server on this machine.")
	fs.StringVar(&w.Creds, "creds", w.Creds, "A `FILE` with NATS credentials, instead of RALPH_FLEET_TOKEN.")
}

// Check returns what is wrong, as a line for people; url is the name of a flag.
func (w *Way) Check(url string) error {
	if w.URL != "" && !option.Servers(w.URL) {
		return fmt.Errorf("--%s %q is not %s", url, option.HideUsers(w.URL), option.ServersForm)
	}
	if w.Creds != "" {
		if _, err := os.Stat(w.Creds); err != nil {
			return fmt.Errorf("--creds: %w", err)
		}
	}
	return nil
}

// Worker has the settings of a worker. ralph worker passes them to ralph-hub worker.
type Worker struct {
	Way
	Slots int
}

// Flags declares the flags.
func (w *Worker) Flags(fs *pflag.FlagSet) {
	w.Way.Flags(fs, "join")
	fs.IntVar(&w.Slots, "slots", 1, "How many turns to carry out at the same time: `N`.")
}

// Check returns what is wrong, as a line for people.
func (w *Worker) Check() error {
	if w.Slots < 1 || w.Slots > 64 {
		return fmt.Errorf("--slots %d: from 1 to 64", w.Slots)
	}
	return w.Way.Check("join")
}
