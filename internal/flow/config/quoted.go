package config

import (
	"strconv"
	"strings"
)

// escaped is a string that is written between double quotes. In a block, as the library would write it, a carriage return is a line's end like any other.
type escaped string

// MarshalYAML escapes invisible characters.
func (t escaped) MarshalYAML() ([]byte, error) { return []byte(strconv.Quote(string(t))), nil }

// quoted returns an option's value with every string of control characters escaped.
func quoted(v any) any {
	switch v := v.(type) {
	case string:
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return escaped(v)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = quoted(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = quoted(value)
		}
		return out
	}
	return v
}
