package demo

import "time"

// usage counts the tokens of one turn. The numbers are invented but consistent.
type usage struct{ input, output, cacheRead, cacheWrite int }

// costUSD prices a turn like a mid-sized model.
func (u usage) costUSD() float64 {
	return float64(3*u.input+15*u.output)/1e6 + float64(3*u.cacheRead)/1e7 + float64(15*u.cacheWrite)/4e6
}

func (u usage) record() map[string]any {
	return map[string]any{
		"input_tokens": u.input, "output_tokens": u.output,
		"cache_read_input_tokens": u.cacheRead, "cache_creation_input_tokens": u.cacheWrite,
	}
}

func (a *agent) init() {
	a.write(map[string]any{
		"type": "system", "subtype": "init", "cwd": a.dir, "tools": []string{"Bash", "Edit"},
		"mcp_servers": []string{}, "model": Model, "permissionMode": "default", "apiKeySource": "none",
		"claude_code_version": "1.0.0",
	})
	reset := a.started.Add(3 * time.Hour).Unix()
	a.write(map[string]any{"type": "rate_limit_event", "rate_limit_info": map[string]any{
		"status": "allowed", "resetsAt": reset, "rateLimitType": "five_hour", "utilization": 0.12,
		"isUsingOverage": false,
	}})
}

// begin opens a model request unless one is open. Its records share an id and repeat the
// same usage, as those of the real CLI do.
func (a *agent) begin() {
	if a.message != "" || a.err != nil {
		return
	}
	a.message = a.id("msg")
	a.turns++
	a.usage.input += 40
	a.usage.output += 160
	a.usage.cacheRead += 2000 + 600*a.turns
	a.usage.cacheWrite += 600
}

func (a *agent) assistant(block map[string]any) {
	now := usage{40, 1, 2000 + 600*a.turns, 600}
	a.write(map[string]any{"type": "assistant", "parent_tool_use_id": nil, "message": map[string]any{
		"id": a.message, "type": "message", "role": "assistant", "model": Model,
		"content": []any{block}, "stop_reason": nil, "stop_sequence": nil, "usage": now.record(),
	}})
}

func (a *agent) toolResult(id, content string, failed bool) {
	a.write(map[string]any{"type": "user", "parent_tool_use_id": nil, "message": map[string]any{
		"role": "user",
		"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": content,
			"is_error": failed}},
	}})
}

// finish prints the final message and the result record.
func (a *agent) finish(text string) {
	a.say("%s", text)
	took := time.Since(a.started).Milliseconds()
	cost := a.usage.costUSD()
	a.write(map[string]any{
		"type": "result", "subtype": "success", "is_error": false, "api_error_status": nil,
		"terminal_reason": "completed",
		"stop_reason":     "end_turn", "num_turns": a.turns, "duration_ms": took, "duration_api_ms": took,
		"result": text, "permission_denials": []any{}, "total_cost_usd": cost, "usage": a.usage.record(),
		"modelUsage": map[string]any{Model: map[string]any{
			"inputTokens": a.usage.input, "outputTokens": a.usage.output,
			"cacheReadInputTokens": a.usage.cacheRead, "cacheCreationInputTokens": a.usage.cacheWrite, "costUSD": cost,
		}},
	})
}
