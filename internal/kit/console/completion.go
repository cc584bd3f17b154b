package console

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is the sub-command that prints the shell completion script.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// Help explains how to install the script in each shell.
func (c *Completion) Help() string {
	return "The Debian package installs the scripts. Elsewhere: bash: source <(driftscope completion bash), in ~/.bashrc; " +
		"zsh: driftscope completion zsh > _driftscope in a folder of $fpath; fish: driftscope completion fish > ~/.config/fish/completions/driftscope.fish."
}

// Run prints the script.
func (c *Completion) Run(k *kong.Kong) error { return complete(os.Stdout, c.Shell, k.Model.Node) }

func complete(w io.Writer, shell string, root *kong.Node) error {
	all := commands(root)
	text := ""
	switch shell {
	case "bash":
		text = bash(root.Name, all)
	case "zsh":
		text = zsh(root.Name, all)
	case "fish":
		text = fish(root.Name, all)
	}
	_, err := io.WriteString(w, text)
	return err
}

// bash returns the script for bash. It follows the typed words through the tree of commands, and completes all other words as files.
func bash(name string, all []command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# bash completion for %s\n_%[1]s() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= i words=\n", name)
	b.WriteString("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase \"$at/${COMP_WORDS[i]}\" in\n")
	fmt.Fprintf(&b, "\t\t%s) at=$at/${COMP_WORDS[i]} ;;\n\t\tesac\n\tdone\n", strings.Join(paths(all), " | "))
	b.WriteString("\tcase \"$at $prev\" in\n")
	for _, c := range all {
		for _, f := range c.flags() {
			if words := choices(f); len(words) > 0 {
				fmt.Fprintf(&b, "\t\"%s --%s\") COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", slashed(c.path), f.Name, strings.Join(words, " "))
			}
		}
	}
	b.WriteString("\tesac\n\tcase $at in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\t'%s') words='%s' ;;\n", slashed(c.path), strings.Join(words(c), " "))
	}
	fmt.Fprintf(&b, "\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _%s %[1]s\n", name)
	return b.String()
}

// zsh returns the script for zsh, which also shows descriptions of commands and flags.
func zsh(name string, all []command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %s\n_%[1]s() {\n\tlocal at= i\n\tlocal -a subs flags\n\tfor ((i = 2; i < CURRENT; i++)); do\n\t\tcase \"$at/${words[i]}\" in\n", name)
	fmt.Fprintf(&b, "\t\t%s) at=$at/${words[i]} ;;\n\t\tesac\n\tdone\n\tcase $at in\n", strings.Join(paths(all), "|"))
	for _, c := range all {
		fmt.Fprintf(&b, "\t'%s')\n\t\tsubs=(%s)\n\t\tflags=(%s)\n\t\t;;\n", slashed(c.path), described(c, ""), described(c, "--"))
	}
	fmt.Fprintf(&b, "\tesac\n\tif [[ $PREFIX == -* ]]; then\n\t\t_describe -o flag flags\n\telif (( $#subs )); then\n\t\t_describe command subs\n\telse\n\t\t_files\n\tfi\n}\n_%s \"$@\"\n", name)
	return b.String()
}

// described returns a command's flags, for "--", or its sub-commands, in the form of _describe.
func described(c command, prefix string) string {
	var all []string
	add := func(word, help string) {
		all = append(all, quoted(prefix+word+":"+help))
	}
	if prefix == "" {
		for _, s := range c.subs {
			add(s.Name, s.Help)
		}
	} else {
		for _, f := range c.flags() {
			add(f.Name, f.Help)
		}
	}
	return strings.Join(all, " ")
}

// fish returns the script for fish. Its function __NAME_at finds the position of the typed words in the tree.
func fish(name string, all []command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %s\nfunction __%[1]s_at\n\tset -l at\n\tfor word in (commandline -opc)[2..-1]\n\t\tswitch \"$at/$word\"\n", name)
	fmt.Fprintf(&b, "\t\tcase %s\n\t\t\tset at $at/$word\n\t\tend\n\tend\n\ttest \"$at\" = \"$argv[1]\"\nend\n", strings.Join(paths(all), " "))
	for _, c := range all {
		at := fmt.Sprintf("complete -c %s -n '__%[1]s_at \"%s\"'", name, slashed(c.path))
		for _, s := range c.subs {
			fmt.Fprintf(&b, "%s -f -a %s -d %s\n", at, s.Name, quoted(s.Help))
		}
		for _, f := range c.flags() {
			takes := " -r"
			if f.IsBool() {
				takes = ""
			}
			if words := choices(f); len(words) > 0 {
				takes = " -x -a " + quoted(strings.Join(words, " "))
			}
			fmt.Fprintf(&b, "%s -l %s%s -d %s\n", at, f.Name, takes, quoted(f.Help))
		}
	}
	return b.String()
}

// slashed returns a command's path in the form of the scripts: /bench/frames, or "" for the program.
func slashed(path string) string {
	if path == "" {
		return ""
	}
	return "/" + strings.ReplaceAll(path, " ", "/")
}

// paths returns the slashed paths of all sub-commands.
func paths(all []command) []string {
	var found []string
	for _, c := range all[1:] {
		found = append(found, slashed(c.path))
	}
	return found
}

// words returns the words that may follow a command: its sub-commands and flags. Every command takes --help.
func words(c command) []string {
	var found []string
	for _, s := range c.subs {
		found = append(found, s.Name)
	}
	for _, f := range c.flags() {
		if f.Name != "help" {
			found = append(found, "--"+f.Name)
		}
	}
	return append(found, "--help")
}

// quoted returns text in single quotes, on one line, for all three shells. The shells escape an inner quote differently, so quoted replaces it by a typographic
// quote.
func quoted(text string) string {
	return "'" + strings.NewReplacer("'", "’", "\n", " ", `\`, "").Replace(text) + "'"
}
