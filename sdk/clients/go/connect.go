package toolgate

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"time"
)

// Confirm says who makes sure that the person at a connect link is the user: ConfirmAt or PageAsks. It decides whose
// account a link can connect, so that its zero value is refused.
type Confirm struct {
	url     string
	isAsked bool
}

// PageAsks leaves it to the gateway's page, which asks "Are you X?" and trusts the answer: for programs that run on the
// user's own machine.
var PageAsks = Confirm{isAsked: true}

// ConfirmAt binds a link to the user who is signed in to a page of your application: the browser ends there with
// connect_code, and the connection is made once you have called Client.Connections.Confirm for that user. Whoever gets
// the link from somebody else connects nothing.
func ConfirmAt(url string) Confirm { return Confirm{url: url} }

func (f Confirm) chosen() error {
	if f.url == "" && !f.isAsked {
		return errors.New("toolgate: say who confirms the user: ConfirmAt(a page of your application) or PageAsks")
	}
	return nil
}

// Connect shows a connect link, waits until the user has connected the service, and answers the connection. With
// params.ConnectionID that connection is renewed. It fails with KindWaitTimeout when the time passes.
func (c *Client) Connect(ctx context.Context, params LinkConnectionParams, confirm Confirm, wait Wait) (*ConnectionInfo, error) {
	if err := confirm.chosen(); err != nil {
		return nil, err
	}
	poll := GetConnectionParams{}
	var before time.Time
	if params.ConnectionID != "" {
		known, err := c.Connections.Get(ctx, params.ConnectionID, GetConnectionParams{})
		if err != nil {
			return nil, err
		}
		before = known.StateSince
		poll.ActiveAfter = timeOf(before)
	}
	params.ConfirmURL = confirm.url
	link, err := c.Connections.Link(ctx, params)
	if err != nil {
		return nil, err
	}
	wait.show(link.ConnectURL)
	timeout := wait.timeout()
	ends := time.Now().Add(timeout)
	for left := timeout; left > 0; left = time.Until(ends) {
		startedAt := time.Now()
		poll.Wait = Ptr(c.pollSeconds(left))
		found, err := c.Connections.Get(ctx, link.ConnectionID, poll)
		if err == nil && found.State == HealthStateActive && !found.StateSince.Equal(before) {
			return found, nil
		}
		// Until somebody has connected there is none.
		if err != nil && !errors.Is(err, &Error{Kind: KindNotFound}) {
			return nil, err
		}
		if time.Since(startedAt) < pauseFirst {
			// The server did not wait: it is about to stop.
			if err := c.sleep(ctx, pauseFirst); err != nil {
				return nil, err
			}
		}
	}
	return nil, waitTimeout(params.Service + " was not connected in time")
}

// WaitForConnection shows a connect link, waits until the user has connected, and makes the same call again.
// It fails with KindWaitTimeout when the time passes.
func (c *Client) WaitForConnection(ctx context.Context, required *AuthRequired, confirm Confirm, wait Wait) (Outcome, error) {
	if err := confirm.chosen(); err != nil {
		return nil, err
	}
	if required.ConnectURL == "" {
		return nil, &Error{Kind: KindNotConfigured, Code: "service_not_configured", Message: required.Message, RequestID: required.RequestID}
	}
	before, allowed, err := c.active(ctx, required, nil, nil)
	if err != nil {
		return nil, err
	}
	link := required.ConnectURL
	if confirm.url != "" {
		if link, err = c.boundLink(ctx, required, confirm.url); err != nil {
			return nil, err
		}
	}
	wait.show(link)
	late := required.Service + " was not connected in time"
	again := func() (Outcome, error) {
		outcome, err := c.Tools.Execute(ctx, required.ToolName, required.params)
		if _, still := outcome.(*AuthRequired); still || err != nil {
			return nil, err
		}
		return outcome, nil
	}
	if !allowed {
		// A key that may not list connections finds out by making the call.
		return c.poll(ctx, wait, late, again)
	}
	timeout := wait.timeout()
	ends := time.Now().Add(timeout)
	for left := timeout; left > 0; left = time.Until(ends) {
		startedAt := time.Now()
		seconds := c.pollSeconds(left)
		now, allowed, err := c.active(ctx, required, &seconds, before)
		if err != nil {
			return nil, err
		}
		if allowed && !reflect.DeepEqual(now, before) {
			before = now
			if outcome, err := again(); outcome != nil || err != nil {
				return outcome, err
			}
		} else if time.Since(startedAt) < pauseFirst {
			// The server did not wait: it is about to stop.
			if err := c.sleep(ctx, pauseFirst); err != nil {
				return nil, err
			}
		}
	}
	return nil, waitTimeout(late)
}

// boundLink is a link for the connection that the call lacks; at its end the application confirms its user.
func (c *Client) boundLink(ctx context.Context, required *AuthRequired, confirmURL string) (string, error) {
	params := LinkConnectionParams{
		Service: required.Service, UserID: required.params.UserID, ConnectionID: required.params.ConnectionID, ConfirmURL: confirmURL,
	}
	described, err := c.Tools.Schema(ctx, required.ToolName, GetToolSchemaParams{UserID: params.UserID})
	if err != nil {
		return "", err
	}
	if described != nil {
		params.Scopes = described.Auth.Scopes
	}
	if params.UserID == "" {
		status, err := c.Status(ctx)
		if err != nil {
			return "", err
		}
		params.UserID = status.Key.UserID
	}
	if params.ConnectionID == "" {
		list, err := c.Connections.ListPage(ctx, ListConnectionsParams{UserID: params.UserID, Service: required.Service})
		if err != nil {
			return "", err
		}
		var known []string
		for _, one := range list.Connections {
			if one.State != HealthStateRevoked {
				known = append(known, one.ConnectionID)
			}
		}
		if len(known) == 1 {
			params.ConnectionID = known[0]
		}
	}
	link, err := c.Connections.Link(ctx, params)
	if err != nil {
		return "", err
	}
	return link.ConnectURL, nil
}

// pollSeconds is how long the server may hold one answer back, in whole seconds.
func (c *Client) pollSeconds(left time.Duration) int {
	return max(1, int(math.Ceil(min(left, pollMax, c.timeout/2).Seconds())))
}

func timeOf(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

type activeConnection struct {
	id     string
	since  time.Time
	scopes string
}

// active is the user's active connections of the service, and whether the key may see them. With wait the server
// answers once there is one that after does not have, or when the seconds have passed.
func (c *Client) active(ctx context.Context, required *AuthRequired, wait *int, after []activeConnection) ([]activeConnection, bool, error) {
	denied := &Error{Kind: KindPermissionDenied}
	user := required.params.UserID
	if user == "" {
		status, err := c.Status(ctx)
		if err != nil {
			return nil, false, err
		}
		user = status.Key.UserID
	}
	params := ListConnectionsParams{UserID: user, Service: required.Service, Wait: wait}
	var known time.Time
	for _, one := range after {
		if one.since.After(known) {
			known = one.since
			params.ActiveAfter = timeOf(known)
		}
	}
	list, err := c.Connections.ListPage(ctx, params)
	if errors.Is(err, denied) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var found []activeConnection
	for _, one := range list.Connections {
		if one.State == HealthStateActive {
			found = append(found, activeConnection{one.ConnectionID, one.StateSince, strings.Join(one.Scopes, " ")})
		}
	}
	return found, true, nil
}
