package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// briefHelp has --help of the program itself fit on one screen.
var briefHelp = []kong.Option{kong.Help(help)}

// help prints a line a command, by group; a command's own help is kong's.
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
