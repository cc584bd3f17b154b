package exit

import (
	"errors"
	"strings"

	"github.com/alecthomas/kong"
)

// mistaken is the command that was used wrongly, as it was typed, as far as it is known.
func mistaken(program string, err error) string {
	var at *kong.ParseError
	if errors.As(err, &at) && at.Context.Selected() != nil {
		return at.Context.Selected().FullPath()
	}
	return program
}

// withDefault is a flag's help, with the default that kong leaves out where there is a placeholder.
func withDefault(v *kong.Value) string {
	help := kong.DefaultHelpValueFormatter(v)
	if v.Flag == nil || v.Flag.PlaceHolder == "" || v.Default == "" {
		return help
	}
	return strings.TrimSuffix(help, ".") + "; " + v.Default + " unless given."
}
