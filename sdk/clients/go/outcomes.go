package toolgate

import (
	"encoding/json"
	"time"
)

// Outcome is how an execution ended: *Success, *ProviderError, *AuthRequired, *ApprovalRequired or *DryRun.
// Switch on its type.
type Outcome interface {
	// Execution is what every outcome has in common.
	Execution() *ExecutionInfo
	outcome()
}

// ExecutionInfo is what every outcome has in common.
type ExecutionInfo struct {
	ExecutionID string `json:"execution_id"`
	ToolName    string `json:"tool_name"`
	Service     string `json:"service"`
	SessionID   string `json:"session_id"`
	DurationMs  int64  `json:"duration_ms"`
	// Coerced has the JSON Pointers of texts in the arguments that were taken as the number, boolean, list or
	// object that the tool asks for.
	Coerced   []string `json:"coerced,omitempty"`
	RequestID string   `json:"request_id"`
	// The parameters of the call, so that it can be repeated.
	params ExecuteToolParams
}

// Execution is what every outcome has in common.
func (e *ExecutionInfo) Execution() *ExecutionInfo { return e }
func (e *ExecutionInfo) outcome()                  {}

// Success is a tool that ran.
type Success struct {
	ExecutionInfo
	// Result is the tool's own JSON; see Decode.
	Result json.RawMessage `json:"result"`
	// Truncated says where the rest of a large result is; nil if Result is whole.
	Truncated  *Truncated   `json:"truncated,omitempty"`
	Files      []ResultFile `json:"files,omitempty"`
	Summary    string       `json:"summary,omitempty"`
	NextCursor string       `json:"next_cursor,omitempty"`
}

// Decode reads the result into a value of yours.
func (s *Success) Decode(into any) error {
	return json.Unmarshal(s.Result, into)
}

// ProviderError is a tool that ran and has no result: the provider refused, or a limit of the sandbox was met.
type ProviderError struct {
	ExecutionInfo
	Reason FailureReason `json:"reason"`
	Err    ToolError     `json:"error"`
}

// RetryAfter is how long the provider asks to wait; zero where it did not name a time.
func (p *ProviderError) RetryAfter() time.Duration {
	if p.Err.RetryAfterMs == nil {
		return 0
	}
	return time.Duration(*p.Err.RetryAfterMs) * time.Millisecond
}

// AuthRequired is a user who has to connect an account: show ConnectURL, or use Client.WaitForConnection.
type AuthRequired struct {
	ExecutionInfo
	// Expired: there was a connection, and it has to be renewed.
	Expired  bool   `json:"expired"`
	AuthType string `json:"auth_type"`
	Message  string `json:"message"`
	// ConnectURL is empty where the operator has not set the service up; Message then says so.
	ConnectURL string `json:"connect_url"`
}

// ApprovalRequired is a call that a person has to allow first: show ApprovalURL, or use Client.WaitForApproval.
type ApprovalRequired struct {
	ExecutionInfo
	Message     string           `json:"message"`
	ApprovalID  string           `json:"approval_id"`
	ApprovalURL string           `json:"approval_url"`
	ExpiresAt   time.Time        `json:"expires_at"`
	Requests    []PlannedRequest `json:"requests"`
}

// DryRun is a call of which nothing was sent; these are the requests that would have been.
type DryRun struct {
	ExecutionInfo
	Requests []PlannedRequest `json:"requests"`
}

var fieldsOf = map[string][]string{
	"success":           {"result"},
	"error":             {"reason", "error"},
	"auth_required":     {"auth_type", "message"},
	"auth_expired":      {"auth_type", "message"},
	"approval_required": {"message", "approval_id", "approval_url", "expires_at", "requests"},
	"dry_run":           {"requests"},
}

func readOutcome(received answer, params ExecuteToolParams) (Outcome, error) {
	var fields map[string]json.RawMessage
	var status string
	if json.Unmarshal(received.data, &fields) != nil || json.Unmarshal(fields["status"], &status) != nil {
		return nil, invalidResponse(received.requestID, "the outcome is not an object with a status")
	}
	wanted, known := fieldsOf[status]
	if !known {
		return nil, invalidResponse(received.requestID, "the outcome %q is unknown: update this package", status)
	}
	for _, field := range append([]string{"execution_id", "tool_name", "service", "session_id", "duration_ms"}, wanted...) {
		if _, there := fields[field]; !there {
			return nil, invalidResponse(received.requestID, "the outcome lacks %s", field)
		}
	}
	var outcome Outcome
	switch status {
	case "success":
		outcome = &Success{}
	case "error":
		outcome = &ProviderError{}
	case "approval_required":
		outcome = &ApprovalRequired{}
	case "dry_run":
		outcome = &DryRun{}
	default:
		outcome = &AuthRequired{Expired: status == "auth_expired"}
	}
	if err := json.Unmarshal(received.data, outcome); err != nil {
		return nil, invalidResponse(received.requestID, "the outcome cannot be read: %v", err)
	}
	info := outcome.Execution()
	info.RequestID, info.params = received.requestID, params
	return outcome, nil
}
