package console

import (
	"errors"

	"github.com/alecthomas/kong"
)

// mistaken returns the misused command as typed, if it is known, or the program's name.
func mistaken(program string, err error) string {
	var at *kong.ParseError
	if errors.As(err, &at) && at.Context.Selected() != nil {
		return at.Context.Selected().FullPath()
	}
	return program
}

// withDefault returns a flag's help with its default, which kong leaves out for a flag with a placeholder.
func withDefault(v *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(v)
	if v.Flag == nil || v.Flag.PlaceHolder == "" || v.Default == "" {
		return help
	}
	return help + " Default: " + v.Default + "."
}
