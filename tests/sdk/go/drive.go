// Makes the calls that the test says, with the client as it was fetched.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	toolgate "github.com/toolgate/toolgate/sdk/clients/go"
)

type message struct {
	New *struct {
		URL            string `json:"url"`
		Key            string `json:"key"`
		TimeoutMs      int64  `json:"timeout_ms"`
		MaxRetries     *int   `json:"max_retries"`
		MaxRetryWaitMs int64  `json:"max_retry_wait_ms"`
	}
	Call string
	Args map[string]json.RawMessage
	Take int
}

var (
	input = bufio.NewReaderSize(os.Stdin, 1<<20)
	last  toolgate.Outcome
)

func say(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

func hear() (string, bool) {
	line, err := input.ReadString('\n')
	return line, err == nil
}

func sleep(_ context.Context, wait time.Duration) error {
	say(map[string]int64{"sleep_ms": wait.Milliseconds()})
	hear()
	return nil
}

func show(url string) {
	say(map[string]string{"shown": url})
	hear()
}

// text is an argument that stands in the path.
func (m message) text(name string) string {
	var value string
	if err := json.Unmarshal(m.Args[name], &value); err != nil {
		panic(err)
	}
	return value
}

// params fills a Params by the names that its tags give.
func params[T any](m message) T {
	var made T
	fields := reflect.ValueOf(&made).Elem()
	for i := range fields.NumField() {
		_, name, _ := strings.Cut(fields.Type().Field(i).Tag.Get("in"), ",")
		if raw, given := m.Args[strings.ToLower(strings.ReplaceAll(name, "-", "_"))]; given {
			if err := json.Unmarshal(raw, fields.Field(i).Addr().Interface()); err != nil {
				panic(err)
			}
		}
	}
	return made
}

func taken[T any](m message, all iter.Seq2[T, error]) (any, error) {
	items := []T{}
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		if items = append(items, item); len(items) == m.Take {
			break
		}
	}
	return items, nil
}

