package toolgate

import "encoding/json"

// wayBack is what has to be undone in a value: names of properties, and objects that were sent as text.
type wayBack struct {
	names      map[string]string
	properties map[string]*wayBack
	items      *wayBack
	isText     bool
}

func (w *wayBack) restore(value any) any {
	switch value := value.(type) {
	case string:
		var read any
		if w.isText && json.Unmarshal([]byte(value), &read) == nil {
			return read
		}
	case []any:
		if w.items == nil {
			break
		}
		restored := make([]any, len(value))
		for at, inner := range value {
			restored[at] = w.items.restore(inner)
		}
		return restored
	case map[string]any:
		restored := make(map[string]any, len(value))
		for name, inner := range value {
			if way, known := w.properties[name]; known {
				inner = way.restore(inner)
			}
			if original, renamed := w.names[name]; renamed {
				name = original
			}
			restored[name] = inner
		}
		return restored
	}
	return value
}

// shared is a way that an alternative fills and the value's own way shares.
func (w *wayBack) shared() *wayBack {
	if w.names == nil {
		w.names, w.properties = map[string]string{}, map[string]*wayBack{}
	}
	if w.items == nil {
		w.items = &wayBack{}
	}
	return &wayBack{names: w.names, properties: w.properties, items: w.items}
}
