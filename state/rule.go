package state

// The names of the rules, as Decision.Rule and status.json have them. Each is the name of at least one row in the
// tables of runner/rules and the packages below it, which say when it applies; docs/decisions.md lists them.
const (
	RuleAgentUnusable     = "agent_unusable"
	RuleBlocked           = "blocked" // every open task is blocked until a person opens it
	RuleCeilings          = "ceilings"
	RuleClaimedIncomplete = "claimed_incomplete"
	RuleComplete          = "complete"
	RuleContinue          = "continue"
	RuleError             = "error"
	RuleGateFailed        = "gate_failed"
	RuleHook              = "hook"
	RuleHourly            = "hourly" // ralph resume does not end this wait
	RuleIntegrity         = "integrity"
	RuleInterrupted       = "interrupted"
	RuleOutputDecline     = "output_decline"
	RulePace              = "pace"
	RulePaused            = "paused"
	RulePermissionDenied  = "permission_denied"
	RulePlanComplete      = "plan_complete"
	RulePlanUnusable      = "plan_unusable"
	RuleQuestion          = "question" // a run, or a task, waits for answers of a person
	RuleRepeating         = "repeating"
	RuleReview            = "review"
	RuleReviewBlocked     = "review_blocked"
	RuleReviewMissing     = "review_missing"
	RuleReviewPassed      = "review_passed"
	RuleReviewRefused     = "review_refused"
	RuleSameError         = "same_error"
	RuleStagnation        = "stagnation"
	RuleTaskAttempts      = "task_attempts"
	RuleTaskStuck         = "task_stuck"
	RuleTasksPutAside     = "tasks_put_aside"
	RuleTestSaturation    = "test_saturation"
	RuleTransient         = "transient"
	RuleUsageLimit        = "usage_limit"
	RuleVerify            = "verify"
)