func made(ctx context.Context, c *toolgate.Client, m message) (any, error) {
	switch m.Call {
	case "health":
		return c.Health(ctx)
	case "status":
		return c.Status(ctx)
	case "tools.search":
		return c.Tools.Search(ctx, params[toolgate.SearchToolsParams](m))
	case "tools.list":
		return taken(m, c.Tools.List(ctx, params[toolgate.ListToolsParams](m)))
	case "tools.schema":
		return c.Tools.Schema(ctx, m.text("tool_name"), params[toolgate.GetToolSchemaParams](m))
	case "tools.execute":
		return c.Tools.Execute(ctx, m.text("tool_name"), params[toolgate.ExecuteToolParams](m))
	case "wait_for_connection":
		return c.WaitForConnection(ctx, last.(*toolgate.AuthRequired), m.confirm(), m.wait())
	case "connect":
		return c.Connect(ctx, params[toolgate.LinkConnectionParams](m), m.confirm(), m.wait())
	case "wait_for_approval":
		return c.WaitForApproval(ctx, last.(*toolgate.ApprovalRequired), m.wait())
	case "skills.list":
		return taken(m, c.Skills.List(ctx, params[toolgate.ListSkillsParams](m)))
	case "skills.get":
		return c.Skills.Get(ctx, m.text("skill_id"))
	case "skills.create":
		return c.Skills.Create(ctx, params[toolgate.CreateSkillParams](m))
	case "skills.update":
		return c.Skills.Update(ctx, m.text("skill_id"), params[toolgate.UpdateSkillParams](m))
	case "skills.delete":
		return c.Skills.Delete(ctx, m.text("skill_id"))
	case "skills.versions":
		return taken(m, c.Skills.Versions(ctx, m.text("skill_id"), params[toolgate.ListSkillVersionsParams](m)))
	case "skills.check":
		return c.Skills.Check(ctx, m.text("skill_id"), params[toolgate.CheckSkillParams](m))
	case "permissions.services":
		return c.Permissions.Services(ctx)
	case "permissions.get":
		return c.Permissions.Get(ctx, m.text("user_id"))
	case "permissions.set_tool":
		return c.Permissions.SetTool(ctx, m.text("user_id"), m.text("tool_name"), params[toolgate.ChangeToolPermissionParams](m))
	case "permissions.set_service":
		return c.Permissions.SetService(ctx, m.text("user_id"), m.text("service_name"), params[toolgate.ChangeServicePermissionParams](m))
	case "permissions.batch":
		return c.Permissions.Batch(ctx, m.text("user_id"), params[toolgate.ChangePermissionsParams](m))
	case "permissions.summary":
		return c.Permissions.Summary(ctx, m.text("user_id"))
	case "permissions.explain":
		return c.Permissions.Explain(ctx, m.text("user_id"), params[toolgate.ExplainPermissionParams](m))
	case "connections.link":
		return c.Connections.Link(ctx, params[toolgate.LinkConnectionParams](m))
	case "connections.confirm":
		return c.Connections.Confirm(ctx, params[toolgate.ConfirmConnectionParams](m))
	case "connections.list":
		return taken(m, c.Connections.List(ctx, params[toolgate.ListConnectionsParams](m)))
	case "connections.get":
		return c.Connections.Get(ctx, m.text("connection_id"), params[toolgate.GetConnectionParams](m))
	case "connections.delete":
		return c.Connections.Delete(ctx, m.text("connection_id"))
	case "sessions.create":
		return c.Sessions.Create(ctx, params[toolgate.CreateSessionParams](m))
	case "sessions.list":
		return taken(m, c.Sessions.List(ctx, params[toolgate.ListSessionsParams](m)))
	case "sessions.get":
		return c.Sessions.Get(ctx, m.text("session_id"))
	case "sessions.delete":
		return c.Sessions.Delete(ctx, m.text("session_id"))
	case "executions.list":
		return taken(m, c.Executions.List(ctx, params[toolgate.ListExecutionsParams](m)))
	case "executions.get":
		return c.Executions.Get(ctx, m.text("execution_id"))
	case "approvals.list":
		return taken(m, c.Approvals.List(ctx, params[toolgate.ListApprovalsParams](m)))
	case "approvals.get":
		return c.Approvals.Get(ctx, m.text("approval_id"))
	case "approvals.decide":
		return c.Approvals.Decide(ctx, m.text("approval_id"), params[toolgate.DecideApprovalParams](m))
	case "results.get":
		return c.Results.Get(ctx, m.text("result_id"), params[toolgate.GetResultParams](m))
	case "results.text":
		return c.Results.Text(ctx, m.text("result_id"))
	case "webhooks.create":
		return c.Webhooks.Create(ctx, params[toolgate.CreateWebhookParams](m))
	case "webhooks.list":
		return c.Webhooks.List(ctx)
	case "webhooks.get":
		return c.Webhooks.Get(ctx, m.text("webhook_id"))
	case "webhooks.update":
		return c.Webhooks.Update(ctx, m.text("webhook_id"), params[toolgate.UpdateWebhookParams](m))
	case "webhooks.delete":
		return c.Webhooks.Delete(ctx, m.text("webhook_id"))
	case "webhooks.rotate":
		return c.Webhooks.Rotate(ctx, m.text("webhook_id"), params[toolgate.RotateWebhookSecretParams](m))
	case "webhooks.test":
		return c.Webhooks.Test(ctx, m.text("webhook_id"))
	case "webhooks.deliveries":
		return taken(m, c.Webhooks.Deliveries(ctx, m.text("webhook_id"), params[toolgate.ListWebhookDeliveriesParams](m)))
	case "webhooks.resend":
		return c.Webhooks.Resend(ctx, m.text("webhook_id"), m.text("delivery_id"))
	case "knowledge.add":
		return c.Knowledge.Add(ctx, params[toolgate.AddDocumentParams](m))
	case "knowledge.list":
		return taken(m, c.Knowledge.List(ctx, params[toolgate.ListDocumentsParams](m)))
	case "knowledge.get":
		return c.Knowledge.Get(ctx, m.text("document_id"))
	case "knowledge.delete":
		return c.Knowledge.Delete(ctx, m.text("document_id"))
	case "knowledge.search":
		return c.Knowledge.Search(ctx, params[toolgate.SearchKnowledgeParams](m))
	case "sessions.send":
		return c.Sessions.Send(ctx, m.text("session_id"), params[toolgate.SendMessageParams](m))
	case "sessions.messages":
		return taken(m, c.Sessions.Messages(ctx, m.text("session_id"), params[toolgate.ListMessagesParams](m)))
	case "sessions.resume":
		return c.Sessions.Resume(ctx, m.text("session_id"), params[toolgate.ResumeSessionParams](m))
	case "webhooks.verify":
		return verify(m)
	case "toolset":
		return toolset(ctx, c, m)
	}
	panic("no such call: " + m.Call)
}

