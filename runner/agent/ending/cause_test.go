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

func TestText_contextWordings(t *testing.T) {
	for text, want := range map[string]Class{
		"[API Error: {\"error\":{\"code\":400,\"message\":\"The input token count (1208311) exceeds the maximum number of tokens allowed (1048575).\",\"status\":\"INVALID_ARGUMENT\"}}]": ContextTooLong,
		"This model's maximum prompt length is 131072 but the request contains 140211 tokens.":                                                                                            ContextTooLong,
		"Invalid request: Your request exceeded model token limit: 262144 (requested: 270001)":                                                                                            ContextTooLong,
		"Please reduce the length of the messages or completion.":                                                                                                                         ContextTooLong,
		"tokens in request more than max tokens allowed":                                                                                                                                  ContextTooLong,
		"too many tokens: total number of tokens in the prompt cannot exceed 128000":                                                                                                      ContextTooLong,
		"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000":                                                                                                     ContextTooLong,
		"prompt too long; exceeded max context length by 311 tokens":                                                                                                                      ContextTooLong,
		"API Error: Claude's response exceeded the 32000 output token maximum.":                                                                                                           MaxTurns,
		"Rate limit reached: tokens per minute. The number of tokens exceeds the maximum number of tokens allowed per minute (TPM)":                                                       RateLimited,
	} {
		if c := (Reader{}).Text(text); c != want {
			t.Errorf("%q: class %q, want %q", text, c, want)
		}
	}
}
