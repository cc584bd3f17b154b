package exact

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// compared compares tracks.
func compared(tracks []Track) *comparison {
	usable, _ := inspect(tracks)
	var all []series
	for _, t := range tracks {
		all = append(all, newSeries(t, usable))
	}
	all = evenly(pieces(all, longestPiece), mostCompared)
	d := dimensions(usable)
	c := &comparison{all: all, look: look{0, d, 2}, square: square(all, d), say: func(string) {}}
	c.compare()
	return c
}

func TestPhenomena(t *testing.T) {
	for _, name := range []string{"single_a15", "dimer", "confine", "multi_Da", "multi_D", "traps", "single_a1", "single_a6"} {
		if only := os.Getenv("ONLY"); only != "" && !strings.Contains(","+only+",", ","+name+",") {
			continue
		}
		tracks, truth := places(t, "andi-phenom/"+name+".csv.gz", "frame", "particle", "x", "y", "alpha", "d", "state")
		begin := time.Now()
		c := compared(tracks)
		t.Logf("%s: %v gains %.1f shapes %.3f third %.1f brief %.1f noise %.3f %v", name, c.kind(), c.gain, c.shape, c.third, c.brief, c.noise, time.Since(begin))
		ch := c.chain
		t.Logf("  exponent %+v; share %.3f D %.3f alpha %.3f leave %.4f classes %.3f", c.exponent.mean, ch.share, []float64{ch.k[0] / 2, ch.k[1] / 2, ch.classes[0].d(), ch.classes[1].d()}, ch.alpha, ch.leave, ch.classes)
		if c.kind() == Switching {
			slow, fast, ns, nf := 0.0, 0.0, 0.0, 0.0
			for i := range truth {
				for _, v := range truth[i] {
					if v[1] < 0.4 {
						slow, ns = slow+v[1], ns+1
					} else {
						fast, nf = fast+v[1], nf+1
					}
				}
			}
			t.Logf("  truth: D %.4f %.4f share %.3f", slow/ns, fast/nf, ns/(ns+nf))
		}
	}
	_ = math.Pi
}
