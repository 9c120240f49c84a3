package config

import (
	"net/url"
	"slices"
	"strings"
)

// shownAddresses is a list of addresses for people who decide about it: of each entry the service, and the server that gets
// the messages. The rest may be a key.
func shownAddresses(list string) string {
	entries := strings.Split(list, ",")
	for i, to := range entries {
		entries[i] = shown(strings.TrimSpace(to))
	}
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
	if slices.Contains(services(), service{u.Scheme, true}) {
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
