package population

import (
	"testing"

	"driftscope/online/motion"
)

// TestClass: of 50 places with little noise most kinds are told right, as docs/lab has them.
func TestClass(t *testing.T) {
	cells, err := class(&bench{ctx: t.Context(), runs: 1, seed: 1, most: 500})
	if err != nil || len(cells) != 48 { // 20 and 50 places, two noises, known or not, six kinds
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	for i := range cells {
		c := &cells[i]
		if easy := c.Frames == 50 && c.R == 0.1 && c.Law != "anomalous 0.5"; easy && *c.Right < 0.5 { // 0.82 and more of many; of ten five or fewer once in 100
			t.Errorf("%s, known %v: %.2f right", c.Law, c.Known, *c.Right)
		}
		if (c.Instead == "") != (*c.Right > 1-1e-9) || c.Instead != "" && *c.Wrongly > 1-*c.Right+1e-9 {
			t.Errorf("%+v", c)
		}
	}
}

// TestConfuse: the most frequent of the others is told.
func TestConfuse(t *testing.T) {
	var c Cell
	c.confuse(&[motion.Classes]float64{0.1, 0.5, 0.3, 0.1, 0}, motion.Free)
	if *c.Right != 0.5 || c.Instead != "confined" || *c.Wrongly != 0.3 {
		t.Errorf("right %g, instead %s, %g", *c.Right, c.Instead, *c.Wrongly)
	}
}
