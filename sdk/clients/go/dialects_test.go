package toolgate

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var dialects = []Dialect{DialectOpenAI, DialectAnthropic, DialectGemini}

func readTest[T any](t *testing.T, variable string) T {
	t.Helper()
	text, err := os.ReadFile(os.Getenv(variable))
	if err != nil {
		t.Fatal(err)
	}
	var read T
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// plainJSON is a value as it is after being sent.
func plainJSON(value any) any {
	var plain any
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &plain)
	}
	if err != nil {
		panic(err)
	}
	return plain
}

// problems is what a provider would refuse.
func problems(given any, dialect Dialect, at string) (found []string) {
	schema, ok := given.(map[string]any)
	if !ok {
		return []string{at + ": no object"}
	}
	add := func(format string, values ...any) { found = append(found, at+": "+fmt.Sprintf(format, values...)) }
	top := at == ""
	refused := []string{"$ref", "$defs", "allOf"}
	if top {
		refused = append(refused, "oneOf", "anyOf", "enum", "not")
		if schema["type"] != "object" {
			add("no object")
		}
	}
	if dialect != DialectAnthropic {
		refused = append(refused, "default", "const")
	}
	for word := range schema {
		if slices.Contains(refused, word) || (dialect == DialectGemini && !slices.Contains(gemini, word)) {
			add("has %s", word)
		}
	}
	properties, has := schema["properties"].(map[string]any)
	kinds, several := schema["type"].([]any)
	if !several {
		kinds = []any{schema["type"]}
	}
	if has && !slices.Contains(kinds, any("object")) {
		add("properties without an object")
	}
	if dialect == DialectGemini {
		_, alternatives := schema["anyOf"]
		if _, one := schema["type"].(string); !one && !alternatives {
			add("has the type %v", schema["type"])
		}
		if schema["type"] == "object" && len(properties) == 0 && !top {
			add("an object without properties")
		}
		if _, has := schema["items"]; schema["type"] == "array" && !has {
			add("an array without items")
		}
		values, _ := schema["enum"].([]any)
		for _, value := range values {
			if _, ok := value.(string); !ok {
				add("an enum of no texts")
			}
		}
	}
	for key, value := range properties {
		if !keyAllowed.MatchString(key) {
			add("the name %s", key)
		}
		found = append(found, problems(value, dialect, at+"/"+key)...)
	}
	required, _ := schema["required"].([]any)
	for _, key := range required {
		if _, there := properties[key.(string)]; !there {
			add("requires %v", key)
		}
	}
	if items, has := schema["items"]; has {
		found = append(found, problems(items, dialect, at+"/items")...)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		branches, _ := schema[word].([]any)
		for _, branch := range branches {
			found = append(found, problems(branch, dialect, at+"/|")...)
		}
	}
	return found
}

func TestTheTableThatAllClientsShare(t *testing.T) {
	type row struct {
		Name                string
		Schema              Schema
		Arguments, Restored map[Dialect]map[string]any
	}
	expected := readTest[[]map[string]any](t, "TOOLGATE_DIALECTS")
	for at, row := range readTest[[]row](t, "TOOLGATE_DIALECTS") {
		for _, dialect := range dialects {
			lowered := Lower(row.Schema, dialect)
			made := plainJSON(lowered.Schema)
			if !reflect.DeepEqual(made, expected[at][string(dialect)]) {
				t.Errorf("%s, %s:\n%s\nand not\n%s", row.Name, dialect, compact(made), compact(expected[at][string(dialect)]))
			}
			if found := problems(made, dialect, ""); found != nil {
				t.Error(row.Name, dialect, found)
			}
			if given, there := row.Arguments[dialect]; there && !reflect.DeepEqual(lowered.Restore(given), row.Restored[dialect]) {
				t.Errorf("%s, %s: restored %v", row.Name, dialect, lowered.Restore(given))
			}
		}
	}
}

type shippedTool struct {
	Name        string
	InputSchema Schema
}

func TestEverySchemaThatShips(t *testing.T) {
	catalog := readTest[[]shippedTool](t, "TOOLGATE_CATALOG")
	if len(catalog) < 2_000 {
		t.Fatal("the catalog has only", len(catalog))
	}
	for _, tool := range catalog {
		for _, dialect := range dialects {
			if found := problems(plainJSON(Lower(tool.InputSchema, dialect).Schema), dialect, ""); found != nil {
				t.Error(tool.Name, dialect, found)
			}
		}
		if ModelName(tool.Name) != tool.Name {
			t.Error(tool.Name)
		}
	}
}

func TestNamesAreMadeToFit(t *testing.T) {
	made := map[string]bool{}
	for _, text := range []string{strings.Repeat("a", 80), strings.Repeat("a", 79) + "b", "a.b", "a b", "7zip", "\u00fc"} {
		name := ModelName(text)
		if !nameAllowed.MatchString(name) || made[name] {
			t.Error(text, name)
		}
		made[name] = true
	}
}

func TestASchemaThatGrowsWithoutEndIsBounded(t *testing.T) {
	row, definitions := Schema{}, Schema{}
	for n := range 8 {
		row[fmt.Sprint("p", n)] = Schema{"$ref": fmt.Sprint("#/$defs/d", n)}
		definitions[fmt.Sprint("d", n)] = Schema{"type": "object", "properties": row}
	}
	deep := Schema{}
	for range 400 {
		deep = Schema{"type": "object", "properties": Schema{"a": deep}}
	}
	for _, schema := range []Schema{{"type": "object", "properties": row, "$defs": definitions}, deep} {
		for _, dialect := range dialects {
			if found := problems(plainJSON(Lower(schema, dialect).Schema), dialect, ""); found != nil {
				t.Error(dialect, found)
			}
		}
	}
	for _, invalid := range []Schema{{"$ref": 7}, {"allOf": 1}, {"properties": []any{}}, {"type": 7}, {"$ref": "#/nowhere"}, {"$ref": "http://a"}, nil} {
		if Lower(invalid, DialectGemini).Schema["type"] != "object" {
			t.Error(invalid)
		}
	}
}
