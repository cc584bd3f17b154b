package console

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// Manual is the sub-command that prints the manual page for man.
type Manual struct{}

// Run prints the page.
func (Manual) Run(k *kong.Kong) error { return write(os.Stdout, k.Model.Node, k.Model.Help) }

// write writes the page of the program whose root command is root.
func write(w io.Writer, root *kong.Node, about string) error {
	var p strings.Builder
	name := root.Name
	fmt.Fprintf(&p, ".TH %s 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), name, roff(strings.ToLower(about[:1])+strings.TrimSuffix(about[1:], ".")))
	fmt.Fprintf(&p, ".SH SYNOPSIS\n.B %s\n.I COMMAND\n[\\fIFLAGS\\fR] [\\fIARGUMENTS\\fR]\n", name)
	p.WriteString(".SH COMMANDS\n")
	for _, c := range commands(root)[1:] {
		section(&p, name, c)
	}
	p.WriteString(`.SH EXIT STATUS
0 done, 1 failed while running, 2 wrong usage or configuration.
.SH FILES
.TP
.I /etc/driftscope/driftscope.yaml
what the unit driftscope.service runs
.TP
.I /usr/share/doc/driftscope
the documentation: README.md, and in docs tutorial.md; docs/howto/install.md is about the package
`)
	_, err := io.WriteString(w, p.String())
	return err
}

// section writes one command: its arguments, its purpose and its flags.
func section(p *strings.Builder, name string, c command) {
	fmt.Fprintf(p, ".SS %s\n%s\n", roff(name+" "+usage(c)), roff(c.node.Help))
	if c.node.Detail != "" {
		fmt.Fprintf(p, ".PP\n%s\n", roff(c.node.Detail))
	}
	for _, a := range c.node.Positional {
		fmt.Fprintf(p, ".TP\n\\fI%s\\fR\n%s\n", roff(a.Name), roff(a.Help))
	}
	for _, f := range c.flags() {
		if f.Name == "help" {
			continue
		}
		help := f.Help
		if f.HasDefault && f.Default != "" && !f.IsBool() {
			help += " Default: " + f.Default + "."
		}
		fmt.Fprintf(p, ".TP\n\\fB%s\\fR\n%s\n", roff(spelled(f)), roff(help))
	}
}

// usage returns a command with its arguments.
func usage(c command) string {
	words := []string{c.path}
	for _, a := range c.node.Positional {
		words = append(words, a.Summary())
	}
	if len(c.subs) > 0 {
		words = append(words, "COMMAND")
	}
	return strings.Join(words, " ")
}

// spelled returns a flag as typed.
func spelled(f *kong.Flag) string {
	text := "--" + f.Name
	if f.Short != 0 {
		text = "-" + string(f.Short) + ", " + text
	}
	if !f.IsBool() {
		text += "=" + f.FormatPlaceHolder()
	}
	return text
}

// roff returns text that troff prints unchanged, on one line of the source.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(strings.TrimSpace(text))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
