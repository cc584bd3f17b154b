package house

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// The largest lengths of files that a reader can still keep in mind.
const (
	maxLines     = 500
	maxMainLines = 80
)

// topLevel lists everything that the top level may contain besides dotfiles.
var topLevel = []string{
	"CHANGELOG.md", "LICENSE", "Makefile", "README.md", "clients", "cmd", "configs", "docs", "go.mod", "go.sum",
	"infer", "ingest", "internal", "online", "preprocess", "sinks",
}

// vague lists package names that do not describe the content.
var vague = []string{"util", "utils", "common", "manager", "helper", "helpers", "misc", "base", "types"}

func TestTopLevel(t *testing.T) {
	command := exec.Command("git", "ls-files")
	command.Dir = root
	out, err := command.Output()
	if err != nil || len(out) == 0 {
		t.Skip("not a git checkout with tracked files: what lies at the top level may be anybody's")
	}
	found := map[string]bool{}
	for path := range strings.Lines(string(out)) {
		first, _, _ := strings.Cut(strings.TrimSpace(path), "/")
		found[first] = true
	}
	for name := range found {
		if !strings.HasPrefix(name, ".") && !slices.Contains(topLevel, name) {
			t.Errorf("%s lies at the top level, which holds only %v and dotfiles", name, topLevel)
		}
	}
	for _, name := range topLevel {
		if !found[name] {
			t.Errorf("%s is missing at the top level", name)
		}
	}
}

func TestFiles(t *testing.T) {
	suite.Calculation(t)
	files := goFiles(t)
	if len(files) < 10 {
		t.Fatalf("found %d Go files, expected the whole house", len(files))
	}
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, path)
		lines := bytes.Count(source, []byte("\n"))
		if lines > maxLines {
			t.Errorf("%s: %d lines, at most %d: split it by what it does", name, lines, maxLines)
		}
		if name == filepath.Join("cmd", "driftscope", "main.go") && lines >= maxMainLines {
			t.Errorf("%s: %d lines, fewer than %d: it only wires", name, lines, maxMainLines)
		}
		if formatted, err := format.Source(source); err != nil || !bytes.Equal(formatted, source) {
			t.Errorf("%s: not formatted (%v): run gofmt -w on it", name, err)
		}
		checkSyntax(t, name, source)
	}
}

// checkSyntax checks the rules for one file that need its syntax tree.
func checkSyntax(t *testing.T, name string, source []byte) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	if slices.Contains(vague, file.Name.Name) {
		t.Errorf("%s: package %s says nothing about what is in it: name the thing", name, file.Name.Name)
	}
	test := strings.HasSuffix(name, "_test.go")
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			t.Errorf("%s: init function: nothing happens by being imported; use the kind table or a constructor", set.Position(f.Pos()))
		}
		if test {
			continue
		}
		for _, n := range undocumented(declaration) {
			t.Errorf("%s: exported %s has no comment: say what the code cannot", set.Position(n.Pos()), n.Name)
		}
	}
}

// undocumented returns the exported names of a declaration without a comment. Methods of unexported types, and methods that only implement error or
// fmt.Stringer, need no comment.
func undocumented(declaration ast.Decl) []*ast.Ident {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		plain := slices.Contains([]string{"Error", "Unwrap", "String"}, d.Name.Name)
		if d.Doc == nil && d.Name.IsExported() && receiverExported(d) && !plain {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil && d.Lparen.IsValid() && d.Tok != token.TYPE {
			return nil // one comment for a group of values
		}
		var names []*ast.Ident
		for _, spec := range d.Specs {
			names = append(names, undocumentedSpec(d, spec)...)
		}
		return names
	}
	return nil
}

func undocumentedSpec(d *ast.GenDecl, spec ast.Spec) []*ast.Ident {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
			return []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		if s.Doc == nil && s.Comment == nil && d.Doc == nil {
			return slices.DeleteFunc(slices.Clone(s.Names), func(n *ast.Ident) bool { return !n.IsExported() })
		}
	}
	return nil
}

func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// TestPackageComments expects one package comment per package, so that go doc has a first sentence.
func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		folder := filepath.Dir(path)
		documented[folder] = documented[folder] || file.Doc != nil
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("%s: no file has a package comment", folder)
		}
	}
}

// goFiles returns every Go file of the project.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && path != root
		if entry.IsDir() && (hidden || entry.Name() == "testdata" || entry.Name() == "bin" || entry.Name() == "out") {
			return filepath.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestForbiddenCalls finds calls into gocv v0.31.0 that corrupt memory, as docs/decisions/0001-gocv-0.31.0.md explains.
func TestForbiddenCalls(t *testing.T) {
	for _, path := range goFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("gocv."+"MinMaxIdx(")) {
			t.Errorf("%s calls gocv's MinMaxIdx, which writes beyond its result: use MinMaxLoc", path)
		}
	}
}

// renames lists the source files that may rename files without a sync, with the reasons. All others must use internal/kit/system.
var renames = map[string]string{
	"internal/kit/system/atomicfile.go": "it syncs",
	"ingest/zarr/writer.go":             "frames of a recording: a sync for each is slower than a camera, and the page on recordings tells so",
	"ingest/sim/record.go":              "a folder of drawn pictures, which the same command draws again",
	"sinks/spool/position.go":           "a hint in two copies with checksums, beside what the server says; a frame may wait for it",
}

// rehearsals lists folders whose files only serve a test, or can be written again by make schemas.
var rehearsals = []string{"ingest/ingesttest/", "internal/flow/bus/bustest/", "internal/job/jobtest/", "cmd/driftlab/internal/soak/", "internal/suite/", "sinks/schemas/"}

// TestRenames: files that must survive a power cut are written with internal/kit/system, which syncs file and folder.
func TestRenames(t *testing.T) {
	for _, path := range goFiles(t) {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		rehearsal := slices.ContainsFunc(rehearsals, func(folder string) bool { return strings.HasPrefix(name, folder) })
		if _, known := renames[name]; known || rehearsal || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"os." + "Rename(", "os." + "CreateTemp(", "os." + "WriteFile("} {
			if bytes.Contains(text, []byte(call)) {
				t.Errorf("%s calls %s...): a power cut may take the file: use internal/kit/system", name, call)
			}
		}
	}
}
