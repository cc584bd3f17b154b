package reach

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"driftscope/internal/flow/config"
)

// Make makes a stage of a kind from options that decode fills, as ingest.New does.
type Make func(kind string, decode func(dst any) error) error

// The values of the tag reaches.
const (
	nothing = "nothing"
	read    = "read"
	write   = "write"
	device  = "device"
	program = "program"
	address = "address"

	untold = "" // the option has no tag
)

// reached is an option that reaches something outside the program: a file, a device, a program or an address.
type reached struct {
	key   string // key below the kind, such as url
	what  string // value of the tag
	value string // value of the option
}

// errSeen ends a constructor once its options are known.
var errSeen = errors.New("the options are known")

// options lists the options of a component that reach something. told is false if the kind has no tag at all.
func options(c config.Component, of Make) (all []reached, told bool, err error) {
	var seen reflect.Value
	err = of(c.Kind, func(dst any) error {
		if err := c.Decode(dst); err != nil {
			return err
		}
		seen = reflect.ValueOf(dst).Elem()
		return errSeen
	})
	if !errors.Is(err, errSeen) {
		if err == nil {
			err = fmt.Errorf("%s: its options are not known", c.Kind)
		}
		return nil, false, err
	}
	all, told = fields(seen)
	written := c.Options()
	return slices.DeleteFunc(all, func(r reached) bool { // a default value is harmless, except for a device
		_, is := written[r.key]
		return !(is && r.value != "") && r.what != device
	}), told, nil
}

// fields lists the fields of an options struct that reach something.
func fields(of reflect.Value) (all []reached, told bool) {
	for i := range of.NumField() {
		field, value := of.Type().Field(i), of.Field(i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			more, says := fields(value)
			all, told = append(all, more...), told || says
			continue
		}
		what, says := field.Tag.Lookup("reaches")
		told = told || says
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case what == nothing:
		case says || !harmless(field.Type):
			all = append(all, reached{name, what, fmt.Sprint(value)})
		}
	}
	return all, told
}

// harmless reports whether a type contains only numbers, which cannot name anything to reach.
func harmless(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return harmless(t.Elem())
	case reflect.Map:
		return harmless(t.Key()) && harmless(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !harmless(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}

// declared lists the tags of a kind's options. It adds untold for a text option without the tag, and for a kind without any tag.
func declared(kind string, of Make) (all []string, err error) {
	var seen reflect.Type
	err = of(kind, func(dst any) error {
		seen = reflect.TypeOf(dst).Elem()
		return errSeen
	})
	if !errors.Is(err, errSeen) {
		return nil, fmt.Errorf("%s: its options are not known: %w", kind, err)
	}
	all = tags(seen)
	if len(all) == 0 {
		all = []string{untold}
	}
	return all, nil
}

// tags lists the tags of a type's fields, and untold for a text field without a tag.
func tags(of reflect.Type) (all []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		what, says := field.Tag.Lookup("reaches")
		switch {
		case says:
			all = append(all, what)
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			all = append(all, tags(field.Type)...)
		case !harmless(field.Type):
			all = append(all, untold)
		}
	}
	return all
}
