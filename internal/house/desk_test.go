package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// TestDeskCommands: a build without OpenCV has every command of the full build. It refuses the commands that it cannot execute by their names.
func TestDeskCommands(t *testing.T) {
	whole, desk := commandsOf(t, "commands.go"), commandsOf(t, "commands_go.go")
	if len(whole) < 10 {
		t.Fatalf("found %d commands", len(whole))
	}
	for name, help := range whole {
		there, found := desk[name]
		rest, lacking := strings.CutPrefix(there, "Not in this build: ")
		switch {
		case !found:
			t.Errorf("%s is not in commands_go.go: add it, as lackingCmd where it needs OpenCV", name)
		case lacking && !strings.EqualFold(rest, help), !lacking && there != help:
			t.Errorf("%s: commands_go.go says %q, commands.go %q", name, there, help)
		}
	}
	for name := range desk {
		if _, found := whole[name]; !found {
			t.Errorf("%s is in commands_go.go alone", name)
		}
	}
}

// commandsOf returns the help texts of the fields of the struct commands, without hidden ones.
func commandsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "cmd/driftscope", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		of, ok := n.(*ast.TypeSpec)
		if !ok || of.Name.Name != "commands" {
			return true
		}
		for _, field := range of.Type.(*ast.StructType).Fields.List {
			text, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			tag := reflect.StructTag(text)
			if _, hidden := tag.Lookup("hidden"); !hidden {
				found[field.Names[0].Name] = tag.Get("help")
			}
		}
		return false
	})
	return found
}

// TestDesks: the program builds without cgo for the platform that is most unlike this one. make desks builds all six.
func TestDesks(t *testing.T) {
	suite.Long(t)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "./cmd/driftscope")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestDesksAskForNothing: the Makefile must override GOFLAGS for desks. GOFLAGS makes programs position-independent, and such a program for Linux without cgo
// would need glibc's loader.
func TestDesksAskForNothing(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "CGO_ENABLED=0 GOOS=") {
			continue
		}
		found++
		if !strings.Contains(line, "go build -buildmode=default ") {
			t.Errorf("the Makefile builds a desk's program in the mode of GOFLAGS, expected -buildmode=default: %s", line)
		}
	}
	if found != 2 {
		t.Errorf("%d lines of the Makefile build programs of desks, expected those of desks and of dist", found)
	}
}
