package toolgate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	// The first and the longest pause between two polls, where the server cannot hold its answer back.
	pauseFirst = time.Second
	pauseMax   = 5 * time.Second
	// How long the server holds an answer back at most.
	pollMax = 25 * time.Second
)

// Options say how a client behaves. The zero value reads the key and the address from the environment.
type Options struct {
	// APIKey is TOOLGATE_API_KEY if empty.
	APIKey string
	// BaseURL is TOOLGATE_URL if empty, else http://127.0.0.1:8080.
	BaseURL string
	// Timeout bounds one try of one request; a minute if zero.
	Timeout time.Duration
	// MaxRetries is how often a request is repeated; 3 if nil.
	MaxRetries *int
	// MaxRetryWait is the longest wait before trying again; where the server asks for more, the error is
	// returned. A minute if zero.
	MaxRetryWait time.Duration
	// HTTPClient sends the requests; it is copied, and follows no redirect.
	HTTPClient *http.Client
	// Sleep waits; with a timer if nil.
	Sleep func(context.Context, time.Duration) error
}

// Client is a connection to one toolgate server with one API key. It is safe for use by many goroutines.
type Client struct {
	Tools       *Tools
	Skills      *Skills
	Toolsets    *Toolsets
	Permissions *Permissions
	Connections *Connections
	Knowledge   *Knowledge
	Sessions    *Sessions
	Webhooks    *Webhooks
	Triggers    *Triggers
	Scripts     *Scripts
	Executions  *Executions
	Approvals   *Approvals
	Results     *Results
	Files       *Files
	Events      *Events

	baseURL string
	// A function, so that printing a client with any verb prints no key.
	authorize    func(*http.Request)
	timeout      time.Duration
	maxRetries   int
	maxRetryWait time.Duration
	http         *http.Client
	sleep        func(context.Context, time.Duration) error
}

// New makes a client. It fails without a key, and with an address that is not an http or https address.
func New(options Options) (*Client, error) {
	key := options.APIKey
	if key == "" {
		key = os.Getenv("TOOLGATE_API_KEY")
	}
	if key == "" {
		return nil, errors.New("toolgate: no API key: set Options.APIKey or TOOLGATE_API_KEY")
	}
	if !visible.MatchString(key) {
		return nil, errors.New("toolgate: the API key has characters that no key has")
	}
	base := options.BaseURL
	if base == "" {
		base = os.Getenv("TOOLGATE_URL")
	}
	if base == "" {
		base = "http://127.0.0.1:8080"
	}
	parsed, err := url.Parse(base)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Hostname() == "" {
		return nil, errors.New("toolgate: BaseURL must be an http or https address")
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, errors.New("toolgate: BaseURL must have no user, query or fragment")
	}
	header := "Bearer " + key
	client := &Client{
		baseURL:      strings.TrimRight(base, "/"),
		authorize:    func(request *http.Request) { request.Header.Set("Authorization", header) },
		timeout:      options.Timeout,
		maxRetries:   3,
		maxRetryWait: options.MaxRetryWait,
		http:         &http.Client{},
		sleep:        options.Sleep,
	}
	if client.timeout == 0 {
		client.timeout = time.Minute
	}
	if options.MaxRetries != nil {
		client.maxRetries = *options.MaxRetries
	}
	if client.maxRetryWait == 0 {
		client.maxRetryWait = time.Minute
	}
	if options.HTTPClient != nil {
		copied := *options.HTTPClient
		client.http = &copied
	}
	client.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if client.sleep == nil {
		client.sleep = sleep
	}
	client.Tools = &Tools{client}
	client.Skills = &Skills{client}
	client.Toolsets = &Toolsets{client}
	client.Permissions = &Permissions{client}
	client.Connections = &Connections{client}
	client.Knowledge = &Knowledge{client}
	client.Sessions = &Sessions{client}
	client.Webhooks = &Webhooks{client}
	client.Triggers = &Triggers{client}
	client.Scripts = &Scripts{client}
	client.Executions = &Executions{client}
	client.Approvals = &Approvals{client}
	client.Results = &Results{client}
	client.Files = &Files{client}
	client.Events = &Events{client}
	return client, nil
}

// Ptr makes the pointers with which numbers are given where zero means something.
func Ptr[T any](value T) *T { return &value }

// Health is how the server is.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	return call[Health](ctx, c, "health_check", nil, nil)
}

// Status is the owner of the key, and its limits.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	return call[Status](ctx, c, "get_status", nil, nil)
}

// Wait says how to wait for a person.
type Wait struct {
	// Show gets the link; prints it if nil.
	Show func(url string)
	// Timeout is 15 minutes if zero, as long as a link is good for.
	Timeout time.Duration
}

func (w Wait) timeout() time.Duration {
	if w.Timeout == 0 {
		return 15 * time.Minute
	}
	return w.Timeout
}

func (w Wait) show(link string) {
	if w.Show == nil {
		fmt.Println(link)
		return
	}
	w.Show(link)
}

// WaitForApproval shows where to approve, waits for the decision, and makes the same call again. A call that was
// denied fails with KindPermissionDenied; with KindWaitTimeout when the time passes.
func (c *Client) WaitForApproval(ctx context.Context, required *ApprovalRequired, wait Wait) (Outcome, error) {
	wait.show(required.ApprovalURL)
	timeout := wait.timeout()
	ends := time.Now().Add(timeout)
	for left := timeout; left > 0; left = time.Until(ends) {
		startedAt := time.Now()
		approval, err := c.Approvals.Wait(ctx, required.ApprovalID, GetApprovalParams{Wait: Ptr(c.pollSeconds(left))})
		if err != nil && !errors.Is(err, &Error{Kind: KindPermissionDenied}) {
			return nil, err
		}
		if err != nil || approval.Status != ApprovalStatusPending {
			again, err := c.Tools.Execute(ctx, required.ToolName, required.params)
			if _, still := again.(*ApprovalRequired); !still || err != nil {
				return again, err
			}
		}
		if time.Since(startedAt) < pauseFirst {
			// The server did not wait: it is about to stop, or has another question.
			if err := c.sleep(ctx, pauseFirst); err != nil {
				return nil, err
			}
		}
	}
	return nil, waitTimeout("nobody decided in time")
}

// poll pauses and calls try, each pause longer than the one before, until try has an outcome.
func (c *Client) poll(ctx context.Context, wait Wait, late string, try func() (Outcome, error)) (Outcome, error) {
	timeout := wait.timeout()
	pause := pauseFirst
	for waited := time.Duration(0); waited < timeout; waited += pause {
		if waited > 0 {
			pause = min(pause*3/2, pauseMax)
		}
		pause = min(pause, timeout-waited)
		if err := c.sleep(ctx, pause); err != nil {
			return nil, err
		}
		if found, err := try(); found != nil || err != nil {
			return found, err
		}
	}
	return nil, waitTimeout(late)
}

func waitTimeout(late string) *Error {
	return &Error{Kind: KindWaitTimeout, Code: "wait_timeout", Message: late, CanRetry: true}
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
