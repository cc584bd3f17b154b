package card

import (
	"fmt"
	"math"
	"slices"
)

// Bounds on a card's preprocessing. Every lane of a run stores the outputs of its resize steps, up to 12 bytes per pixel. A search for a region stores up to 64
// MiB of pictures.
const (
	MaxPixels   = 4 << 20 // total pixels of all resize steps: 2048 x 2048, four times the largest input
	maxSearches = 2
)

// checkSteps refuses steps that need too much memory, and numbers that are not finite. The constructors of the steps check the rest.
func checkSteps(steps []Step) error {
	pixels, searches := 0.0, 0
	for i, s := range steps {
		path := fmt.Sprintf("preprocess[%d]", i)
		if err := finiteAll(path+".options", s.Options); err != nil {
			return err
		}
		switch s.Kind {
		case "resize":
			width, height := numberOf(s.Options["width"]), numberOf(s.Options["height"])
			if pixels += max(width, 0) * max(height, 0); pixels > MaxPixels {
				return fmt.Errorf("%s.options: found a resize to %gx%g, expected at most %d pixels in all resize steps together: resize to the encoder's input",
					path, width, height, MaxPixels)
			}
		case "roi":
			if _, given := s.Options["search"]; given {
				searches++
			}
			if searches > maxSearches {
				return fmt.Errorf("%s.options.search: found %d searches, expected at most %d", path, searches, maxSearches)
			}
		}
	}
	return nil
}

// numberOf returns an option's number, in any type that the decoder produces, or 0 if the option is not a number.
func numberOf(v any) float64 {
	switch n := v.(type) {
	case float64:
		return n
	case float32:
		return float64(n)
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case uint64:
		return float64(n)
	}
	return 0
}

// finiteAll returns an error that names the first number in an option that is not finite. It visits keys in sorted order.
func finiteAll(path string, v any) error {
	switch v := v.(type) {
	case map[string]any:
		var keys []string
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if err := finiteAll(path+"."+key, v[key]); err != nil {
				return err
			}
		}
	case []any:
		for i, entry := range v {
			if err := finiteAll(fmt.Sprintf("%s[%d]", path, i), entry); err != nil {
				return err
			}
		}
	}
	if n := numberOf(v); math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Errorf("%s: found %g, expected a finite number", path, n)
	}
	return nil
}
