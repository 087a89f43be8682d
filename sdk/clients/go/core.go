package toolgate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	userAgent      = "toolgate-go/" + Version
	answerBytesMax = 64 << 20
	backoffFirst   = 500 * time.Millisecond
	backoffMax     = 8 * time.Second
)

type route struct {
	method, path string
	// keyed: it takes an idempotency key.
	keyed bool
}

type request struct {
	method, url string
	headers     http.Header
	body        []byte
	// repeatable: it may be sent again although the first try may have been executed.
	repeatable bool
	// isText: a good answer is a text and no envelope.
	isText bool
}

type answer struct {
	data      json.RawMessage
	requestID string
	status    int
}

var (
	placeholder = regexp.MustCompile(`\{\w+\}`)
	visible     = regexp.MustCompile(`^[!-~]{1,512}$`)
)

// newRequest makes the request of an operation: path fills the placeholders in order, the tags of params say where the
// other values go.
func newRequest(base, operation string, path []string, params any) (*request, error) {
	found, known := routes[operation]
	if !known {
		return nil, fmt.Errorf("toolgate: there is no operation %s", operation)
	}
	result := &request{method: found.method, headers: http.Header{}, repeatable: found.method == http.MethodGet || found.keyed}
	result.isText = operation == "get_tool_types"
	at := 0
	for _, value := range path {
		// All three would change which path is meant.
		if value == "" || value == "." || value == ".." {
			return nil, fmt.Errorf("toolgate: a part of the path must not be %q", value)
		}
	}
	place := placeholder.ReplaceAllStringFunc(found.path, func(string) string {
		at++
		return url.PathEscape(path[at-1])
	})
	query, body := url.Values{}, map[string]any{}
	if params != nil {
		fields := reflect.ValueOf(params)
		for i := range fields.NumField() {
			value := fields.Field(i)
			if value.IsZero() {
				continue
			}
			where, name, _ := strings.Cut(fields.Type().Field(i).Tag.Get("in"), ",")
			if value.Kind() == reflect.Pointer {
				value = value.Elem()
			}
			switch where {
			case "query":
				query.Set(name, fmt.Sprint(value.Interface()))
			case "header":
				result.headers.Set(name, value.String())
			case "body":
				body[name] = value.Interface()
			}
		}
	}
	if found.method != http.MethodGet && found.method != http.MethodDelete {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("toolgate: the values of %s cannot be sent: %w", operation, err)
		}
		result.body = encoded
		result.headers.Set("Content-Type", "application/json")
	}
	if found.keyed && result.headers.Get("Idempotency-Key") == "" {
		// Made once and sent with every try, so that a call whose answer was lost is not executed twice.
		result.headers.Set("Idempotency-Key", rand.Text())
	}
	result.headers.Set("Accept", "application/json")
	result.headers.Set("User-Agent", userAgent)
	result.url = base + place
	if len(query) > 0 {
		result.url += "?" + query.Encode()
	}
	return result, nil
}

// send sends a request once and reads the whole answer within the client's timeout.
func (c *Client) send(ctx context.Context, request *request) (answer, error) {
	within, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	sent, err := http.NewRequestWithContext(within, request.method, request.url, bytes.NewReader(request.body))
	if err != nil {
		return answer{}, errors.New("toolgate: the request cannot be made")
	}
	sent.Header = request.headers.Clone()
	c.authorize(sent)
	// Only this package repeats requests: it knows what may be sent twice.
	sent.GetBody = nil
	response, err := c.http.Do(sent)
	if err != nil {
		return answer{}, c.broken(ctx, within, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax+1))
	if err != nil {
		return answer{}, c.broken(ctx, within, err)
	}
	if len(body) > answerBytesMax {
		return answer{}, invalidResponse("", "the answer is larger than %d bytes", answerBytesMax)
	}
	if request.isText && response.StatusCode/100 == 2 && strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		quoted, err := json.Marshal(string(body))
		return answer{data: quoted, requestID: response.Header.Get("X-Request-Id"), status: response.StatusCode}, err
	}
	return readAnswer(response.StatusCode, response.Header, body)
}

func (c *Client) broken(ctx, within context.Context, cause error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		return &Error{Kind: KindTimeout, Code: "timeout", Message: "no whole answer within " + c.timeout.String(), CanRetry: true}
	}
	var wrapped *url.Error
	if errors.As(cause, &wrapped) {
		cause = wrapped.Err
	}
	return &Error{Kind: KindConnectionFailed, Code: "connection_failed", Message: cause.Error(), CanRetry: true}
}

