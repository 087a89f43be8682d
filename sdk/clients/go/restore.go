package toolgate

import "encoding/json"

// argumentRestorer undoes in a value what Lower changed: renamed properties, and values that the model writes as JSON
// text.
type argumentRestorer struct {
	names      map[string]string
	properties map[string]*argumentRestorer
	items      *argumentRestorer
	isText     bool
}

func (r *argumentRestorer) restore(value any) any {
	switch value := value.(type) {
	case string:
		var read any
		if r.isText && json.Unmarshal([]byte(value), &read) == nil {
			return read
		}
	case []any:
		if r.items == nil {
			break
		}
		restored := make([]any, len(value))
		for at, inner := range value {
			restored[at] = r.items.restore(inner)
		}
		return restored
	case map[string]any:
		restored := make(map[string]any, len(value))
		for name, inner := range value {
			if restorer, known := r.properties[name]; known {
				inner = restorer.restore(inner)
			}
			if original, renamed := r.names[name]; renamed {
				name = original
			}
			restored[name] = inner
		}
		return restored
	}
	return value
}

// forAlternative is the restorer of one alternative. It shares names, properties and items with this one, but not isText.
func (r *argumentRestorer) forAlternative() *argumentRestorer {
	if r.names == nil {
		r.names, r.properties = map[string]string{}, map[string]*argumentRestorer{}
	}
	if r.items == nil {
		r.items = &argumentRestorer{}
	}
	return &argumentRestorer{names: r.names, properties: r.properties, items: r.items}
}
