package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// briefHelp fits the program's --help on one screen.
var briefHelp = []kong.Option{kong.Help(help)}

// help prints one line per command, by group; kong prints a command's own help.
func help(o kong.HelpOptions, k *kong.Context) error {
	if k.Selected() != nil {
		return kong.DefaultHelpPrinter(o, k)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s COMMAND. %[1]s COMMAND --help lists its flags.\n", k.Model.Name)
	group := ""
	for _, c := range k.Model.Children {
		if c.Hidden {
			continue
		}
		title := ""
		if c.Group != nil && c.Group.Title != group {
			title = c.Group.Title
			group = title
		}
		fmt.Fprintf(&b, "%-9s %-10s %s\n", title, c.Name, c.Help)
	}
	_, err := fmt.Fprint(k.Stdout, b.String())
	return err
}
