package toolgate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Dialect is what a model's provider accepts of JSON Schema.
//
//   - Every dialect: `type: object` at the top and wherever there are `properties`, no `$ref`, no `allOf`, no
//     alternatives at the top, property names of A-Za-z0-9_.-, at most 64 characters.
//   - DialectOpenAI: no `default`, no `const`; they become a sentence of the description and an `enum`.
//   - DialectGemini: only its subset of OpenAPI; `nullable` for null, `enum` only for strings, and an object
//     without known properties as JSON text.
type Dialect string

const (
	DialectOpenAI    Dialect = "openai"
	DialectAnthropic Dialect = "anthropic"
	DialectGemini    Dialect = "gemini"
)

// Schema is a JSON Schema, or a part of one.
type Schema = map[string]any

// Lowered is a schema in a dialect.
type Lowered struct {
	Schema   Schema
	restorer *argumentRestorer
}

// Restore answers the arguments in the form of the tool's own schema.
func (l *Lowered) Restore(arguments map[string]any) map[string]any {
	if restored, ok := l.restorer.restore(arguments).(map[string]any); ok {
		return restored
	}
	return arguments
}

const (
	nameCharsMax = 64
	depthMax     = 24
	// References can make a small schema endless; parts beyond this number become schemas without constraints.
	partsMax = 20_000
)

