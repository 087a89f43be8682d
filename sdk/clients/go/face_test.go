package toolgate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var testKey = "tg_live_" + strings.Repeat("k", 43)

func TestEveryOperationOfTheDocumentHasAMethod(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("TOOLGATE_DOCUMENT"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var documented, offered []string
	for path, operations := range document.Paths {
		for _, operation := range operations {
			// Files go by the language's HTTP library.
			bytes := operation.OperationID == "upload_file" || operation.OperationID == "download_file"
			if strings.HasPrefix(path, "/v1/") && operation.OperationID != "" && !bytes {
				documented = append(documented, operation.OperationID)
			}
		}
	}
	called := regexp.MustCompile(`(?:c|c\.answer\(ctx), "(\w+)"`)
	for _, file := range []string{"client.go", "files.go", "resources.go", "scripts.go", "triggers.go", "webhooks.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range called.FindAllStringSubmatch(string(source), -1) {
			offered = append(offered, found[1])
		}
	}
	slices.Sort(documented)
	slices.Sort(offered)
	if offered = slices.Compact(offered); len(documented) < 30 || !slices.Equal(documented, offered) {
		t.Fatalf("the document has\n%v\nand the client\n%v", documented, offered)
	}
}

func TestAKeyIsInNoTextOfTheClient(t *testing.T) {
	client, err := New(Options{APIKey: testKey, BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, client) + fmt.Sprintf(verb, *client) + fmt.Sprintf(verb, client.Tools); strings.Contains(text, testKey) {
			t.Fatal(verb, text)
		}
	}
}

func TestAKeyThatCannotBeSentIsRefusedByAnErrorWithoutIt(t *testing.T) {
	t.Setenv("TOOLGATE_API_KEY", "")
	for _, bad := range []string{testKey + "\n", testKey + "\r\nX: y", "tg_live_ \u00e4", " " + testKey, ""} {
		if _, err := New(Options{APIKey: bad}); err == nil || strings.Contains(err.Error(), "tg_live") {
			t.Fatal(bad, err)
		}
	}
}

func TestAnAddressWithMoreThanAnOriginAndAPathIsRefused(t *testing.T) {
	for _, bad := range []string{"ftp://a", "http://", "http://user:pass@a", "http://a?b=c", "http://a#b", "a:80"} {
		if _, err := New(Options{APIKey: testKey, BaseURL: bad}); err == nil {
			t.Fatal(bad)
		}
	}
}

func TestAValueCannotLeaveItsSegmentOfThePath(t *testing.T) {
	made, err := newRequest("http://127.0.0.1:1/base", "get_execution", []string{"../a/b?c#d%2e"}, nil)
	if err != nil || made.url != "http://127.0.0.1:1/base/v1/executions/..%2Fa%2Fb%3Fc%23d%252e" {
		t.Fatal(made, err)
	}
	for _, bad := range []string{"", ".", ".."} {
		if _, err := newRequest("http://a", "get_execution", []string{bad}, nil); err == nil {
			t.Fatal(bad)
		}
	}
}

func TestWhatIsNotTheAPIsAnswerIsAnError(t *testing.T) {
	invalid := &Error{Kind: KindInvalidResponse}
	for _, body := range []string{"", "null", "[]", "{}", `{"success":true}`, `{"success":true,"data":1}`, "\xff",
		`{"success":false,"error":"x","meta":{"request_id":"r"}}`} {
		if _, err := readAnswer(200, http.Header{}, []byte(body)); !errors.Is(err, invalid) {
			t.Fatal(body, err)
		}
	}
	for _, data := range []string{`{"status":"new"}`, `{"status":"success"}`, `[]`, `null`, `{"status":1}`} {
		if _, err := readOutcome(answer{data: json.RawMessage(data)}, ExecuteToolParams{}); !errors.Is(err, invalid) {
			t.Fatal(data, err)
		}
	}
}

