package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// arguments returns the arguments of go test that run only the long tests under a folder, which call suite.Long or testing.Short: -run, a pattern of their
// names, and their packages. A short test of the same name in one of these packages runs once more.
func arguments(root string) ([]string, error) {
	var names, packages []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		found, err := long(path)
		if len(found) > 0 {
			names = append(names, found...)
			packages = append(packages, "./"+filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: found no long test: run the command in the folder of go.mod", root)
	}
	slices.Sort(names)
	slices.Sort(packages)
	run := "-run=^(" + strings.Join(slices.Compact(names), "|") + ")$"
	return append([]string{run}, slices.Compact(packages)...), nil
}

// long returns the names of a file's long tests.
func long(path string) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Body == nil || !asks(f.Body) {
			continue
		}
		switch name := f.Name.Name; {
		case strings.HasPrefix(name, "Test"):
			names = append(names, name)
		case !strings.HasPrefix(name, "Benchmark"):
			return nil, fmt.Errorf("%s: %s asks whether tests are short, and is no test itself: let the tests that call it begin with suite.Long(t)", files.Position(f.Pos()), name)
		}
	}
	return names, nil
}

// asks reports whether a function body calls suite.Long or testing.Short.
func asks(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			if x, is := s.X.(*ast.Ident); is {
				found = found || x.Name == "suite" && s.Sel.Name == "Long" || x.Name == "testing" && s.Sel.Name == "Short"
			}
		}
		return true
	})
	return found
}
