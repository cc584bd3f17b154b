package console

import (
	"strings"

	"github.com/alecthomas/kong"
)

// command is a visible command. Its path omits the program's name: "bench frames", or "" for the program.
type command struct {
	path string
	node *kong.Node
	subs []*kong.Node // without hidden ones
}

// commands returns the program and all commands below it, parents first, in the order of the help.
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

// flags returns the visible flags.
func (c command) flags() []*kong.Flag {
	var seen []*kong.Flag
	for _, f := range c.node.Flags {
		if !f.Hidden {
			seen = append(seen, f)
		}
	}
	return seen
}

// choices returns the allowed values of a flag, if they are listed.
func choices(f *kong.Flag) []string {
	if f.Enum == "" {
		return nil
	}
	return f.EnumSlice()
}
