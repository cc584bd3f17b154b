package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// maxItems is the largest number of entries in a list.
const maxItems = 4096

// decode reads node into the struct to which dst points. Unlike the library's strict mode it reports every problem with its path, and it never converts types:
// 1.5 is not an integer, and "12" is not a number.
func decode(node ast.Node, file, path string, dst any) error {
	d := decoder{file: file}
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("config: options are decoded into %T, which is not a pointer: this is a mistake in the program", dst)
	}
	if node != nil {
		d.value(node, target.Elem(), path)
	}
	if d.more > 0 {
		d.errs = append(d.errs, &problem{file: file, text: fmt.Sprintf("and %d more problems", d.more)})
	}
	return errors.Join(d.errs...)
}

// decoder walks a tree and a Go value in parallel and collects the mismatches.
type decoder struct {
	file string
	errs []error // the first maxTold problems
	more int     // number of further problems
}

// fail records a problem at node.
func (d *decoder) fail(node ast.Node, format string, args ...any) {
	if len(d.errs) == maxTold {
		d.more++
		return
	}
	d.errs = append(d.errs, &problem{d.file, lineOf(node.GetToken()), fmt.Sprintf(format, args...)})
}

// mismatch records a value of the wrong type.
func (d *decoder) mismatch(node ast.Node, path, expected string) {
	d.fail(node, "%s: found %s, expected %s", path, describe(node), expected)
}

