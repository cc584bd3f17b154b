package house

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// budgetFile lists the figures that may not grow, one per line like floors.txt: NAME <= MOST WHAT.
const budgetFile = "internal/house/budget.txt"

// laboratory lists the folders with Go code that is not part of a product. A package whose name ends in test is not part of a product either, because it only
// helps tests.
var laboratory = []string{"cmd/driftlab/", "internal/house/", "internal/suite/"}

// TestBudget: no figure of the code base exceeds its record. -v prints the figures. If a figure has fallen, its record may be lowered. As with floors, a record
// may rise only with a page in docs/decisions that gives the reason.
func TestBudget(t *testing.T) {
	found := map[string]int{}
	for _, file := range goFiles(t) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		if !ofProduct(name) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(text, []byte("\n"))
		found["lines"] += lines
		if strings.HasPrefix(name, "internal/") {
			found["internal-lines"] += lines
		}
	}
	found["packages"] = len(list(t))
	for name := range kept(t, root) {
		if strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "docs/lab/") {
			found["docs-words"] += len(strings.Fields(page(t, root, name)))
		}
	}
	record := floorsIn(page(t, root, budgetFile))
	if len(record) != len(found) {
		t.Errorf("%s has %d figures, expected %d: %v", budgetFile, len(record), len(found), found)
	}
	for name, n := range found {
		most := int(record[name].value)
		t.Logf("%-14s %6d, recorded %d", name, n, most)
		switch {
		case n > most:
			t.Errorf("%s: found %d, at most %d expected: remove as much elsewhere, or raise the record in %s and write a page in docs/decisions that has `%[1]s <= %[2]d` and says what was bought",
				name, n, most, budgetFile)
		case n < most-most/50:
			t.Logf("%s has fallen: lower its record in %s to %d", name, budgetFile, n)
		}
	}
	onlyBetter(t, budgetFile)
}

// ofProduct reports whether a Go file is part of the product: not a test, and not part of the laboratory.
func ofProduct(name string) bool {
	if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(path.Base(path.Dir(name)), "test") {
		return false
	}
	for _, folder := range laboratory {
		if strings.HasPrefix(name, folder) {
			return false
		}
	}
	return true
}

func TestOfProduct(t *testing.T) {
	for name, want := range map[string]bool{
		"online/estimator.go": true, "online/estimator_test.go": false, "online/onlinetest/scene.go": false, "cmd/driftlab/main.go": false, "cmd/driftscope/main.go": true,
		"internal/suite/mats.go": false, "internal/house/doc.go": false, "internal/kit/system/worker.go": true,
	} {
		if got := ofProduct(name); got != want {
			t.Errorf("%s: found %v, expected %v", name, got, want)
		}
	}
}
