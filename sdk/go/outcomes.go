package toolgate

import (
	"encoding/json"
	"time"
)

// Outcome is what became of an execution: *Success, *ProviderError, *AuthRequired, *ApprovalRequired or *DryRun.
// Switch on its type.
type Outcome interface {
	// About is what every outcome has.
	About() *Ran
	outcome()
}

// Ran is what every outcome has.
type Ran struct {
	ExecutionID string `json:"execution_id"`
	ToolName    string `json:"tool_name"`
	Service     string `json:"service"`
	SessionID   string `json:"session_id"`
	DurationMs  int64  `json:"duration_ms"`
	RequestID   string `json:"request_id"`
	// The call as it was made, so that it can be made again.
	params ExecuteToolParams
}

// About is what every outcome has.
func (r *Ran) About() *Ran { return r }
func (r *Ran) outcome()    {}

// Success is a tool that ran.
type Success struct {
	Ran
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
	Ran
	Reason FailureReason `json:"reason"`
	Err    ToolError     `json:"error"`
}

// RetryAfter is how long the provider asks to wait; zero where it did not say.
func (p *ProviderError) RetryAfter() time.Duration {
	if p.Err.RetryAfterMs == nil {
		return 0
	}
	return time.Duration(*p.Err.RetryAfterMs) * time.Millisecond
}

// AuthRequired is a user who has to connect an account: show ConnectURL, or use Client.WaitForConnection.
type AuthRequired struct {
	Ran
	// Expired: there was a connection, and it has to be renewed.
	Expired  bool   `json:"expired"`
	AuthType string `json:"auth_type"`
	Message  string `json:"message"`
	// ConnectURL is empty where the operator has not set the service up; Message then says so.
	ConnectURL string `json:"connect_url"`
}

// ApprovalRequired is a call that a person has to allow first: show ApprovalURL, or use Client.WaitForApproval.
type ApprovalRequired struct {
	Ran
	Message     string           `json:"message"`
	ApprovalID  string           `json:"approval_id"`
	ApprovalURL string           `json:"approval_url"`
	ExpiresAt   time.Time        `json:"expires_at"`
	Requests    []PlannedRequest `json:"requests"`
}

// DryRun is a call of which nothing was sent; these are the requests that would have been.
type DryRun struct {
	Ran
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

func readOutcome(made answer, params ExecuteToolParams) (Outcome, error) {
	var fields map[string]json.RawMessage
	var status string
	if json.Unmarshal(made.data, &fields) != nil || json.Unmarshal(fields["status"], &status) != nil {
		return nil, invalidResponse(made.requestID, "the outcome is not an object with a status")
	}
	wanted, known := fieldsOf[status]
	if !known {
		return nil, invalidResponse(made.requestID, "the outcome %q is unknown: update this package", status)
	}
	for _, field := range append([]string{"execution_id", "tool_name", "service", "session_id", "duration_ms"}, wanted...) {
		if _, there := fields[field]; !there {
			return nil, invalidResponse(made.requestID, "the outcome lacks %s", field)
		}
	}
	var read Outcome
	switch status {
	case "success":
		read = &Success{}
	case "error":
		read = &ProviderError{}
	case "approval_required":
		read = &ApprovalRequired{}
	case "dry_run":
		read = &DryRun{}
	default:
		read = &AuthRequired{Expired: status == "auth_expired"}
	}
	if err := json.Unmarshal(made.data, read); err != nil {
		return nil, invalidResponse(made.requestID, "the outcome cannot be read: %v", err)
	}
	about := read.About()
	about.RequestID, about.params = made.requestID, params
	return read, nil
}
