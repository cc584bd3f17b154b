package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// object is a JSON object.
type object = map[string]any

// words lists the values of text types that have a fixed set of values.
var words = map[reflect.Type][]string{
	reflect.TypeFor[latent.Activity]():    {string(latent.Active), string(latent.Inactive), string(latent.Undecided)},
	reflect.TypeFor[latent.Change]():      {string(latent.Born), string(latent.Ended), string(latent.Joined), string(latent.Parted)},
	reflect.TypeFor[latent.Level]():       {string(latent.Info), string(latent.Warning), string(latent.Error)},
	reflect.TypeFor[latent.Calibration](): {string(latent.Calibrated), string(latent.Brief), string(latent.Motionless), string(latent.Unexplained)},
}

// field is one property of a record.
type field struct {
	owner      string // the struct that declares it
	of         reflect.Type
	name, unit string // in JSON
	optional   bool   // the field may be missing
}

// fieldsOf lists the properties of a struct, including embedded structs.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fields = append(fields, fieldsOf(f.Type)...)
		case name != "" && name != "-":
			fields = append(fields, field{t.Name(), f.Type, name, f.Tag.Get("unit"), strings.Contains(options, "omitempty")})
		}
	}
	return fields
}

// object returns the schema of a struct. It allows the properties of later releases.
func (c comments) object(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range fieldsOf(t) {
		s := c.schema(f.of)
		if text := c.of(f); text != "" {
			s["description"] = text
		}
		if f.unit != "" {
			s["x-unit"] = f.unit
		}
		if properties[f.name] = s; !f.optional {
			required = append(required, f.name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}

// schema returns the schema of any type in a record.
func (c comments) schema(t reflect.Type) object {
	number := object{"type": []string{"number", "null"}}
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[message.Number]():
		return number
	case reflect.TypeFor[message.Numbers]():
		return object{"type": "array", "items": number, "maxItems": message.MaxLatent}
	case reflect.TypeFor[message.Table]():
		return object{"type": "array", "items": number, "maxItems": message.MaxLatent * message.MaxHorizons}
	case reflect.TypeFor[message.Points]():
		return object{"type": "array", "items": number, "maxItems": message.MaxField}
	case reflect.TypeFor[message.Column]():
		return object{"type": "array", "items": number, "maxItems": message.MaxObjects}
	case reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64", "contentMediaType": "image/jpeg"}
	case reflect.TypeFor[json.RawMessage]():
		return object{"type": "object"}
	}
	if values := words[t]; values != nil {
		return object{"type": "string", "enum": values}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.schema(t.Elem())
	case reflect.Struct:
		return c.object(t)
	case reflect.Slice:
		return object{"type": []string{"array", "null"}, "items": c.schema(t.Elem())}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": c.schema(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Uint64, reflect.Uint16:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return object{"type": "number"}
	}
	panic(fmt.Sprintf("a record contains a %v: add its JSON form to schema.go", t))
}
