package sdevae

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostNumbers is how many tuned numbers there may be: whoever wants another finds one that is not needed.
const mostNumbers = 40

// judged are the comments of the training's code that say "tuned NAME: reason" beside a number, and "case NAME: reason" where a case is told.
var judged = regexp.MustCompile(`(?m)^\s*(?:const |[a-z])?.*?(?:= (\S+) +)?// (tuned|case) ([a-z]\w*\.[\w.]+): (.+)$`)

// TestTunedNumbersPage: the page lists every number and case with its reason. TUNED_NUMBERS=write writes it anew.
func TestTunedNumbersPage(t *testing.T) {
	const path = "../../docs/reference/tuned-numbers.md"
	rows := map[string][]string{}
	sources(t, func(_, file string) error {
		text, err := os.ReadFile(file)
		for _, m := range judged.FindAllStringSubmatch(string(text), -1) {
			row := fmt.Sprintf("| `%s` | %s |\n", m[3], m[4])
			if m[2] == "tuned" {
				v, err := strconv.ParseFloat(m[1], 64)
				if err != nil {
					t.Errorf("%s: %s: %v, expected a number before the comment", file, m[3], err)
				}
				row = fmt.Sprintf("| `%s` | %g | %s |\n", m[3], v, m[4])
			}
			rows[m[2]] = append(rows[m[2]], row)
		}
		return err
	})
	for _, all := range rows {
		slices.SortFunc(all, func(a, b string) int { return strings.Compare(strings.Split(a, "`")[1], strings.Split(b, "`")[1]) })
	}
	n := len(rows["tuned"])
	if n > mostNumbers || n < mostNumbers/2 {
		t.Errorf("%d tuned numbers, expected %d at most, and most of them: find one that is not needed", n, mostNumbers)
	}
	page := fmt.Sprintf("# Tuned numbers\n\n`pretrain` uses %d numbers that were set by judgement, and some optional cases. "+
		"Leaving out the case `locate.background` changed nothing on one film ([study](../lab/2026-11-25-ablation.md)). No other number or case was tested by changing it.\n\n"+
		"Numbers that only cost time, guard the arithmetic or define a term are constants, listed in `infer/sdevae/constants.txt`.\n\n"+
		"## Numbers\n\n| name | value | reason |\n|---|---|---|\n%s\n## Cases\n\n| name | meaning |\n|---|---|\n%s", n, strings.Join(rows["tuned"], ""), strings.Join(rows["case"], ""))
	if os.Getenv("TUNED_NUMBERS") == "write" {
		if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(found) != page {
		t.Errorf("%s is not what the code says: TUNED_NUMBERS=write go test ./infer/sdevae -run TestTunedNumbersPage writes it anew", path)
	}
}

// TestConstants: every constant with a number in it is listed as no tuned number, with why it is none. The kernels' own (package dnnl) are shapes.
func TestConstants(t *testing.T) {
	kinds := []string{"budget", "start", "guard", "definition", "level"}
	var listed []string
	f, err := os.Open("constants.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, kind, _ := strings.Cut(lines.Text(), " "); name != "#" {
			if listed = append(listed, name); !slices.Contains(kinds, kind) {
				t.Errorf("constants.txt: %s is %q, expected one of %v", name, kind, kinds)
			}
		}
	}
	found := constants(t)
	if len(found) < 50 {
		t.Fatalf("found %d constants, expected the whole tree's", len(found))
	}
	for _, name := range found {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is a constant that constants.txt does not list: say there why it is no tuned number, or make it one", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(found, name) {
			t.Errorf("constants.txt lists %s, which the code no longer has", name)
		}
	}
}

// sources visits the files of the training's code, each with the name of its folder. The kernels' own (package dnnl) are shapes.
func sources(t *testing.T, visit func(room, file string) error) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		room := filepath.Base(filepath.Dir(path))
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || slices.Contains([]string{"dnnl", "sdevaetest"}, room) {
			return err
		}
		return visit(room, path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// constants are the names of those with a number in their value that are not tuned, each behind its package's.
func constants(t *testing.T) (names []string) {
	sources(t, func(_, path string) error {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					if v := s.(*ast.ValueSpec); !strings.HasPrefix(v.Comment.Text(), "tuned ") {
						names = append(names, numbered(file.Name.Name, v)...)
					}
				}
			}
			return true
		})
		return nil
	})
	return names
}

// numbered are the names of a constant declaration whose values have a number in them.
func numbered(room string, v *ast.ValueSpec) (names []string) {
	for i, value := range v.Values {
		ast.Inspect(value, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if ok && l.Kind != token.STRING && !slices.Contains(names, room+"."+v.Names[i].Name) {
				names = append(names, room+"."+v.Names[i].Name)
			}
			return true
		})
	}
	return names
}
