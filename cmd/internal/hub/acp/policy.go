package acp

import (
	"os"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"ralph/runner/agent"
)

// Policy decides what an agent may do when it asks for permission. It may always read and search.
type Policy struct {
	Mode    string   // one of argv's permission modes; empty: as PermitAllowedTools
	Allowed []string // entries in Claude Code's syntax
}

// tools are Claude Code's names of the kinds of tools.
func tools() map[sdk.ToolKind]string {
	return map[sdk.ToolKind]string{sdk.ToolKindRead: "Read", sdk.ToolKindSearch: "Grep", sdk.ToolKindEdit: "Edit",
		sdk.ToolKindDelete: "Edit", sdk.ToolKindMove: "Edit", sdk.ToolKindExecute: "Bash",
		sdk.ToolKindFetch: "WebFetch"}
}

// allows reports whether a tool of this kind may do this.
func (p Policy) allows(kind sdk.ToolKind, command string) bool {
	switch kind {
	case sdk.ToolKindRead, sdk.ToolKindSearch, sdk.ToolKindThink:
		return true
	}
	switch p.Mode {
	case agent.PermitBypass:
		return true
	case agent.PermitReadOnly:
		return false
	}
	switch kind {
	case sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove:
		return slices.ContainsFunc(p.Allowed, func(e string) bool {
			return e == "Edit" || e == "Write" || e == "MultiEdit"
		})
	case sdk.ToolKindExecute:
		return agent.AllowsCommand(command, p.Allowed)
	}
	return slices.Contains(p.Allowed, tools()[kind])
}

// answer picks the option that allows or refuses one call. Without such an option, the call is cancelled.
func answer(options []sdk.PermissionOption, allow bool) sdk.RequestPermissionResponse {
	kinds := []sdk.PermissionOptionKind{sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways}
	if allow {
		kinds = []sdk.PermissionOptionKind{sdk.PermissionOptionKindAllowOnce} // later calls are asked about, too
	}
	for _, kind := range kinds {
		if i := slices.IndexFunc(options, func(o sdk.PermissionOption) bool { return o.Kind == kind }); i >= 0 {
			return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(options[i].OptionId)}
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}
}

// logins are the ways to log in with a key from the environment.
func logins(methods []sdk.AuthMethod) (ids []string) {
	keyed := slices.ContainsFunc(os.Environ(), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return strings.HasSuffix(name, "_API_KEY") && value != ""
	})
	for _, m := range methods {
		if m.Agent == nil {
			continue
		}
		if id := m.Agent.Id; keyed &&
			(strings.Contains(id, "api-key") || strings.Contains(id, "apikey") || strings.Contains(id, "openai")) {
			ids = append(ids, id)
		}
	}
	return ids
}