var (
	nameAllowed = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	nameOthers  = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	keyAllowed  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	keyOthers   = regexp.MustCompile(`[^A-Za-z0-9_.-]`)
	nameBegin   = regexp.MustCompile(`^[A-Za-z_]`)

	// Keywords that Lower resolves, or that are of no use to a model.
	dropped = []string{"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "examples", "example", "deprecated"}
	gemini  = []string{"type", "format", "title", "description", "nullable", "enum", "items", "properties", "required",
		"anyOf", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern"}
	geminiFormats = map[string][]string{"string": {"date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}
)

// ModelName is a tool's name in a form that every provider accepts: at most 64 of A-Za-z0-9_-, not beginning with a digit.
func ModelName(toolName string) string {
	return shortened(toolName, nameAllowed, nameOthers)
}

// Lower writes a tool's input schema in a dialect.
func Lower(schema Schema, dialect Dialect) *Lowered {
	restorer := &argumentRestorer{}
	lowered := (&lowering{root: schema, dialect: dialect}).top(schema, restorer)
	return &Lowered{Schema: lowered, restorer: restorer}
}

func shortened(text string, allowed, others *regexp.Regexp) string {
	if allowed.MatchString(text) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	ending := "_" + hex.EncodeToString(sum[:4])
	begin := others.ReplaceAllString(text, "_")
	if !nameBegin.MatchString(begin) {
		begin = "_" + begin
	}
	return begin[:min(len(begin), nameCharsMax-len(ending))] + ending
}

type lowering struct {
	root    Schema
	dialect Dialect
	parts   int
}

func (l *lowering) top(schema Schema, restorer *argumentRestorer) Schema {
	merged, seen := l.merged(schema, nil)
	branches, _ := merged["oneOf"].([]any)
	if len(branches) == 0 {
		branches, _ = merged["anyOf"].([]any)
	}
	delete(merged, "oneOf")
	delete(merged, "anyOf")
	if len(branches) > 0 {
		l.unite(merged, branches, seen)
	}
	merged["type"] = "object"
	if _, ok := merged["properties"].(Schema); !ok {
		merged["properties"] = Schema{}
	}
	for _, word := range []string{"enum", "not", "if", "then", "else", "const"} {
		delete(merged, word)
	}
	return l.lower(merged, restorer, 0, seen)
}

// unite merges alternatives into one object: it has the properties of all, and requires what each of them requires.
func (l *lowering) unite(base Schema, branches []any, seen []string) {
	var parts []Schema
	properties := Schema{}
	if own, ok := base["properties"].(Schema); ok {
		properties = maps.Clone(own)
	}
	for _, branch := range branches {
		if _, ok := branch.(Schema); !ok {
			continue
		}
		part, _ := l.merged(branch, seen)
		parts = append(parts, part)
		inner, _ := part["properties"].(Schema)
		for key, value := range inner {
			if _, there := properties[key]; !there {
				properties[key] = value
			}
		}
	}
	base["properties"] = properties
	required, _ := base["required"].([]any)
	required = slices.Clone(required)
	if len(parts) > 0 {
		first, _ := parts[0]["required"].([]any)
		for _, word := range first {
			all := !contains(required, word)
			for _, part := range parts {
				words, _ := part["required"].([]any)
				all = all && contains(words, word)
			}
			if all {
				required = append(required, word)
			}
		}
	}
	if len(required) > 0 {
		base["required"] = required
	}
}

// merged is the schema with its reference resolved and its allOf merged, and the references that were followed.
func (l *lowering) merged(schema any, seen []string) (Schema, []string) {
	l.parts++
	given, ok := schema.(Schema)
	if !ok || l.parts > partsMax {
		return Schema{}, seen
	}
	found := Schema{}
	for key, value := range given {
		if !slices.Contains(dropped, key) && !strings.HasPrefix(key, "x-") {
			found[key] = value
		}
	}
	all, _ := found["allOf"].([]any)
	parts := slices.Clone(all)
	if reference, ok := found["$ref"].(string); ok && !slices.Contains(seen, reference) {
		seen = append(slices.Clone(seen), reference)
		parts = append([]any{l.target(reference)}, parts...)
	}
	delete(found, "$ref")
	delete(found, "allOf")
	for _, part := range parts {
		var inner Schema
		inner, seen = l.merged(part, seen)
		for key, value := range inner {
			own, exists := found[key]
			properties, isObject := own.(Schema)
			more, alsoObject := value.(Schema)
			required, isList := own.([]any)
			words, alsoList := value.([]any)
			switch {
			case key == "properties" && isObject && alsoObject:
				both := maps.Clone(more)
				maps.Copy(both, properties)
				found[key] = both
			case key == "required" && isList && alsoList:
				required = slices.Clone(required)
				for _, word := range words {
					if !contains(required, word) {
						required = append(required, word)
					}
				}
				found[key] = required
			case !exists:
				found[key] = value
			}
		}
	}
	return found, seen
}

func (l *lowering) target(reference string) any {
	if !strings.HasPrefix(reference, "#") {
		return nil
	}
	var at any = l.root
	for _, part := range strings.Split(reference[1:], "/")[1:] {
		inner, _ := at.(Schema)
		at = inner[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}

// lower lowers one schema. true, and what is nested too deep, becomes a schema without constraints.
func (l *lowering) lower(schema any, restorer *argumentRestorer, depth int, seen []string) Schema {
	merged, seen := l.merged(schema, seen)
	if depth > depthMax {
		return l.unconstrained(merged, restorer)
	}
	_, hasProperties := merged["properties"].(Schema)
	_, hasMore := merged["additionalProperties"]
	if _, typed := merged["type"]; !typed && (hasProperties || hasMore) {
		merged["type"] = "object"
	}
	if value, there := merged["const"]; there && l.dialect != DialectAnthropic {
		merged["enum"] = []any{value}
		delete(merged, "const")
	}
	if value, there := merged["default"]; there && l.dialect != DialectAnthropic {
		note(merged, "Default: "+compact(value)+".")
		delete(merged, "default")
	}
	l.properties(merged, restorer, depth, seen)
	l.items(merged, restorer, depth, seen)
	for _, word := range []string{"oneOf", "anyOf"} {
		l.branches(merged, word, restorer, depth, seen)
	}
	if inner, ok := merged["additionalProperties"].(Schema); ok {
		merged["additionalProperties"] = l.lower(inner, &argumentRestorer{}, depth+1, seen)
	}
	if l.dialect == DialectGemini {
		return l.gemini(merged, restorer, depth)
	}
	return merged
}

func (l *lowering) branches(schema Schema, word string, restorer *argumentRestorer, depth int, seen []string) {
	branches, ok := schema[word].([]any)
	if !ok {
		return
	}
	var lowered []any
	texts, jsonTexts := false, false
	for _, part := range branches {
		if given, ok := part.(Schema); ok && given["type"] == "null" && l.dialect == DialectGemini {
			schema["nullable"] = true
			continue
		}
		inner := restorer.forAlternative()
		shape := l.lower(part, inner, depth+1, seen)
		kind, typed := shape["type"]
		// If one of the alternatives is a string, a string has to stay as it is.
		texts = texts || (!inner.isText && (!typed || kind == "string"))
		jsonTexts = jsonTexts || inner.isText
		lowered = append(lowered, shape)
	}
	restorer.isText = restorer.isText || (jsonTexts && !texts)
	schema[word] = lowered
}

func (l *lowering) properties(schema Schema, restorer *argumentRestorer, depth int, seen []string) {
	properties, ok := schema["properties"].(Schema)
	if !ok {
		return
	}
	if restorer.names == nil {
		restorer.names, restorer.properties = map[string]string{}, map[string]*argumentRestorer{}
	}
	renamed, lowered := map[string]string{}, Schema{}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		name := shortened(key, keyAllowed, keyOthers)
		renamed[key] = name
		if name != key {
			restorer.names[name] = key
		}
		inner := restorer.properties[name]
		if inner == nil {
			inner = &argumentRestorer{}
			restorer.properties[name] = inner
		}
		lowered[name] = l.lower(properties[key], inner, depth+1, seen)
	}
	schema["properties"] = lowered
	if words, ok := schema["required"].([]any); ok {
		var required []any
		for _, word := range words {
			if text, ok := word.(string); ok {
				if name, there := renamed[text]; there {
					required = append(required, name)
				}
			}
		}
		schema["required"] = required
		if len(required) == 0 {
			delete(schema, "required")
		}
	}
}

func (l *lowering) items(schema Schema, restorer *argumentRestorer, depth int, seen []string) {
	items, there := schema["items"]
	kinds, _ := schema["type"].([]any)
	if schema["type"] != "array" && !contains(kinds, "array") && !there {
		return
	}
	if _, ok := items.(Schema); !ok {
		items = Schema{}
	}
	if restorer.items == nil {
		restorer.items = &argumentRestorer{}
	}
	schema["items"] = l.lower(items, restorer.items, depth+1, seen)
}

func (l *lowering) unconstrained(schema Schema, restorer *argumentRestorer) Schema {
	bare := Schema{}
	if description, there := schema["description"]; there {
		bare["description"] = description
	}
	if l.dialect == DialectGemini {
		return asText(bare, restorer)
	}
	return bare
}

// asText is a value without a known shape, which the model writes as JSON text.
func asText(schema Schema, restorer *argumentRestorer) Schema {
	restorer.isText = true
	text := Schema{"type": "string"}
	if description, there := schema["description"]; there {
		text["description"] = description
	}
	if schema["nullable"] == true {
		text["nullable"] = true
	}
	note(text, "As JSON text.")
	return text
}

func (l *lowering) gemini(schema Schema, restorer *argumentRestorer, depth int) Schema {
	branches, _ := schema["oneOf"].([]any)
	if len(branches) == 0 {
		branches, _ = schema["anyOf"].([]any)
	}
	delete(schema, "oneOf")
	delete(schema, "anyOf")
	if kinds, several := schema["type"].([]any); several {
		var rest []any
		for _, kind := range kinds {
			if kind == "null" {
				schema["nullable"] = true
			} else {
				rest = append(rest, kind)
			}
		}
		if len(rest) != 1 {
			return asText(schema, restorer)
		}
		schema["type"] = rest[0]
	}
	switch {
	case len(branches) == 1:
		delete(schema, "type")
		shape := maps.Clone(branches[0].(Schema))
		maps.Copy(shape, schema)
		schema = shape
	case len(branches) > 1:
		alternatives := Schema{"anyOf": branches}
		for _, key := range []string{"description", "nullable"} {
			if value, there := schema[key]; there {
				alternatives[key] = value
			}
		}
		return alternatives
	}
	if schema["type"] == "null" {
		schema["type"], schema["nullable"] = "string", true
	}
	lowerEnum(schema)
	kind, _ := schema["type"].(string)
	properties, _ := schema["properties"].(Schema)
	if kind == "" || (kind == "object" && len(properties) == 0 && depth > 0) {
		return asText(schema, restorer)
	}
	if format, _ := schema["format"].(string); !slices.Contains(geminiFormats[kind], format) {
		delete(schema, "format")
	}
	maps.DeleteFunc(schema, func(key string, _ any) bool { return !slices.Contains(gemini, key) })
	return schema
}

// lowerEnum keeps an enum of strings and writes any other one into the description.
func lowerEnum(schema Schema) {
	given, ok := schema["enum"].([]any)
	if !ok {
		return
	}
	var values []any
	var listed []string
	texts, integers := true, true
	for _, value := range given {
		if value == nil {
			schema["nullable"] = true
			continue
		}
		_, isText := value.(string)
		number, isNumber := value.(float64)
		texts, integers = texts && isText, integers && isNumber && number == float64(int64(number))
		values, listed = append(values, value), append(listed, compact(value))
	}
	kind, typed := schema["type"]
	if (!typed || kind == "string") && texts && len(values) > 0 {
		schema["type"], schema["enum"] = "string", values
		return
	}
	note(schema, "One of: "+strings.Join(listed, ", ")+".")
	delete(schema, "enum")
	if !typed && integers && len(values) > 0 {
		schema["type"] = "integer"
	}
}

func note(schema Schema, sentence string) {
	description, _ := schema["description"].(string)
	schema["description"] = strings.TrimSpace(strings.TrimSpace(description) + " " + sentence)
}

func compact(value any) string {
	var text bytes.Buffer
	writer := json.NewEncoder(&text)
	writer.SetEscapeHTML(false)
	if err := writer.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(text.String())
}

func contains(values []any, wanted any) bool {
	for _, value := range values {
		if text, ok := value.(string); ok && text == wanted {
			return true
		}
	}
	return false
}
