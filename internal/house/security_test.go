package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testName   = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	testHeader = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
)

// TestSecurityTable: every row of docs/reference/security.md names the tests that hold it, and they exist. The rows that internal/flow/rights generates
// need no name: TestRights tries them all.
func TestSecurityTable(t *testing.T) {
	root := filepath.Join("..", "..")
	there := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testHeader.FindAllSubmatch(text, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "reference", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, generated := 0, false
	for line := range strings.Lines(string(text)) {
		named := testName.FindAllStringSubmatch(line, -1)
		for _, m := range named {
			if !there[m[1]] {
				t.Errorf("docs/reference/security.md names %s, and there is no such test: correct the name", m[1])
			}
		}
		generated = (generated || strings.Contains(line, "rights: begin")) && !strings.Contains(line, "rights: end")
		row := !generated && strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|---") && !strings.Contains(line, "held by |")
		if row {
			rows++
		}
		if row && len(named) == 0 {
			t.Errorf("no test is named by the row %.80q: name the one that holds it", line)
		}
	}
	if rows < 15 {
		t.Errorf("found %d rows, expected the whole table", rows)
	}
}
