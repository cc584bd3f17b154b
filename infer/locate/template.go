package locate

import "math"

// template is the profile of the template along one axis: exp(-k²/2s²) for k from -reach to reach.
type template struct {
	sd    float64
	reach int
	taps  []float32 // reach + 1 values, from the centre outwards
	norm  float64   // Σ T² over the picture
}

// templateReach is the radius of the filter in sds of the template. A shorter filter would end with a high edge, which causes false maxima.
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
