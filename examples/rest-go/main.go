// Finds the tool for a task and executes it, over toolgate's REST API.
//
// Usage: go run . TASK ARGUMENTS, where ARGUMENTS is a JSON object for the tool.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"time"
)

// responseMax bounds what is read of one answer, in bytes.
const responseMax = 16 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 || !json.Valid([]byte(args[1])) {
		return fmt.Errorf("usage: go run . TASK ARGUMENTS, where ARGUMENTS is a JSON object")
	}
	gateway := client{
		base: os.Getenv("TOOLGATE_URL"),
		key:  os.Getenv("TOOLGATE_API_KEY"),
		http: &http.Client{Timeout: 2 * time.Minute},
	}
	if gateway.base == "" || gateway.key == "" {
		return fmt.Errorf("TOOLGATE_URL and TOOLGATE_API_KEY have to be set")
	}

	tool, err := gateway.search(ctx, args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", tool.Name, tool.Description)
	outcome, err := gateway.execute(ctx, tool.Name, json.RawMessage(args[1]))
	if err != nil {
		return err
	}
	switch outcome.Status {
	case "success":
		fmt.Println(string(outcome.Result))
		return nil
	case "auth_required", "auth_expired":
		return fmt.Errorf("%s: %s %s", outcome.Status, outcome.Message, outcome.ConnectURL)
	case "approval_required":
		return fmt.Errorf("%s: %s %s", outcome.Status, outcome.Message, outcome.ApprovalURL)
	default:
		return fmt.Errorf("%s: %s: %s", outcome.Status, outcome.Reason, outcome.Error.Message)
	}
}

type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// outcome is what became of an execution. Which members it has depends on Status.
type outcome struct {
	Status      string          `json:"status"`
	Result      json.RawMessage `json:"result"`
	Message     string          `json:"message"`
	ConnectURL  string          `json:"connect_url"`
	ApprovalURL string          `json:"approval_url"`
	Reason      string          `json:"reason"`
	Error       struct {
		Message string `json:"message"`
	} `json:"error"`
}

type client struct {
	base, key string
	http      *http.Client
}

// search returns the tool that fits the task best.
func (c client) search(ctx context.Context, task string) (tool, error) {
	var found struct {
		Tools []tool `json:"tools"`
	}
	query := url.Values{"query": {task}, "limit": {"1"}}
	if err := c.do(ctx, http.MethodGet, "/v1/tools/search?"+query.Encode(), nil, &found); err != nil {
		return tool{}, err
	}
	if len(found.Tools) == 0 {
		return tool{}, fmt.Errorf("no tool fits %q", task)
	}
	return found.Tools[0], nil
}

func (c client) execute(ctx context.Context, name string, arguments json.RawMessage) (outcome, error) {
	var result outcome
	body := map[string]any{"arguments": arguments}
	err := c.do(ctx, http.MethodPost, "/v1/tools/"+url.PathEscape(name)+"/execute", body, &result)
	return result, err
}

// do sends one request and reads `data` of the answer into data.
func (c client) do(ctx context.Context, method, path string, body, data any) error {
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()

	var envelope struct {
		Success bool            `json:"success"`
		Data    json.RawMessage `json:"data"`
		Error   struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, responseMax)).Decode(&envelope); err != nil {
		return fmt.Errorf("%s %s answered %s: %w", method, path, response.Status, err)
	}
	if !envelope.Success {
		return fmt.Errorf("%s: %s", envelope.Error.Code, envelope.Error.Message)
	}
	return json.Unmarshal(envelope.Data, data)
}
