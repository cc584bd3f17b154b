package training

import (
	"strings"
	"testing"

	"driftscope/internal/job/census"
)

// TestServes: a model that explains little is refused where the film shows many objects, with what to do instead, and there alone.
func TestServes(t *testing.T) {
	for _, k := range []struct {
		latent    string
		explained float64
		many      census.Count
		refused   bool
	}{
		{auto, 0.04, census.Count{Objects: 30, Moving: 28}, true},
		{auto, 0.04, census.Count{Objects: 30, Moving: 2}, false},
		{auto, 0.95, census.Count{Objects: 30, Moving: 28}, false},
		{"2", 0.04, census.Count{Objects: 30, Moving: 28}, false},
	} {
		c := Options{Source: []string{"dish.tif"}, Latent: k.latent}
		err := c.serves(k.explained, k.many)
		if (err != nil) != k.refused {
			t.Errorf("%+v: %v", k, err)
		}
		if err != nil && !strings.Contains(err.Error(), "4.0 % of the held-out pictures, and is not kept: the film shows 30 objects, of which 28 move by themselves: driftscope run dish.tif --objects") {
			t.Errorf("%v", err)
		}
	}
}
