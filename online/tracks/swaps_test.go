package tracks

import (
	"math"
	"slices"
	"testing"

	"driftscope/ingest/sim/field"
	"driftscope/internal/suite"
)

// spell is the objects that a number showed in a frame.
type spell struct {
	frame   uint64
	objects []int
}

// showed returns the objects that a number showed last before a frame.
func showed(all []spell, frame uint64) []int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].frame < frame {
			return all[i].objects
		}
	}
	return nil
}

func common(a, b []int) bool {
	return slices.ContainsFunc(a, func(i int) bool { return slices.Contains(b, i) })
}

// TestSwaps compares the probability that two numbers are exchanged with the fraction of pairs in which one number now shows the other's earlier object. Over
// all pairs with a probability above 0.05 they agree within 0.1 plus two standard errors. Pairs of a film share frames, so 30 pairs count as ten.
func TestSwaps(t *testing.T) {
	suite.Calculation(t)
	for _, o := range []field.Options{
		{Scenario: field.Vesicle, Density: 100, SNR: 4}, {Scenario: field.Vesicle, Density: 500, SNR: 4}, {Scenario: field.Receptor, Density: 500, SNR: 4}, {Scenario: field.Receptor, Density: 500, SNR: 2},
	} {
		n, said, swapped := 0.0, 0.0, 0.0
		for seed := range uint64(3) {
			o.Width, o.Height, o.Frames, o.Seed = 512, 512, 100, seed+1
			frames, of := film(t, o)
			k, err := New(Options{Width: 512, Height: 512, Template: 1.4})
			if err != nil {
				t.Fatal(err)
			}
			seen := map[uint64][]spell{}
			for f, here := range frames {
				for _, p := range k.Update(uint64(f), here) {
					if p.Detection >= 0 {
						seen[p.ID] = append(seen[p.ID], spell{p.Frame, of[p.Frame][p.Detection]})
					}
				}
				swaps := k.Swaps(0.05)
				for i, s := range swaps {
					if s.A >= s.B || s.Since >= uint64(f) || !(s.P >= 0.05 && s.P <= 0.5) || i > 0 && swaps[i-1].A == s.A && swaps[i-1].B == s.B {
						t.Fatalf("frame %d: found %+v, expected each pair once, from an earlier frame, with a probability from 0.05 to 0.5", f, s)
					}
					a, b := seen[s.A], seen[s.B]
					if f < 20 || len(a) == 0 || len(b) == 0 {
						continue
					}
					wasA, wasB, isA, isB := showed(a, s.Since), showed(b, s.Since), a[len(a)-1].objects, b[len(b)-1].objects
					n, said = n+1, said+s.P
					if !common(wasA, isA) && common(wasB, isA) || !common(wasB, isB) && common(wasA, isB) {
						swapped++
					}
				}
			}
		}
		said, swapped = said/n, swapped/n
		t.Logf("%s %d SNR %g: %.0f pairs with a mean probability of %.3f, a fraction of %.3f is exchanged", o.Scenario, o.Density, o.SNR, n, said, swapped)
		if math.Abs(said-swapped) > 0.1+2*math.Sqrt(3*said*(1-said)/n) {
			t.Errorf("%s, %d objects, SNR %g: %.0f pairs with a mean probability of %.3f, but a fraction of %.3f is exchanged", o.Scenario, o.Density, o.SNR, n, said, swapped)
		}
	}
	k := tracker(t)
	if k.Update(0, nil); len(k.Swaps(0)) != 0 {
		t.Error("Swaps listed a pair without objects")
	}
}
