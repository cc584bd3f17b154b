package tracks

import "math"

// population is what all tracks of a field tell of the next one, with forgetting.
type population struct {
	// of motion, a frame and axis
	shape, step   float64 // the inverse-gamma law of q: shape, and scale over it, px²
	directed      float64 // share of directed motion at a birth
	speed         float64 // variance of a directed object's speed, px²
	turn, drift   float64 // variances by which a speed changes, and a place beside it, px²
	starts, stops float64 // probabilities a frame that directed motion starts and stops
	// of detection
	detected      float64 // probability that an object is detected
	deaths        float64 // probability that one ends, a frame
	births        float64 // a frame and px²
	score, spread float64 // mean and standard deviation of objects' scores
	clutter       float64 // how many times as dense as theory false maxima are

	n counts
}

// counts are sums with forgetting.
type counts struct {
	frames                             float64
	hits, gaps, ends, lives, began     float64
	scores, squares, scored            float64
	false_, expected                   float64
	logs, logSquares, logNoise, logged float64
	directed, moving                   float64
	speeds, turns, sped                float64
}

// Where nothing is known yet: priors, each worth a few observations.
const (
	priorShape    = 1.5 // of q: its sd over tracks is larger than its mean
	priorStep     = 4.0 // px², in units of the template's variance
	priorDirected = 0.2
	priorSpeed    = 4.0 // px², likewise
	priorTurn     = 0.1
	priorSwitch   = 0.03
	priorDetected = 0.9
	priorDeaths   = 0.03
	forget        = 0.99 // a frame: the field of a hundred frames ago hardly counts
)

func newPopulation(template float64) population {
	v := template * template
	return population{shape: priorShape, step: priorStep * v / 2, directed: priorDirected, speed: priorSpeed * v / 2, turn: priorTurn, drift: 0.02,
		starts: priorSwitch, stops: priorSwitch, detected: priorDetected, deaths: priorDeaths, births: 1e-5, score: 8, spread: 4, clutter: 1}
}

// objectDensity is f, that of a score of an object's.
func (p *population) objectDensity(s float64) float64 {
	u := (s - p.score) / p.spread
	// a normal core with a floor, for objects of other brightness
	return 0.9*math.Exp(-u*u/2)/(p.spread*math.Sqrt(2*math.Pi)) + 0.1/(math.Pi*2*p.spread*(1+u*u/4))
}

// clutterDensity is c, px⁻² a unit of score: that of maxima of a Gaussian field with the correlation of the template of sd s, whose spectral moment
// is 1/2s² an axis, by the expected Euler characteristic (Adler 1981): above u there are (1/2s²) (2π)^(-3/2) u exp(-u²/2).
func (p *population) clutterDensity(score, template float64) float64 {
	return p.clutter * (score*score - 1) * math.Exp(-score*score/2) / (2 * template * template * math.Pow(2*math.Pi, 1.5))
}

// learn moves the estimates to the counts, with the priors as a few observations more.
func (p *population) learn(area float64) {
	n := &p.n
	p.detected = min((n.hits+9)/(n.hits+n.gaps+10), 0.999)
	p.deaths = min(max((n.ends+0.6)/(n.lives+20), 1e-4), 0.5)
	if n.frames > 0 {
		p.births = max((n.began+0.5)/(n.frames+1)/area, 1e-9)
	}
	if n.scored > 10 {
		p.score = n.scores / n.scored
		p.spread = math.Sqrt(max(n.squares/n.scored-p.score*p.score, 1) + math.Pow(0.25*p.score, 2))
	}
	if n.expected > 5 {
		p.clutter = min(max((n.false_+5)/(n.expected+5), 0.2), 50)
	}
	if n.logged > 5 {
		mean := n.logs / n.logged
		variance := max(n.logSquares/n.logged-mean*mean-n.logNoise/n.logged, 0.05)
		p.shape = min(max(1/variance+0.5, 0.8), 30)
		p.step = math.Exp(mean + 0.5/p.shape) // E ln q = ln scale - ψ(shape), ψ(a) ≈ ln a - 1/2a
	}
	p.directed = min(max((n.directed+0.2*5)/(n.moving+5), 0.01), 0.99)
	if n.sped > 5 {
		p.speed = max(n.speeds/n.sped, 0.1)
	}
}

// fade forgets a little.
func (n *counts) fade() {
	for _, v := range []*float64{&n.frames, &n.hits, &n.gaps, &n.ends, &n.lives, &n.began, &n.scores, &n.squares, &n.scored, &n.false_, &n.expected,
		&n.logs, &n.logSquares, &n.logNoise, &n.logged, &n.directed, &n.moving, &n.speeds, &n.turns, &n.sped} {
		*v *= forget
	}
}