// value decodes node into v, which is addressable.
func (d *decoder) value(node ast.Node, v reflect.Value, path string) {
	switch target := v.Addr().Interface().(type) {
	case *Component:
		d.component(node, target, path)
		return
	case *Preprocess:
		d.preprocess(node, target, path)
		return
	case *time.Duration:
		d.duration(node, target, path)
		return
	case encoding.TextUnmarshaler, yaml.NodeUnmarshaler, yaml.BytesUnmarshaler, yaml.InterfaceUnmarshaler:
		d.library(node, v, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(node, v, path)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(node, v.Elem(), path)
	case reflect.Slice, reflect.Array:
		d.list(node, v, path)
	case reflect.Map:
		d.named(node, v, path)
	default:
		d.scalar(node, v, path)
	}
}

// structure decodes a map key by key. An empty map keeps the defaults.
func (d *decoder) structure(node ast.Node, v reflect.Value, path string) {
	if node.Type() == ast.NullType {
		return
	}
	entries, ok := entriesOf(node)
	if !ok {
		d.mismatch(node, pathOr(path, "the file"), "a map with the keys "+strings.Join(keysOf(v.Type()), ", "))
		return
	}
	for _, entry := range entries {
		key := keyOf(entry)
		field, known := fieldNamed(v, key)
		if !known {
			d.fail(entry.Key, "unknown key %q; known keys here: %s", join(path, key), strings.Join(keysOf(v.Type()), ", "))
			continue
		}
		d.value(entry.Value, field, join(path, key))
	}
}

// named decodes a map whose keys the user chooses.
func (d *decoder) named(node ast.Node, v reflect.Value, path string) {
	if v.Type().Elem().Kind() == reflect.Interface {
		d.library(node, v, path)
		return
	}
	entries, ok := entriesOf(node)
	if !ok {
		d.mismatch(node, path, "a map, {name: value}")
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	for _, entry := range entries {
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(entry.Value, value, join(path, keyOf(entry)))
		v.SetMapIndex(reflect.ValueOf(keyOf(entry)), value)
	}
}

// list decodes a sequence. An array needs exactly as many entries as its length.
func (d *decoder) list(node ast.Node, v reflect.Value, path string) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		d.mismatch(node, path, "a list, one entry after each dash")
		return
	}
	n := len(sequence.Values)
	if n > maxItems {
		d.fail(node, "%s: found %d entries, expected at most %d", path, n, maxItems)
		return
	}
	if v.Kind() == reflect.Array && n != v.Len() {
		d.fail(node, "%s: found %d values, expected %d", path, n, v.Len())
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	}
	for i, item := range sequence.Values {
		d.value(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

// scalar decodes text, numbers and booleans. It accepts only a node of the matching type.
func (d *decoder) scalar(node ast.Node, v reflect.Value, path string) {
	switch kind := v.Kind(); {
	case kind == reflect.String && node.Type() != ast.StringType && node.Type() != ast.LiteralType:
		d.mismatch(node, path, "text; put it in quotes if it looks like something else")
	case kind == reflect.Bool && node.Type() != ast.BoolType:
		d.mismatch(node, path, "true or false")
	case v.CanInt() || v.CanUint():
		if !wholeNumber(node) {
			d.mismatch(node, path, "a whole number")
			return
		}
		d.library(node, v, path)
	case v.CanFloat() && !finiteNumber(node):
		d.mismatch(node, path, "a finite number")
	default:
		d.library(node, v, path)
	}
}

// duration decodes text such as 500ms.
func (d *decoder) duration(node ast.Node, dst *time.Duration, path string) {
	text, ok := node.(*ast.StringNode)
	if ok {
		parsed, err := time.ParseDuration(text.Value)
		if ok = err == nil; ok {
			*dst = parsed
		}
	}
	if !ok {
		d.mismatch(node, path, "a duration with its unit, such as 500ms or 3s")
	}
}

// component decodes {kind: options} or a kind alone. It only stores the options, which the constructor of the kind decodes later.
func (d *decoder) component(node ast.Node, dst *Component, path string) {
	if text, ok := node.(*ast.StringNode); ok && text.Value != "" {
		*dst = Component{Kind: text.Value, file: d.file, path: join(path, text.Value)}
		return
	}
	entries, ok := entriesOf(node)
	if !ok || len(entries) != 1 {
		d.mismatch(node, path, "one kind with its options, {kind: {option: value}}, or the kind alone")
		return
	}
	kind, options := keyOf(entries[0]), entries[0].Value
	switch options.Type() {
	case ast.NullType:
		options = nil
	case ast.MappingType:
	default:
		d.mismatch(options, join(path, kind), "its options as a map, {option: value}")
		return
	}
	*dst = Component{Kind: kind, node: options, file: d.file, path: join(path, kind)}
}

// preprocess decodes the word "model" or a list of steps.
func (d *decoder) preprocess(node ast.Node, dst *Preprocess, path string) {
	if text, ok := node.(*ast.StringNode); ok && text.Value == "model" {
		*dst = nil
		return
	}
	if _, ok := node.(*ast.SequenceNode); !ok {
		d.mismatch(node, path, `"model", or a list of steps`)
		return
	}
	var steps []Component
	d.list(node, reflect.ValueOf(&steps).Elem(), path)
	*dst = steps
}

// library converts the value with the YAML library, and keeps one line of its error.
func (d *decoder) library(node ast.Node, v reflect.Value, path string) {
	err := yaml.NodeToValue(node, v.Addr().Interface())
	if err == nil {
		return
	}
	var overflow *yaml.OverflowError
	if errors.As(err, &overflow) {
		d.mismatch(node, path, "a number that fits "+overflow.DstType.String())
		return
	}
	var e yaml.Error
	if errors.As(err, &e) {
		d.fail(node, "%s: found %s: %s", path, describe(node), e.GetMessage())
		return
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	d.fail(node, "%s: found %s: %s", path, describe(node), text)
}

// entriesOf returns the entries of a map node.
func entriesOf(node ast.Node) ([]*ast.MappingValueNode, bool) {
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		return nil, false
	}
	return mapping.Values, true
}

// keyOf returns an entry's key as text.
func keyOf(entry *ast.MappingValueNode) string {
	if t := entry.Key.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// fieldNamed returns the field with key in its yaml tag, in struct v or in a struct embedded in v.
func fieldNamed(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if embeds(v.Type().Field(i)) {
			if field, ok := fieldNamed(v.Field(i), key); ok {
				return field, true
			}
		}
		if name := tagOf(v.Type().Field(i)); name != "" && name == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// keysOf returns the keys of a struct, sorted.
func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if embeds(t.Field(i)) {
			keys = append(keys, keysOf(t.Field(i).Type)...)
		}
		if name := tagOf(t.Field(i)); name != "" {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys
}

// embeds reports whether a field is an embedded struct, whose keys count as keys of its parent.
func embeds(field reflect.StructField) bool {
	return field.Anonymous && field.Type.Kind() == reflect.Struct
}

// tagOf returns a field's key, or "" if the field has no key.
func tagOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	if name == "-" || !field.IsExported() {
		return ""
	}
	return name
}

// wholeNumber accepts 100 and 1e2, not 1.5.
func wholeNumber(node ast.Node) bool {
	if node.Type() == ast.IntegerType {
		return true
	}
	x, ok := floatOf(node)
	return ok && x == math.Trunc(x) && math.Abs(x) < 1<<53
}

// finiteNumber accepts every number but infinities and NaN.
func finiteNumber(node ast.Node) bool {
	x, ok := floatOf(node)
	return node.Type() == ast.IntegerType || ok && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// floatOf returns the value of a number with a point or an exponent. The library parses 1e-3, which has no point, as text.
func floatOf(node ast.Node) (float64, bool) {
	switch n := node.(type) {
	case *ast.FloatNode:
		return n.Value, true
	case *ast.StringNode:
		x, err := strconv.ParseFloat(n.Value, 64)
		return x, err == nil && n.Token.Type == token.StringType && strings.ContainsAny(n.Value, "eE")
	}
	return 0, false
}

// describe describes a node for an error: its value, shortened, or its type if it is not a scalar.
func describe(node ast.Node) string {
	switch node.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a map"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "nothing"
	}
	value := node.GetToken().Value
	if len(value) > 40 {
		value = value[:40] + "..."
	}
	return strconv.Quote(value)
}

// join appends key to path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// pathOr returns path, or absent if path is empty.
func pathOr(path, absent string) string {
	if path == "" {
		return absent
	}
	return path
}
