package toolgate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Format is how a model's provider writes tools, calls of them, and their results. Empty, it is FormatOpenAI.
type Format string

const (
	// FormatOpenAI is that of chat completions.
	FormatOpenAI Format = "openai"
	// FormatOpenAIResponses is that of responses.
	FormatOpenAIResponses Format = "openai_responses"
	// FormatAnthropic is that of messages.
	FormatAnthropic Format = "anthropic"
	// FormatGemini is that of Gemini's contents.
	FormatGemini Format = "gemini"
)

// formats are the known ones, in the order in which an error names them.
var formats = []Format{FormatOpenAI, FormatOpenAIResponses, FormatAnthropic, FormatGemini}

func (f Format) dialect() (Dialect, error) {
	switch f {
	case FormatOpenAI, FormatOpenAIResponses:
		return DialectOpenAI, nil
	case FormatAnthropic:
		return DialectAnthropic, nil
	case FormatGemini:
		return DialectGemini, nil
	}
	return "", fmt.Errorf("toolgate: unknown format %q: use one of %q", string(f), formats)
}

// ToolsetOptions say which tools a toolset has, and for which user they run.
type ToolsetOptions struct {
	// Tools are the chosen ones, by name, none of them if empty; the three generic operations if nil.
	Tools             []string
	UserID, SessionID string
	// OnOutcome is called with each call that ran and its complete outcome: of a file a model gets name, type and
	// size, and only here is its content.
	OnOutcome func(ModelCall, Outcome)
	// ConfirmURL binds the connect links that the model passes to the user; see ConfirmAt.
	ConfirmURL string
}

// Toolset is the three generic operations, or chosen tools, in a provider's format; made by Client.Toolset.
type Toolset struct {
	client  *Client
	format  Format
	options ToolsetOptions
	tools   []modelTool
}

type modelTool struct {
	// name is the name that the model uses; toolName is the tool's own, empty for a generic operation.
	name, toolName, description string
	lowered                     *Lowered
}

// ModelCall is a call that a model made. ID is the provider's, empty where it has none.
type ModelCall struct {
	ID, Name  string
	Arguments map[string]any
	malformed bool
}

var generic = []struct{ name, description, schema string }{
	{"search_tools", "Finds tools of third-party services by keywords or by a sentence that says what is to be done. Begin here.",
		`{"type":"object","properties":{"query":{"type":"string","description":"Keywords or natural language."},` +
			`"service":{"type":"string","description":"Only tools of this service, in lower case."},` +
			`"limit":{"type":"integer","description":"How many tools to answer.","minimum":1,"maximum":100}},"required":["query"]}`},
	{"get_tool_schema", "Describes one tool: what it does and the JSON Schema of its arguments.",
		`{"type":"object","properties":{"tool_name":{"type":"string","description":"Exact name, as search_tools says it."}},"required":["tool_name"]}`},
	{"execute_tool", "Runs one tool for the user and answers its result, or what the user has to do first.",
		`{"type":"object","properties":{"tool_name":{"type":"string","description":"Exact name, as search_tools says it."},` +
			`"arguments":{"type":"string","description":"The tool's arguments, one JSON object as text; '{}' for none."}},"required":["tool_name","arguments"]}`},
}

// Toolset makes tools for a model, in its provider's format: the chosen ones, or the three generic operations. An
// unknown format is an error, and nothing is sent.
func (c *Client) Toolset(ctx context.Context, format Format, options ToolsetOptions) (*Toolset, error) {
	if format == "" {
		format = FormatOpenAI
	}
	dialect, err := format.dialect()
	if err != nil {
		return nil, err
	}
	set := &Toolset{client: c, format: format, options: options}
	for _, toolName := range options.Tools {
		described, err := c.Tools.Schema(ctx, toolName, GetToolSchemaParams{UserID: options.UserID})
		if err != nil {
			return nil, err
		}
		lowered := Lower(described.InputSchema, dialect)
		set.tools = append(set.tools, modelTool{ModelName(toolName), toolName, described.Description, lowered})
	}
	if options.Tools == nil {
		for _, one := range generic {
			var schema Schema
			if err := json.Unmarshal([]byte(one.schema), &schema); err != nil {
				return nil, err
			}
			set.tools = append(set.tools, modelTool{one.name, "", one.description, Lower(schema, dialect)})
		}
	}
	return set, nil
}

// Definitions is the value of `tools` in the provider's request.
func (t *Toolset) Definitions() []map[string]any {
	definitions := []map[string]any{}
	for _, tool := range t.tools {
		definitions = append(definitions, definition(t.format, tool.name, tool.description, tool.lowered.Schema))
	}
	if t.format == FormatGemini && len(definitions) > 0 {
		return []map[string]any{{"functionDeclarations": definitions}}
	}
	return definitions
}

