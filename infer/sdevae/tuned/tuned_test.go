package tuned

import (
	"math"
	"strings"
	"testing"
)

// TestScale: numbers are multiplied and cases left out; what is neither is refused, and says what was expected.
func TestScale(t *testing.T) {
	n, c := Number("test.number", 3, "a number"), Case("test.case", "a case")
	t.Cleanup(func() { all = all[:len(all)-2] })
	for _, k := range []struct {
		change string
		number float64
		on     bool
		says   string
	}{
		{"test.number=0.5", 1.5, true, ""},
		{"test.case=0", 3, false, ""},
		{"test.case=2", 3, true, "0 of a case"},
		{"test.number=0", 3, true, "expected test.number=FACTOR"},
		{"test.number=nan", 3, true, "expected test.number=FACTOR"},
		{"test.number=1e9", 3, true, "expected test.number=FACTOR"},
		{"test.number", 3, true, "expected test.number=FACTOR"},
		{"no.such=2", 3, true, "tuned-numbers.md"},
	} {
		n.factor, c.factor = 1, 1
		err := Scale([]string{k.change})
		if (err == nil) != (k.says == "") || err != nil && !strings.Contains(err.Error(), k.says) {
			t.Errorf("%s: %v, expected %q", k.change, err, k.says)
		}
		if n.Value() != k.number || c.On() != k.on {
			t.Errorf("%s: the number is %g and the case %v, expected %g and %v", k.change, n.Value(), c.On(), k.number, k.on)
		}
	}
	n.factor = 0.1
	if got := n.Count(); got != 1 {
		t.Errorf("a third of a thing is %d things, expected 1", got)
	}
}

// TestAsked: a constant is asked for once its value was taken, and not before.
func TestAsked(t *testing.T) {
	n := Number("test.asked", 1, "a number")
	t.Cleanup(func() { all = all[:len(all)-1] })
	if n.Asked() {
		t.Error("it is asked for before anybody did")
	}
	if math.IsNaN(n.Value()) || !n.Asked() {
		t.Error("it is not asked for though its value was taken")
	}
}
