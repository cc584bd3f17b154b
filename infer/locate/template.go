package locate

import "math"

// template is one axis of the template: exp(-k²/2s²) for k from -reach to reach.
type template struct {
	sd    float64
	reach int
	taps  []float32 // reach + 1, from the middle on
	norm  float64   // Σ T² over the picture
}

// templateReach is the reach of the filter in sds of the template. A shorter one would cut at a high edge, and make maxima of its own.
const templateReach = 3

func newTemplate(sd float64) *template {
	t := &template{sd: sd, reach: max(2, int(math.Round(templateReach*sd)))}
	var line float64
	for i := range t.reach + 1 {
		v := math.Exp(-float64(i*i) / (2 * sd * sd))
		t.taps = append(t.taps, float32(v))
		line += v * v
		if i > 0 {
			line += v * v
		}
	}
	t.norm = line * line
	return t
}
