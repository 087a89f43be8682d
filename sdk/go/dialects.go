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

// Dialect is what a model's provider takes of JSON Schema.
//
//   - Every dialect: `type: object` wherever `properties` stands and at the top, no `$ref`, no `allOf`, no
//     alternatives at the top, property names of A-Za-z0-9_.-, at most 64 characters.
//   - DialectOpenAI: no `default`, no `const`; both are said in the description or as `enum`.
//   - DialectGemini: its subset of OpenAPI alone; `nullable` for null, `enum` for texts alone, and an object
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
	Schema Schema
	way    *wayBack
}

// Restore is the arguments as the tool's own schema has them.
func (l *Lowered) Restore(arguments map[string]any) map[string]any {
	if restored, ok := l.way.restore(arguments).(map[string]any); ok {
		return restored
	}
	return arguments
}

const (
	nameCharsMax = 64
	depthMax     = 24
	// References can make a small schema endless; past this many parts the rest is anything.
	partsMax = 20_000
)

var (
	nameAllowed = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	nameOthers  = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	keyAllowed  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	keyOthers   = regexp.MustCompile(`[^A-Za-z0-9_.-]`)
	nameBegin   = regexp.MustCompile(`^[A-Za-z_]`)

	// Said elsewhere, or of no use to a model.
	dropped = []string{"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "examples", "example", "deprecated"}
	gemini  = []string{"type", "format", "title", "description", "nullable", "enum", "items", "properties", "required",
		"anyOf", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern"}
	geminiFormats = map[string][]string{"string": {"date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}
)

// ModelName is a tool's name as every provider takes it: at most 64 of A-Za-z0-9_-, not beginning with a digit.
func ModelName(toolName string) string {
	return shortened(toolName, nameAllowed, nameOthers)
}

// Lower writes a tool's input schema in a dialect.
func Lower(schema Schema, dialect Dialect) *Lowered {
	way := &wayBack{}
	made := (&lowering{root: schema, dialect: dialect}).top(schema, way)
	return &Lowered{Schema: made, way: way}
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

func (l *lowering) top(schema Schema, way *wayBack) Schema {
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
	return l.one(merged, way, 0, seen)
}

// unite lays alternatives into one object: every property of any, required what all require.
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

// merged is the schema with its reference followed and its allOf laid into it, and the references on the way.
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
		var laid Schema
		laid, seen = l.merged(part, seen)
		for key, value := range laid {
			there, exists := found[key]
			properties, isObject := there.(Schema)
			more, alsoObject := value.(Schema)
			required, isList := there.([]any)
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

// one lowers one schema, its references followed. true, and what lies too deep, is anything.
func (l *lowering) one(schema any, way *wayBack, depth int, seen []string) Schema {
	made, seen := l.merged(schema, seen)
	if depth > depthMax {
		return l.anything(made, way)
	}
	_, hasProperties := made["properties"].(Schema)
	_, hasMore := made["additionalProperties"]
	if _, typed := made["type"]; !typed && (hasProperties || hasMore) {
		made["type"] = "object"
	}
	if value, there := made["const"]; there && l.dialect != DialectAnthropic {
		made["enum"] = []any{value}
		delete(made, "const")
	}
	if value, there := made["default"]; there && l.dialect != DialectAnthropic {
		note(made, "Default: "+compact(value)+".")
		delete(made, "default")
	}
	l.properties(made, way, depth, seen)
	l.items(made, way, depth, seen)
	for _, word := range []string{"oneOf", "anyOf"} {
		l.branches(made, word, way, depth, seen)
	}
	if inner, ok := made["additionalProperties"].(Schema); ok {
		made["additionalProperties"] = l.one(inner, &wayBack{}, depth+1, seen)
	}
	if l.dialect == DialectGemini {
		return l.gemini(made, way, depth)
	}
	return made
}

func (l *lowering) branches(made Schema, word string, way *wayBack, depth int, seen []string) {
	branches, ok := made[word].([]any)
	if !ok {
		return
	}
	var lowered []any
	texts, jsonTexts := false, false
	for _, part := range branches {
		if given, ok := part.(Schema); ok && given["type"] == "null" && l.dialect == DialectGemini {
			made["nullable"] = true
			continue
		}
		inner := way.shared()
		shape := l.one(part, inner, depth+1, seen)
		kind, typed := shape["type"]
		// A text among the alternatives has to stay the text it is.
		texts = texts || (!inner.isText && (!typed || kind == "string"))
		jsonTexts = jsonTexts || inner.isText
		lowered = append(lowered, shape)
	}
	way.isText = way.isText || (jsonTexts && !texts)
	made[word] = lowered
}

func (l *lowering) properties(made Schema, way *wayBack, depth int, seen []string) {
	properties, ok := made["properties"].(Schema)
	if !ok {
		return
	}
	if way.names == nil {
		way.names, way.properties = map[string]string{}, map[string]*wayBack{}
	}
	renamed, lowered := map[string]string{}, Schema{}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		name := shortened(key, keyAllowed, keyOthers)
		renamed[key] = name
		if name != key {
			way.names[name] = key
		}
		inner := way.properties[name]
		if inner == nil {
			inner = &wayBack{}
			way.properties[name] = inner
		}
		lowered[name] = l.one(properties[key], inner, depth+1, seen)
	}
	made["properties"] = lowered
	if words, ok := made["required"].([]any); ok {
		var required []any
		for _, word := range words {
			if text, ok := word.(string); ok {
				if name, there := renamed[text]; there {
					required = append(required, name)
				}
			}
		}
		made["required"] = required
		if len(required) == 0 {
			delete(made, "required")
		}
	}
}

func (l *lowering) items(made Schema, way *wayBack, depth int, seen []string) {
	items, there := made["items"]
	kinds, _ := made["type"].([]any)
	if made["type"] != "array" && !contains(kinds, "array") && !there {
		return
	}
	if _, ok := items.(Schema); !ok {
		items = Schema{}
	}
	if way.items == nil {
		way.items = &wayBack{}
	}
	made["items"] = l.one(items, way.items, depth+1, seen)
}

func (l *lowering) anything(made Schema, way *wayBack) Schema {
	kept := Schema{}
	if description, there := made["description"]; there {
		kept["description"] = description
	}
	if l.dialect == DialectGemini {
		return asText(kept, way)
	}
	return kept
}

// asText is a value without a known shape, which the model writes as JSON text.
func asText(made Schema, way *wayBack) Schema {
	way.isText = true
	text := Schema{"type": "string"}
	if description, there := made["description"]; there {
		text["description"] = description
	}
	if made["nullable"] == true {
		text["nullable"] = true
	}
	note(text, "As JSON text.")
	return text
}

func (l *lowering) gemini(made Schema, way *wayBack, depth int) Schema {
	branches, _ := made["oneOf"].([]any)
	if len(branches) == 0 {
		branches, _ = made["anyOf"].([]any)
	}
	delete(made, "oneOf")
	delete(made, "anyOf")
	if kinds, several := made["type"].([]any); several {
		var rest []any
		for _, kind := range kinds {
			if kind == "null" {
				made["nullable"] = true
			} else {
				rest = append(rest, kind)
			}
		}
		if len(rest) != 1 {
			return asText(made, way)
		}
		made["type"] = rest[0]
	}
	switch {
	case len(branches) == 1:
		delete(made, "type")
		shape := maps.Clone(branches[0].(Schema))
		maps.Copy(shape, made)
		made = shape
	case len(branches) > 1:
		kept := Schema{"anyOf": branches}
		for _, key := range []string{"description", "nullable"} {
			if value, there := made[key]; there {
				kept[key] = value
			}
		}
		return kept
	}
	if made["type"] == "null" {
		made["type"], made["nullable"] = "string", true
	}
	values(made)
	kind, _ := made["type"].(string)
	properties, _ := made["properties"].(Schema)
	if kind == "" || (kind == "object" && len(properties) == 0 && depth > 0) {
		return asText(made, way)
	}
	if format, _ := made["format"].(string); !slices.Contains(geminiFormats[kind], format) {
		delete(made, "format")
	}
	maps.DeleteFunc(made, func(key string, _ any) bool { return !slices.Contains(gemini, key) })
	return made
}

// values keeps an enum of texts and says any other in the description.
func values(made Schema) {
	given, ok := made["enum"].([]any)
	if !ok {
		return
	}
	var kept []any
	var said []string
	texts, integers := true, true
	for _, value := range given {
		if value == nil {
			made["nullable"] = true
			continue
		}
		_, isText := value.(string)
		number, isNumber := value.(float64)
		texts, integers = texts && isText, integers && isNumber && number == float64(int64(number))
		kept, said = append(kept, value), append(said, compact(value))
	}
	kind, typed := made["type"]
	if (!typed || kind == "string") && texts && len(kept) > 0 {
		made["type"], made["enum"] = "string", kept
		return
	}
	note(made, "One of: "+strings.Join(said, ", ")+".")
	delete(made, "enum")
	if !typed && integers && len(kept) > 0 {
		made["type"] = "integer"
	}
}

func note(made Schema, sentence string) {
	there, _ := made["description"].(string)
	made["description"] = strings.TrimSpace(strings.TrimSpace(there) + " " + sentence)
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
