package config

// The files hub*.go have the options that ralph hands to ralph-hub, and the list of
// services that can notify people: notifications and the dashboard.
// They go as JSON to its standard input, because they hold keys.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ralph/state/option"
)

// Desktop stands in NOTIFY for a notification on this machine.
const Desktop = "desktop"

// occasions are the events of which a person can be notified.
func occasions() []string {
	return []string{"ended", "halted", "limited", "waiting", "question", "review"}
}

// service is a scheme that NOTIFY takes.
type service struct {
	name string
	// keyed: it is of one company. Where other addresses have a server, its have a key or a channel, which people who
	// are asked for their consent must not see.
	keyed bool
}

// services are those of ralph-hub's library whose messages leave this machine. A test compares them with the library.
func services() []service {
	return []service{
		{"bark", false}, {"discord", true}, {"generic", false}, {"googlechat", false},
		{"gotify", false}, {"hangouts", false}, {"ifttt", true}, {"join", true},
		{"lark", false}, {"matrix", false}, {"mattermost", false}, {"notifiarr", true},
		{"ntfy", false}, {"opsgenie", false}, {"pagerduty", false}, {"pushbullet", true},
		{"pushover", true}, {"rocketchat", false}, {"signal", false}, {"slack", true},
		{"smtp", false}, {"teams", true}, {"telegram", false}, {"wecom", true},
		{"zulip", false},
	}
}

// Services are the schemes that NOTIFY takes.
func Services() (names []string) {
	for _, s := range services() {
		names = append(names, s.name)
	}
	return names
}

// natives are the addresses that services show to their users, and what ralph-hub's library calls them.
var natives = sync.OnceValue(func() (all []native) {
	for _, row := range [][2]string{
		{`^https://(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(\d+)/([\w-]+)/?(\?thread_id=\d+)?(?:[?&].*)?$`, "discord://$2@$1$3"},
		{`^https://hooks\.slack\.com/services/(\w+)/(\w+)/(\w+)/?$`, "slack://hook:$1-$2-$3@webhook"},
		{`^https://chat\.googleapis\.com/(v1/spaces/.+)$`, "googlechat://chat.googleapis.com/$1"},
		{`^(https://[\w.-]+\.webhook\.office\.com/.+)$`, "teams+$1"},
		{`^https://ntfy\.sh/([\w-]+)/?$`, "ntfy://ntfy.sh/$1"},
	} {
		all = append(all, native{regexp.MustCompile(row[0]), row[1]})
	}
	return all
})

type native struct {
	shown *regexp.Regexp
	ours  string
}

// Address is an entry of NOTIFY in the form of ralph-hub's library.
func Address(to string) string {
	for _, n := range natives() {
		to = n.shown.ReplaceAllString(to, n.ours)
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
	TTY string `json:"tty"` // whose bell rings; empty: none
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
