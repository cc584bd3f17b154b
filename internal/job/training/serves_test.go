package training

import (
	"strings"
	"testing"

	"driftscope/infer/finder"
)

// TestServes: a model that explains little is refused only if the film shows many objects, with a suggestion.
func TestServes(t *testing.T) {
	for _, k := range []struct {
		latent    string
		explained float64
		seen      *finder.Finder
		refused   bool
	}{
		{auto, 0.04, &finder.Finder{Kind: finder.Many, Count: 30}, true},
		{auto, 0.04, &finder.Finder{Kind: finder.Few, Count: 3}, false},
		{auto, 0.04, nil, false},
		{auto, 0.95, &finder.Finder{Kind: finder.Many, Count: 30}, false},
		{"2", 0.04, &finder.Finder{Kind: finder.Many, Count: 30}, false},
	} {
		c := Options{Source: []string{"dish.tif"}, Latent: k.latent}
		err := c.serves(k.explained, k.seen)
		if (err != nil) != k.refused {
			t.Errorf("%+v: %v", k, err)
		}
		if err != nil && !strings.Contains(err.Error(), "4.0 % of the held-out pictures, and is not written: the film shows 30 objects per frame: driftscope run dish.tif --objects") {
			t.Errorf("%v", err)
		}
	}
}
