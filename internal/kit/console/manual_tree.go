package console

import (
	"strings"

	"github.com/alecthomas/kong"
)

// command is one that a person can type, with its path behind the program's name: "bench frames", "" for the program.
type command struct {
	path string
	node *kong.Node
	subs []*kong.Node // those a person sees
}

// commands are the program and all below it, parents first, in the order of the help.
func commands(root *kong.Node) []command {
	var all []command
	var walk func(path string, n *kong.Node)
	walk = func(path string, n *kong.Node) {
		c := command{path: path, node: n}
		for _, child := range n.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				c.subs = append(c.subs, child)
			}
		}
		all = append(all, c)
		for _, child := range c.subs {
			walk(strings.TrimSpace(path+" "+child.Name), child)
		}
	}
	walk("", root)
	return all
}

// flags are those a person sees.
func (c command) flags() []*kong.Flag {
	var seen []*kong.Flag
	for _, f := range c.node.Flags {
		if !f.Hidden {
			seen = append(seen, f)
		}
	}
	return seen
}

// choices are the words that a flag takes, where they are listed.
func choices(f *kong.Flag) []string {
	if f.Enum == "" {
		return nil
	}
	return f.EnumSlice()
}