func definition(format Format, name, description string, schema Schema) map[string]any {
	function := map[string]any{"name": name, "description": description}
	switch format {
	case FormatAnthropic:
		function["input_schema"] = schema
		return function
	case FormatGemini:
		// Gemini takes no object without properties.
		if properties, _ := schema["properties"].(Schema); len(properties) > 0 {
			function["parameters"] = schema
		}
		return function
	}
	function["parameters"] = schema
	if format == FormatOpenAIResponses {
		function["type"], function["strict"] = "function", false
		return function
	}
	return map[string]any{"type": "function", "function": function}
}

// Calls reads the calls in a model's answer, given as JSON: OpenAI's message or its tool_calls, the output of a
// response, Anthropic's message or its content, Gemini's content or its parts.
func (t *Toolset) Calls(answer []byte) ([]ModelCall, error) {
	inner := map[Format]string{FormatOpenAI: "tool_calls", FormatOpenAIResponses: "output", FormatAnthropic: "content", FormatGemini: "parts"}[t.format]
	var items []json.RawMessage
	if err := json.Unmarshal(answer, &items); err != nil {
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(answer, &whole); err != nil {
			return nil, err
		}
		if raw, there := whole[inner]; there {
			// Text in place of a list has no calls in it.
			_ = json.Unmarshal(raw, &items)
		}
	}
	type functionCall struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Args      json.RawMessage `json:"args"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var calls []ModelCall
	for _, raw := range items {
		var item struct {
			Type      string          `json:"type"`
			ID        string          `json:"id"`
			CallID    string          `json:"call_id"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Input     json.RawMessage `json:"input"`
			Function  functionCall    `json:"function"`
			Gemini    *functionCall   `json:"functionCall"`
		}
		if err := json.Unmarshal(raw, &item); err != nil {
			return nil, err
		}
		switch {
		case t.format == FormatOpenAI:
			calls = append(calls, modelCall(item.ID, item.Function.Name, item.Function.Arguments))
		case t.format == FormatOpenAIResponses && item.Type == "function_call":
			calls = append(calls, modelCall(item.CallID, item.Name, item.Arguments))
		case t.format == FormatAnthropic && item.Type == "tool_use":
			calls = append(calls, modelCall(item.ID, item.Name, item.Input))
		case t.format == FormatGemini && item.Gemini != nil:
			calls = append(calls, modelCall(item.Gemini.ID, item.Gemini.Name, item.Gemini.Args))
		}
	}
	return calls, nil
}

func modelCall(id, name string, arguments json.RawMessage) ModelCall {
	call := ModelCall{ID: id, Name: name, Arguments: map[string]any{}}
	var text string
	if json.Unmarshal(arguments, &text) == nil {
		arguments = json.RawMessage(text)
	}
	if len(arguments) > 0 {
		call.malformed = json.Unmarshal(arguments, &call.Arguments) != nil
	}
	return call
}

// Run makes every call in a model's answer, given as JSON, and answers the results of the calls for the provider's next
// request, in their order. A failed call has a result for the model; an error is an answer that cannot be read.
func (t *Toolset) Run(ctx context.Context, answer []byte) ([]map[string]any, error) {
	calls, err := t.Calls(answer)
	if err != nil {
		return nil, err
	}
	results := []map[string]any{}
	for _, call := range calls {
		content, failed, err := t.Call(ctx, call)
		if err != nil {
			return nil, err
		}
		results = append(results, t.result(call, content, failed))
	}
	return results, nil
}

func (t *Toolset) result(call ModelCall, content map[string]any, failed bool) map[string]any {
	text := compact(content)
	switch t.format {
	case FormatOpenAIResponses:
		return map[string]any{"type": "function_call_output", "call_id": call.ID, "output": text}
	case FormatAnthropic:
		block := map[string]any{"type": "tool_result", "tool_use_id": call.ID, "content": text}
		if failed {
			block["is_error"] = true
		}
		return block
	case FormatGemini:
		response := map[string]any{"name": call.Name, "response": content}
		if call.ID != "" {
			response["id"] = call.ID
		}
		return map[string]any{"functionResponse": response}
	}
	return map[string]any{"role": "tool", "tool_call_id": call.ID, "content": text}
}

