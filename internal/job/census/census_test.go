package census

import (
	"strings"
	"testing"

	"driftscope/internal/job/recording"
	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// TestTake: fields are films of many objects, the paper's balls are not; nor is a film of nothing. Of 40 objects those that live through half of the first 40
// frames are counted (a mean life of 30 frames), and most of them move.
func TestTake(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []struct {
		film        string
		proposes    bool
		least, most int
	}{
		{"sim:vesicle?density=40&width=256&height=256&frames=60", true, 15, 45},
		{"sim:trapped?density=40&width=256&height=256&frames=60&snr=6", true, 15, 45},
		{"sim:vesicle?density=0&width=128&height=128&frames=20", false, 0, 0},
		{"sim:balls-ou?frames=60", false, 0, 3},
		{"sim:molecule?frames=60", false, 0, 3},
	} {
		r, err := recording.Open(c.film, 0, 0, "", recording.Whole)
		if err != nil {
			t.Fatal(err)
		}
		n, err := Take(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if n.Proposes() != c.proposes || n.Objects < c.least || n.Objects > c.most {
			t.Errorf("%s: %+v", c.film, n)
		}
		if p := n.Proposal("film"); c.proposes && !strings.Contains(p, "driftscope run film --objects follows every one") {
			t.Error(p)
		}
	}
}
