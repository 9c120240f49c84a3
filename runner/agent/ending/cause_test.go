package ending

import "testing"

func TestText_authWordings(t *testing.T) {
	for _, text := range []string{
		"Missing environment variable: `MOCK_KEY`.",
		"error: missing environment variable OPENAI_API_KEY",
		"Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.",
		"Your access token could not be refreshed. Please log in again.",
		"Session expired, please sign in again",
		"Please set an Auth method in your /home/u/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY",
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

// A quota of a day, a week or a month is not used up for a minute only, although many providers call it a rate limit.
func TestText_quotaWordings(t *testing.T) {
	for text, want := range map[string]Class{
		"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day":                                                                             UsageLimit,
		"Rate limit exceeded: free-models-per-day-high-balance. ":                                                                                                                         UsageLimit,
		"API Error: Request rejected (429) · Rate limit exceeded: free-models-per-day":                                                                                                    UsageLimit,
		"Rate limit reached for gpt-5 in organization org-x on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.":                                      UsageLimit,
		"Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_x` on tokens per day (TPD): Limit 100000, Used 98474, Requested 2171. Please try again in 9m17.28s.": UsageLimit,
		"Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 43154 seconds before retrying.":                                                                           UsageLimit,
		"Requests per day limit exceeded - too many requests sent.":                                                                                                                       UsageLimit,
		"Tokens per day limit exceeded - too many tokens processed.":                                                                                                                      UsageLimit,
		"Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'Gemini 2.5 Pro Requests per day per user per tier' of service 'cloudcode-pa.googleapis.com'":                UsageLimit,
		"Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-12-02 17:12:24":                                                                                                    UsageLimit,
		"you have used up your daily free allocation of 10,000 neurons, please upgrade to the paid plan":                                                                                  UsageLimit,
		"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.":                                                                            SpendLimit,
		"You have reached your specified workspace API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.":                                                                  SpendLimit,
		"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. \n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 5, model: gemini-2.5-pro\nPlease retry in 36.9s.": RateLimited,
		"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. \n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0, model: gemini-3-pro\nPlease retry in 36.9s.":   NoCredit,
		"Rate limit exceeded: free-models-per-min. ":                                                                                                                                          RateLimited,
		"Rate limit of 10 per 60s exceeded for UserByModelByMinute. Please wait 42 seconds before retrying.":                                                                                  RateLimited,
		"Rate limit exceeded: 20 requests per minute. Free accounts get 50 requests per day.":                                                                                                 RateLimited,
		"Number of requests has exceeded your per-minute rate limit":                                                                                                                          RateLimited,
		"Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 3000. Please try again in 1.054s.":                                    RateLimited,
		"Quota exceeded for quota metric 'Requests' and limit 'Requests per minute per user per region'":                                                                                      RateLimited,
		"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes": NoCredit,
	} {
		if c := (Reader{}).Text(text); c != want {
			t.Errorf("%q: class %q, want %q", text, c, want)
		}
	}
}
