package infer

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTheAllowedOperatorsAreDocumented: docs/reference/models.md lists exactly the allowed operators, with their rules.
func TestTheAllowedOperatorsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| operator | inputs | attributes |\n|---|---|---|\n")
	table, _, closed := strings.Cut(table, "\n\n")
	if !found || !closed {
		t.Fatal("docs/reference/models.md has no table of operators")
	}
	var rules, want []string // operators with the same rules share a row
	names := map[string][]string{}
	for _, name := range strings.Split(allowedNames(), ", ") {
		rule := fmt.Sprintf("%s | %s", allowed[name].inputs, described(allowed[name].attributes))
		if names[rule] == nil {
			rules = append(rules, rule)
		}
		names[rule] = append(names[rule], "`"+name+"`")
	}
	for _, rule := range rules {
		want = append(want, fmt.Sprintf("| %s | %s |", strings.Join(names[rule], ", "), rule))
	}
	if got := strings.Split(table, "\n"); !slices.Equal(got, want) {
		t.Errorf("docs/reference/models.md lists\n%s\nexpected\n%s", table, strings.Join(want, "\n"))
	}
}

// described formats rules as on the page.
func described(rules map[string]rule) string {
	var parts []string
	for name, r := range rules {
		parts = append(parts, "`"+name+"` "+r.described())
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func (r rule) described() string {
	between := fmt.Sprintf("%g to %g", r.low, r.high)
	switch {
	case r.form == formTensor:
		return "a tensor"
	case r.form == formText:
		return strings.Join(r.words, " or ")
	case math.Abs(r.high) >= math.MaxFloat32 && r.form == formFloat:
		between = "any number"
	case r.high >= math.MaxInt64:
		between = "any integers"
	case r.high == maxDim:
		between = fmt.Sprintf("%g or more", r.low)
	case r.low == r.high:
		between = fmt.Sprint(r.low)
	case name(r) != "":
		between = name(r)
	}
	if r.form != formInts || r.high >= math.MaxInt64 {
		return between
	}
	if r.count > 0 {
		return fmt.Sprintf("%d of %s", r.count, between)
	}
	return "each " + between
}

// name returns the description of a rule for axes.
func name(r rule) string {
	if r.low == -maxRank && r.high == maxRank-1 {
		return "an axis, from the end below 0"
	}
	return ""
}