func TestATextIsAnAnswerWhereTheOperationHasOne(t *testing.T) {
	const text = "declare const args: unknown;"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, text)
	}))
	defer server.Close()
	client, err := New(Options{APIKey: testKey, BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	types, err := client.Scripts.Types(context.Background(), ScriptTypes{Names: []string{"a_b"}})
	if err != nil || types != text {
		t.Fatal(types, err)
	}
	if _, err := client.Status(context.Background()); !errors.Is(err, &Error{Kind: KindInvalidResponse}) {
		t.Fatal(err)
	}
}

func TestAToolsetOfNoToolsRunsNoneAndSendsNothing(t *testing.T) {
	// Nobody listens there: a request would be an error.
	client, err := New(Options{APIKey: testKey, BaseURL: "http://127.0.0.1:1", Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	set, err := client.Toolset(context.Background(), FormatOpenAI, ToolsetOptions{Tools: []string{}})
	if err != nil || len(set.Definitions()) != 0 {
		t.Fatal(set, err)
	}
	call := ModelCall{Name: "execute_tool", Arguments: map[string]any{"tool_name": "github_delete_repository", "arguments": "{}"}}
	if content, failed, err := set.Call(context.Background(), call); err != nil || !failed || content["code"] != "tool_not_found" {
		t.Fatal(content, failed, err)
	}
}

func TestAContextThatEndsEndsTheCall(t *testing.T) {
	client, err := New(Options{APIKey: testKey, BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := client.Status(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestTheTextOfAnErrorSaysWhatIsWrongWithTheArguments(t *testing.T) {
	refusal := func(violations ...any) string {
		return (&Error{Code: "c", Message: "no", RequestID: "req_1", Details: map[string]any{"violations": violations}}).Error()
	}
	one := map[string]any{"path": "/text", "message": "is required"}
	whole := map[string]any{"path": "", "message": "has an unknown key"}
	if text := refusal(one, whole); text != "c: no (/text: is required; /: has an unknown key) (req_1)" {
		t.Fatal(text)
	}
	if text := refusal(one, one, one, one, one, one, one); !strings.Contains(text, "/text: is required; and 2 more)") {
		t.Fatal(text)
	}
	for _, text := range []string{refusal(), refusal(1.0), (&Error{Code: "c", Message: "no", RequestID: "req_1"}).Error()} {
		if text != "c: no (req_1)" {
			t.Fatal(text)
		}
	}
}

func TestABoundLinkRenewsWhatTheCallHadAndIsTheOneThatIsShown(t *testing.T) {
	var linked map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := map[string]string{
			"/v1/tools/a_b/execute": `{"execution_id":"e","tool_name":"a_b","service":"a","session_id":"s","duration_ms":1,"status":"auth_expired","auth_type":"oauth2","message":"m","connect_url":"https://gate/connect/any"}`,
			"/v1/tools/a_b/schema":  `{"name":"a_b","auth":{"type":"oauth2","scopes":["repo"]}}`,
			"/v1/connections":       `{"connections":[{"connection_id":"con_1","state":"reauth_needed"},{"connection_id":"con_0","state":"revoked"}]}`,
			"/v1/connections/link":  `{"connect_url":"https://gate/connect/bound","connection_id":"con_1"}`,
		}[r.URL.Path]
		if r.URL.Path == "/v1/connections/link" {
			if err := json.NewDecoder(r.Body).Decode(&linked); err != nil {
				t.Error(err)
			}
		}
		fmt.Fprintf(w, `{"success":true,"data":%s,"meta":{"request_id":"r"}}`, data)
	}))
	defer server.Close()
	client, err := New(Options{APIKey: testKey, BaseURL: server.URL, Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	outcome, err := client.Tools.Execute(ctx, "a_b", ExecuteToolParams{UserID: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	required := outcome.(*AuthRequired)
	var shown []string
	wait := Wait{Show: func(url string) { shown = append(shown, url) }, Timeout: time.Nanosecond}
	if _, err := client.WaitForConnection(ctx, required, Confirm{}, wait); err == nil || !strings.Contains(err.Error(), "ConfirmAt") || shown != nil {
		t.Fatal("a call without a choice is refused: ", shown, err)
	}
	if _, err := client.Connect(ctx, LinkConnectionParams{Service: "a"}, Confirm{}, wait); err == nil || linked != nil {
		t.Fatal(linked, err)
	}
	late := &Error{Kind: KindWaitTimeout}
	if _, err := client.WaitForConnection(ctx, required, PageAsks, wait); !errors.Is(err, late) || linked != nil {
		t.Fatal(linked, err)
	}
	if _, err := client.WaitForConnection(ctx, required, ConfirmAt("https://app.example.com/connected"), wait); !errors.Is(err, late) {
		t.Fatal(err)
	}
	if !slices.Equal(shown, []string{"https://gate/connect/any", "https://gate/connect/bound"}) {
		t.Fatal(shown)
	}
	wanted := map[string]any{"service": "a", "user_id": "ada", "scopes": []any{"repo"}, "connection_id": "con_1", "confirm_url": "https://app.example.com/connected"}
	if !reflect.DeepEqual(linked, wanted) {
		t.Fatal(linked)
	}
}

func TestAFormatThatIsNoneIsRefusedBeforeAnythingIsSent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Error(r.URL) }))
	defer server.Close()
	client, err := New(Options{APIKey: testKey, BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []Format{"openia", " ", "OpenAI"} {
		for _, tools := range [][]string{nil, {"a_b"}} {
			_, err := client.Toolset(context.Background(), format, ToolsetOptions{Tools: tools})
			if err == nil || !strings.Contains(err.Error(), `"openai" "openai_responses" "anthropic" "gemini"`) {
				t.Fatal(format, err)
			}
		}
	}
	for _, format := range formats {
		if _, err := client.Toolset(context.Background(), format, ToolsetOptions{Tools: []string{}}); err != nil {
			t.Fatal(format, err)
		}
	}
}

func TestTheEmptyFormatIsThatOfOpenAI(t *testing.T) {
	client, err := New(Options{APIKey: testKey, BaseURL: "http://127.0.0.1:9"})
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, format := range []Format{"", FormatOpenAI} {
		set, err := client.Toolset(context.Background(), format, ToolsetOptions{})
		if err != nil {
			t.Fatal(format, err)
		}
		definitions, err := json.Marshal(set.Definitions())
		if err != nil {
			t.Fatal(err)
		}
		if set.format != FormatOpenAI {
			t.Fatal(set.format)
		}
		written = append(written, string(definitions))
	}
	if written[0] != written[1] {
		t.Fatal(written)
	}
}
