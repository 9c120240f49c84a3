package option

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ServersForm says what Servers takes.
const ServersForm = "HOST:PORT or nats://HOST:PORT (also tls, ws, wss), or several with commas between"

// Servers reports whether text is addresses of NATS servers, with commas between.
func Servers(text string) bool {
	return !slices.ContainsFunc(strings.Split(text, ","), func(entry string) bool { return !server(entry) })
}

// server reports whether text is the address of one server. A bare name is more likely a typo than a host.
func server(text string) bool {
	scheme, rest, named := strings.Cut(strings.TrimSpace(text), "://")
	if !named {
		scheme, rest = "nats", scheme
	}
	u, err := url.Parse("nats://" + rest)
	if err != nil || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, scheme) {
		return false
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return (named && u.Port() == "" || err == nil && port > 0) && u.Hostname() != "" &&
		strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment == ""
}

// HideUsers removes the name, password or token before the host of each address in a list. It also works on text that
// is not a valid address, such as one with a slash in its password, and keeps a password with a comma together.
func HideUsers(list string) string {
	entries := strings.Split(list, ",")
	var shown []string
	for i := 0; i < len(entries); i++ {
		entry := entries[i]
		for i+1 < len(entries) && !strings.Contains(entry, "@") && !server(entry) && !strings.Contains(entries[i+1], "://") {
			i++
			entry += "," + entries[i]
		}
		if at := strings.LastIndexByte(entry, '@'); at >= 0 {
			scheme, _, named := strings.Cut(entry[:at], "://")
			entry = "..." + entry[at:]
			if named {
				entry = scheme + "://" + entry
			}
		}
		shown = append(shown, entry)
	}
	return strings.Join(shown, ",")
}
