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

// comments are those of struct fields, by Struct.name, where name is the field's in JSON.
type comments map[string]string

// carried are the structs whose fields a record repeats, and leaves the explaining to.
var carried = map[string]string{"LatentRecord": "Latent", "TriggerRecord": "Trigger", "SDERecord": "SDE", "FieldRecord": "Field", "UnitsRecord": "Units"}

// readComments reads the Go files of some folders.
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

// visit notes the fields of one struct.
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

// of is what is said of a field, by its own struct or by the one that it is carried from.
func (c comments) of(f field) string {
	return cmp.Or(c[f.owner+"."+f.name], c[carried[f.owner]+"."+f.name])
}