func (m message) confirm() toolgate.Confirm {
	if _, given := m.Args["confirm_url"]; given {
		return toolgate.ConfirmAt(m.text("confirm_url"))
	}
	return toolgate.PageAsks
}

func (m message) wait() toolgate.Wait {
	wait := toolgate.Wait{Show: show}
	if raw, given := m.Args["timeout_ms"]; given {
		var ms int64
		if err := json.Unmarshal(raw, &ms); err != nil {
			panic(err)
		}
		wait.Timeout = time.Duration(ms) * time.Millisecond
	}
	return wait
}

func toolset(ctx context.Context, c *toolgate.Client, m message) (any, error) {
	outcomes := []any{}
	options := toolgate.ToolsetOptions{OnOutcome: func(call toolgate.ModelCall, outcome toolgate.Outcome) {
		told := plain(outcome).(map[string]any)
		told["id"] = call.ID
		outcomes = append(outcomes, told)
	}}
	if raw, given := m.Args["tools"]; given {
		if err := json.Unmarshal(raw, &options.Tools); err != nil {
			panic(err)
		}
	}
	if _, given := m.Args["user_id"]; given {
		options.UserID = m.text("user_id")
	}
	if _, given := m.Args["confirm_url"]; given {
		options.ConfirmURL = m.text("confirm_url")
	}
	set, err := c.Toolset(ctx, toolgate.Format(m.text("format")), options)
	if err != nil {
		return nil, err
	}
	results, err := set.Run(ctx, m.Args["answer"])
	return map[string]any{"definitions": set.Definitions(), "results": results, "outcomes": outcomes}, err
}

func verify(m message) (any, error) {
	var now int64
	var given map[string]string
	if err := errors.Join(json.Unmarshal(m.Args["now"], &now), json.Unmarshal(m.Args["headers"], &given)); err != nil {
		panic(err)
	}
	headers := http.Header{}
	for name, value := range given {
		headers.Set(name, value)
	}
	return toolgate.VerifyWebhook([]byte(m.text("payload")), headers, m.text("secret"), time.Unix(now, 0))
}

// plain is a value as JSON, with the outcome's type by name.
func plain(value any) any {
	outcome, ok := value.(toolgate.Outcome)
	if !ok {
		return value
	}
	last = outcome
	text, err := json.Marshal(outcome)
	if err != nil {
		panic(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		panic(err)
	}
	switch ran := outcome.(type) {
	case *toolgate.Success:
		fields["outcome"] = "success"
	case *toolgate.ProviderError:
		fields["outcome"], fields["can_retry"] = "provider_error", ran.Err.CanRetry
	case *toolgate.AuthRequired:
		fields["outcome"] = "auth_required"
	case *toolgate.ApprovalRequired:
		fields["outcome"] = "approval_required"
	case *toolgate.DryRun:
		fields["outcome"] = "dry_run"
	}
	return fields
}

func failed(err error) any {
	var known *toolgate.Error
	if !errors.As(err, &known) {
		panic(err)
	}
	fields := map[string]any{
		"type": known.Kind, "code": known.Code, "message": known.Message, "can_retry": known.CanRetry,
		"details": known.Details, "hint": known.Hint,
		// Looked through for keys.
		"text": []string{err.Error(), fmt.Sprintf("%#v", known)},
	}
	if known.Status != 0 {
		fields["status"] = known.Status
	}
	if known.RequestID != "" {
		fields["request_id"] = known.RequestID
	}
	if known.RetryAfter != 0 {
		fields["retry_after_s"] = known.RetryAfter.Seconds()
	}
	return map[string]any{"failed": fields}
}

func main() {
	var client *toolgate.Client
	for line, more := hear(); more; line, more = hear() {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			panic(err)
		}
		if m.New != nil {
			made, err := toolgate.New(toolgate.Options{
				APIKey: m.New.Key, BaseURL: m.New.URL, MaxRetries: m.New.MaxRetries, Sleep: sleep,
				Timeout:      time.Duration(m.New.TimeoutMs) * time.Millisecond,
				MaxRetryWait: time.Duration(m.New.MaxRetryWaitMs) * time.Millisecond,
			})
			if err != nil {
				panic(err)
			}
			client = made
			fmt.Fprintf(os.Stderr, "%+v %#v\n", client, client)
			continue
		}
		value, err := made(context.Background(), client, m)
		if err != nil {
			say(failed(err))
			continue
		}
		say(map[string]any{"done": plain(value)})
	}
}
