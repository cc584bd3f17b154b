package config

import (
	"strconv"
	"strings"
)

// escaped is a string that is written in double quotes. The library would write it as a block, in which a carriage return counts as the end of a line.
type escaped string

// MarshalYAML returns the string in quotes, with control characters escaped.
func (t escaped) MarshalYAML() ([]byte, error) { return []byte(strconv.Quote(string(t))), nil }

// quoted returns an option's value, in which every string with control characters is an escaped.
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
