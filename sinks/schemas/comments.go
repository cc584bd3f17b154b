package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// comments maps Struct.name to the comment of that field, where name is its name in JSON.
type comments map[string]string

// carried lists records that repeat the fields of another struct. The comments of that struct also explain the fields of the record.
var carried = map[string]string{"LatentRecord": "Latent", "TriggerRecord": "Trigger", "SDERecord": "SDE", "FieldRecord": "Field", "UnitsRecord": "Units"}

// readComments reads the comments in the Go files of some folders.
func readComments(folders ...string) (comments, error) {
	c := comments{}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return c, err
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, e.Name()), nil, parser.ParseComments)
			if err != nil {
				return c, err
			}
			ast.Inspect(file, c.visit)
		}
	}
	return c, nil
}

// visit collects the fields of one struct.
func (c comments) visit(n ast.Node) bool {
	spec, ok := n.(*ast.TypeSpec)
	if !ok {
		return true
	}
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		return true
	}
	for _, f := range s.Fields.List {
		text := strings.Join(strings.Fields(f.Comment.Text()+" "+f.Doc.Text()), " ")
		if text == "" || f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		c[spec.Name.Name+"."+name] = text
	}
	return true
}

// of returns the comment of a field, from its own struct or from the struct in carried.
func (c comments) of(f field) string {
	return cmp.Or(c[f.owner+"."+f.name], c[carried[f.owner]+"."+f.name])
}
