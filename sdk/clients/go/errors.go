package toolgate

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Kind says what a program can do about an error.
type Kind string

const (
	// KindInvalidRequest is 400, 405, 413 or 415: the request has to change. Details names what is wrong.
	KindInvalidRequest Kind = "InvalidRequest"
	// KindAuthentication is 401: no key, or one that is unknown, expired or revoked.
	KindAuthentication Kind = "AuthenticationError"
	// KindPermissionDenied is 403: the key or the user may not do this.
	KindPermissionDenied Kind = "PermissionDenied"
	// KindNotFound is 404: no such tool, Skill, session, or whatever was named.
	KindNotFound Kind = "NotFound"
	// KindConflict is 409: a stale version, or an idempotency key that is in use.
	KindConflict Kind = "Conflict"
	// KindRateLimited is 429: too many requests; RetryAfter says when there is room again.
	KindRateLimited Kind = "RateLimited"
	// KindServer is 500 or 503: the server failed, or is starting, stopping or busy.
	KindServer Kind = "ServerError"
	// KindAPI is any other refusal.
	KindAPI Kind = "APIError"
	// KindConnectionFailed means that no answer came: the server is down, or the connection broke.
	KindConnectionFailed Kind = "ConnectionFailed"
	// KindTimeout means that no whole answer came within Options.Timeout.
	KindTimeout Kind = "Timeout"
	// KindInvalidResponse is not what the API answers: broken JSON, a proxy's page, too large.
	KindInvalidResponse Kind = "InvalidResponse"
	// KindRedirectRefused is an answer with a redirect. The client does not follow it: the key is for one
	// origin only.
	KindRedirectRefused Kind = "RedirectRefused"
	// KindWaitTimeout is a user who did not connect, or nobody who decided, in the time that was given.
	KindWaitTimeout Kind = "WaitTimeout"
	// KindWebhookVerification is a delivery that is not the server's, was changed, or is too old: answer
	// it with 400.
	KindWebhookVerification Kind = "WebhookVerificationError"
	// KindNotConfigured is a service that the operator has not set up, so that nobody can connect it.
	KindNotConfigured Kind = "NotConfigured"
)

// Error is every failure of a call. None holds the API key.
type Error struct {
	Kind Kind
	// Code is stable; of the API's document, or of this package.
	Code    string
	Message string
	// Status is the HTTP status, zero where there was no answer.
	Status int
	// RequestID finds the request in the server's log; empty where there was no answer.
	RequestID string
	// CanRetry says whether the same call may succeed later.
	CanRetry bool
	// RetryAfter is how long the server asks to wait; zero where it did not name a time.
	RetryAfter time.Duration
	// Hint is the next step, where there is one.
	Hint    string
	Details map[string]any
}

// violationsMax is how many violations a message lists; Details has all of them.
const violationsMax = 5

// violations is what is wrong with the arguments, by JSON Pointer.
func violations(details map[string]any) string {
	found, _ := details["violations"].([]any)
	var texts []string
	for _, one := range found {
		if fields, ok := one.(map[string]any); ok {
			path, _ := fields["path"].(string)
			if path == "" {
				path = "/"
			}
			texts = append(texts, fmt.Sprintf("%s: %v", path, fields["message"]))
		}
	}
	if more := len(texts) - violationsMax; more > 0 {
		texts = append(texts[:violationsMax], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

func (e *Error) Error() string {
	text := e.Code + ": " + e.Message
	if wrong := violations(e.Details); wrong != "" {
		text += " (" + wrong + ")"
	}
	if e.Hint != "" {
		text += " " + e.Hint
	}
	if e.RequestID != "" {
		text += " (" + e.RequestID + ")"
	}
	return text
}

// Is makes errors.Is(err, &Error{Kind: KindNotFound}) hold for every error of that kind, and likewise for a Code.
func (e *Error) Is(target error) bool {
	wanted, ok := target.(*Error)
	return ok && (wanted.Kind == "" || wanted.Kind == e.Kind) && (wanted.Code == "" || wanted.Code == e.Code)
}

func invalidResponse(requestID, format string, values ...any) *Error {
	return &Error{Kind: KindInvalidResponse, Code: "invalid_response", Message: fmt.Sprintf(format, values...), RequestID: requestID}
}

func kindOf(status int) Kind {
	switch status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return KindInvalidRequest
	case http.StatusUnauthorized:
		return KindAuthentication
	case http.StatusForbidden:
		return KindPermissionDenied
	case http.StatusNotFound:
		return KindNotFound
	case http.StatusConflict:
		return KindConflict
	case http.StatusTooManyRequests:
		return KindRateLimited
	}
	if status >= 500 {
		return KindServer
	}
	return KindAPI
}
