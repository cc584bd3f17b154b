package console

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// tree is a program with all features of the real one: arguments, flags with choices, defaults and short names, sub-commands, hidden commands.
func tree(t *testing.T) *kong.Kong {
	t.Helper()
	var grammar struct {
		Run struct {
			Source string `arg:"" help:"The source."`
			Mode   string `enum:"latest,lossless" default:"latest" help:"Don't lose: ${enum}."`
			Stay   bool   `short:"s" help:"Keep it."`
			Secret bool   `hidden:"" help:"Not for people."`
		} `cmd:"" help:"Track a source."`
		Bench struct {
			Frames struct {
				Runs int `default:"3" help:".How often, back\\slash."`
			} `cmd:"" help:"The frame path."`
		} `cmd:"" help:"Measure."`
		Capture struct{} `cmd:"" hidden:"" help:"Not for people."`
	}
	k, err := kong.New(&grammar, kong.Name("driftscope"), kong.Description("Follow a feed."))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestPage(t *testing.T) {
	k := tree(t)
	var out bytes.Buffer
	if err := write(&out, k.Model.Node, k.Model.Help); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{`.TH DRIFTSCOPE 1`, `driftscope \- follow a feed`, `.SS driftscope run <source>`, `\fB\-\-mode=`, `\fB\-s, \-\-stay\fR`, `\&.How often, back\eslash. Default: 3.`, `.SS driftscope bench frames`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, hidden := range []string{"secret", "capture"} {
		if strings.Contains(page, hidden) {
			t.Errorf("the page names %s, which is hidden", hidden)
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		return // warnings are checked only if the program is installed
	}
	c := exec.Command("groff", "-man", "-Tutf8", "-ww", "-z")
	c.Stdin = strings.NewReader(page)
	if said, err := c.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("groff: %v\n%s", err, said)
	}
}

// TestBash makes bash complete lines as if a user typed them.
func TestBash(t *testing.T) {
	script := completion(t, "bash")
	for line, want := range map[string][]string{
		"driftscope ":                  {"run", "bench", "--help"},
		"driftscope r":                 {"run"},
		"driftscope run --m":           {"--mode"},
		"driftscope run --mode l":      {"latest", "lossless"},
		"driftscope run film --stay -": {"--help", "--mode", "--stay"},
		"driftscope bench ":            {"frames", "--help"},
		"driftscope bench frames --r":  {"--runs"},
	} {
		words := strings.Split(line, " ")
		array := ""
		for _, w := range words {
			array += " '" + w + "'"
		}
		out, err := exec.Command("bash", "-c", script+"\nCOMP_WORDS=("+array+")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_driftscope\nprintf '%s\\n' \"${COMPREPLY[@]}\"").CombinedOutput()
		got := strings.Fields(string(out))
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %q, expected %q", line, err, got, want)
		}
	}
}

// TestOtherShells: the scripts for zsh and fish contain every command. If the shell is installed, it has to parse the script.
func TestOtherShells(t *testing.T) {
	for _, shell := range []string{"zsh", "fish"} {
		script := completion(t, shell)
		for _, want := range []string{"run", "frames", "mode", "Don’t lose"} {
			if !strings.Contains(script, want) {
				t.Errorf("%s is not told of %s:\n%s", shell, want, script)
			}
		}
		if strings.Contains(script, "capture") {
			t.Errorf("%s is told of a hidden command", shell)
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		c := exec.Command(shell, "-n", "/dev/stdin")
		c.Stdin = strings.NewReader(script)
		if said, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, said)
		}
	}
}

func completion(t *testing.T, shell string) string {
	t.Helper()
	var out bytes.Buffer
	if err := complete(&out, shell, tree(t).Model.Node); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
