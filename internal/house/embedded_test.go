package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestEmbedded: a struct may not embed a pointer, because the value has another owner, or a mutex, because it guards particular fields. Both need named fields.
// Embedded values, such as options and records, belong to the struct, and an interface is embedded to be decorated.
func TestEmbedded(t *testing.T) {
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
		for _, hidden := range hiddenOwners(file) {
			t.Errorf("%s: %s embeds what another owns, or a mutex: name the field", set.Position(hidden.Pos()), hidden.Name)
		}
	}
}

// hiddenOwners returns the types in a file that embed a pointer or a mutex.
func hiddenOwners(file *ast.File) []*ast.Ident {
	var owners []*ast.Ident
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range s.Fields.List {
			if len(field.Names) == 0 && hides(field.Type) {
				owners = append(owners, spec.Name)
			}
		}
		return true
	})
	return owners
}

func hides(field ast.Expr) bool {
	switch f := field.(type) {
	case *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		pkg, ok := f.X.(*ast.Ident)
		return ok && pkg.Name == "sync"
	}
	return false
}

func TestHiddenOwners(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
type lane struct { *tracker; z int }
type counters struct { sync.Mutex; n int }
type rule struct { options; condition; mu sync.Mutex; next *rule }
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if found := hiddenOwners(file); len(found) != 2 || found[0].Name != "lane" || found[1].Name != "counters" {
		t.Errorf("found %v, expected lane and counters", found)
	}
}
