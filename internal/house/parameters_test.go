package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// mostParameters is the largest number of parameters of a function. A context counts, the receiver does not. Parameters that belong together should be a named
// type.
const mostParameters = 5

// longCalls lists the functions that may have more parameters, by file, with the reasons.
var longCalls = map[string]string{
	"infer/sdevae/dnnl/native.go run":       "the arguments of a C kernel",
	"infer/sdevae/dnnl/native.go correlate": "the arguments of a C kernel",
}

func TestParameters(t *testing.T) {
	found := map[string]bool{}
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, long := range longFunctions(file) {
			key := filepath.ToSlash(name) + " " + long.name
			found[key] = true
			if longCalls[key] == "" {
				t.Errorf("%s: %s takes %d parameters, at most %d: give what belongs together a type", set.Position(long.at), long.name, long.parameters, mostParameters)
			}
		}
	}
	for key, reason := range longCalls {
		if !found[key] {
			t.Errorf("%s (%s) takes at most %d parameters or is gone: drop it from the list", key, reason, mostParameters)
		}
	}
}

// longFunction is a function, an interface method or an anonymous function with too many parameters.
type longFunction struct {
	name       string // name of the declaration that contains it
	at         token.Pos
	parameters int
}

func longFunctions(file *ast.File) []longFunction {
	var long []longFunction
	for _, declaration := range file.Decls {
		name := "a function"
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			name = d.Name.Name
		case *ast.GenDecl:
			if len(d.Specs) > 0 {
				if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
					name = s.Name.Name
				}
			}
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncType); ok && f.Params.NumFields() > mostParameters {
				long = append(long, longFunction{name, f.Pos(), f.Params.NumFields()})
			}
			return true
		})
	}
	return long
}

func TestLongFunctions(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
func five(a, b, c, d, e int) {}
func (r receiver) six(a, b, c int, d, e, f string) { _ = func(a, b, c, d, e, f int) {} }
type caller interface { call(a, b, c, d, e, f, g int) }
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range longFunctions(file) {
		found = append(found, fmt.Sprint(f.name, f.parameters))
	}
	if got := strings.Join(found, " "); got != "six6 six6 caller7" {
		t.Errorf("found %s, expected six and the function in it, and caller's method", got)
	}
}