// readAnswer reads an answer, or returns the error in it.
func readAnswer(status int, headers http.Header, body []byte) (answer, error) {
	requestID := headers.Get("X-Request-Id")
	if status == http.StatusNotModified {
		return answer{requestID: requestID, status: status}, nil
	}
	if status >= 300 && status < 400 {
		to := "another path"
		if location, err := url.Parse(headers.Get("Location")); err == nil && location.Host != "" {
			to = location.Host
		}
		return answer{}, &Error{Kind: KindRedirectRefused, Code: "redirect_refused", Status: status, RequestID: requestID,
			Message: fmt.Sprintf("the server answers %d to %s", status, to)}
	}
	var envelope struct {
		Success *bool           `json:"success"`
		Data    json.RawMessage `json:"data"`
		Error   *struct {
			Code    string         `json:"code"`
			Message string         `json:"message"`
			Hint    string         `json:"hint"`
			Details map[string]any `json:"details"`
		} `json:"error"`
		Meta struct {
			RequestID string `json:"request_id"`
		} `json:"meta"`
	}
	wait := retryAfter(headers)
	err := json.Unmarshal(body, &envelope)
	isComplete := err == nil && envelope.Success != nil && envelope.Meta.RequestID != ""
	if isComplete && *envelope.Success && envelope.Data != nil && status >= 200 && status < 300 {
		return answer{data: envelope.Data, requestID: envelope.Meta.RequestID, status: status}, nil
	}
	if !isComplete || *envelope.Success || envelope.Error == nil || envelope.Error.Code == "" {
		// A proxy answered, or the server is not toolgate.
		invalid := invalidResponse(requestID, "the answer with status %d is not the API's JSON", status)
		invalid.Status, invalid.RetryAfter = status, wait
		invalid.CanRetry = status == 429 || status >= 502 && status <= 504
		return answer{}, invalid
	}
	return answer{}, &Error{
		Kind: kindOf(status), Code: envelope.Error.Code, Message: envelope.Error.Message, Status: status,
		RequestID: envelope.Meta.RequestID, RetryAfter: wait, Hint: envelope.Error.Hint, Details: envelope.Error.Details,
		CanRetry: status == 429 || status >= 500 || envelope.Error.Code == "in_progress",
	}
}

// retryAfter reads seconds. A date counts as absent: the server never sends one.
func retryAfter(headers http.Header) time.Duration {
	seconds, err := strconv.ParseUint(headers.Get("Retry-After"), 10, 30)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// waitBeforeRetry answers how long to wait before the next try, and whether there is one.
//
// A request that was refused with 429 or 503 was not executed and may always be repeated; any other one only if it is
// repeatable.
func (c *Client) waitBeforeRetry(request *request, err *Error, tries int) (time.Duration, bool) {
	if tries >= c.maxRetries || !err.CanRetry {
		return 0, false
	}
	refused := err.Kind != KindInvalidResponse && (err.Status == 429 || err.Status == 503)
	if !request.repeatable && !refused {
		return 0, false
	}
	wait := err.RetryAfter
	if wait == 0 {
		backoff := min(backoffMax, backoffFirst<<min(tries, 10))
		wait = backoff/2 + mathrand.N(backoff/2)
	}
	return wait, wait <= c.maxRetryWait
}

func (c *Client) answer(ctx context.Context, operation string, path []string, params any) (answer, error) {
	request, err := newRequest(c.baseURL, operation, path, params)
	if err != nil {
		return answer{}, err
	}
	for tries := 0; ; tries++ {
		got, err := c.send(ctx, request)
		var failed *Error
		if err == nil || !errors.As(err, &failed) {
			return got, err
		}
		wait, again := c.waitBeforeRetry(request, failed, tries)
		if !again {
			return answer{}, err
		}
		if err := c.sleep(ctx, wait); err != nil {
			return answer{}, err
		}
	}
}

func call[T any](ctx context.Context, c *Client, operation string, path []string, params any) (*T, error) {
	got, err := c.answer(ctx, operation, path, params)
	if err != nil {
		return nil, err
	}
	if got.status == http.StatusNotModified {
		return nil, nil
	}
	read := new(T)
	if err := json.Unmarshal(got.data, read); err != nil {
		return nil, invalidResponse(got.requestID, "the answer of %s cannot be read: %v", operation, err)
	}
	return read, nil
}