// Call makes one call and answers the content of its result for the model, and whether it failed.
func (t *Toolset) Call(ctx context.Context, call ModelCall) (content map[string]any, failed bool, err error) {
	if call.malformed {
		return unusable("invalid_json", "the arguments are not one JSON object")
	}
	content, failed, err = t.call(ctx, call)
	var refused *Error
	if errors.As(err, &refused) {
		content = map[string]any{"status": "error", "code": refused.Code, "message": refused.Message, "can_retry": refused.CanRetry}
		if refused.Hint != "" {
			content["hint"] = refused.Hint
		}
		if len(refused.Details) > 0 {
			content["details"] = refused.Details
		}
		return content, true, nil
	}
	return content, failed, err
}

func (t *Toolset) call(ctx context.Context, call ModelCall) (map[string]any, bool, error) {
	// Tools were chosen, possibly none: then no other tool is run.
	if t.options.Tools != nil {
		for _, tool := range t.tools {
			if tool.name == call.Name {
				return t.execute(ctx, call, tool.toolName, tool.lowered.Restore(call.Arguments))
			}
		}
		return unusable("tool_not_found", "there is no tool "+call.Name)
	}
	text := func(name string) string {
		value, _ := call.Arguments[name].(string)
		return value
	}
	if call.Name == "search_tools" {
		limit, _ := call.Arguments["limit"].(float64)
		params := SearchToolsParams{Query: text("query"), Service: text("service"), Limit: int(limit), UserID: t.options.UserID}
		found, err := t.client.Tools.Search(ctx, params)
		return fieldsOfValue(found), false, err
	}
	toolName := text("tool_name")
	if strings.Trim(toolName, ".") == "" {
		return unusable("invalid_arguments", "tool_name must name a tool")
	}
	switch call.Name {
	case "get_tool_schema":
		described, err := t.client.Tools.Schema(ctx, toolName, GetToolSchemaParams{UserID: t.options.UserID})
		return fieldsOfValue(described), false, err
	case "execute_tool":
		return t.execute(ctx, call, toolName, call.Arguments["arguments"])
	}
	return unusable("tool_not_found", "there is no tool "+call.Name)
}

func (t *Toolset) execute(ctx context.Context, call ModelCall, toolName string, arguments any) (map[string]any, bool, error) {
	outcome, err := t.client.Tools.Execute(ctx, toolName, ExecuteToolParams{
		Arguments: arguments, UserID: t.options.UserID, SessionID: t.options.SessionID,
	})
	if err != nil {
		return nil, false, err
	}
	if required, ok := outcome.(*AuthRequired); ok && t.options.ConfirmURL != "" && required.ConnectURL != "" {
		if required.ConnectURL, err = t.client.boundLink(ctx, required, t.options.ConfirmURL); err != nil {
			return nil, false, err
		}
	}
	if t.options.OnOutcome != nil {
		t.options.OnOutcome(call, outcome)
	}
	switch outcome := outcome.(type) {
	case *Success:
		content := map[string]any{"status": "success", "result": outcome.Result}
		if outcome.Summary != "" {
			content["summary"] = outcome.Summary
		}
		if len(outcome.Files) > 0 {
			var files []map[string]any
			for _, file := range outcome.Files {
				fields := fieldsOfValue(file)
				delete(fields, "content")
				files = append(files, fields)
			}
			content["files"] = files
		}
		if outcome.Truncated != nil {
			content["truncated"] = outcome.Truncated
		}
		if outcome.NextCursor != "" {
			content["next_cursor"] = outcome.NextCursor
		}
		return content, false, nil
	case *ProviderError:
		content := map[string]any{"status": "error", "reason": outcome.Reason}
		maps.Copy(content, fieldsOfValue(outcome.Err))
		return content, true, nil
	case *AuthRequired:
		content := map[string]any{"status": "auth_required", "message": outcome.Message}
		if outcome.Expired {
			content["status"] = "auth_expired"
		}
		if outcome.ConnectURL != "" {
			content["connect_url"], content["next"] = outcome.ConnectURL, "Ask the user to open connect_url, then repeat the call."
		}
		return content, false, nil
	case *ApprovalRequired:
		return map[string]any{"status": "approval_required", "message": outcome.Message, "approval_url": outcome.ApprovalURL,
			"next": "A person has to approve it at approval_url; then repeat the call."}, false, nil
	case *DryRun:
		return map[string]any{"status": "dry_run", "requests": outcome.Requests}, false, nil
	}
	return unusable("invalid_response", "the outcome is unknown")
}

func unusable(code, message string) (map[string]any, bool, error) {
	return map[string]any{"status": "error", "code": code, "message": message, "can_retry": false}, true, nil
}

func fieldsOfValue(value any) map[string]any {
	var fields map[string]any
	if text, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(text, &fields)
	}
	return fields
}
