package ending

import "testing"

func TestText_authWordings(t *testing.T) {
	for _, text := range []string{
		"Missing environment variable: `MOCK_KEY`.",
		"error: missing environment variable OPENAI_API_KEY",
		"Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.",
		"Your access token could not be refreshed. Please log in again.",
		"Session expired, please sign in again",
		"OAuth session expired · Please log in again",
		"Please sign in to continue",
		"Not logged in · Please run /login",
	} {
		if c := (Reader{}).Text(text); c != Auth {
			t.Errorf("%q: class %q", text, c)
		}
	}
}
