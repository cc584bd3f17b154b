package tracks

import "math"

// population holds the common properties of a field's tracks and forgets old frames. It is the prior for new tracks.
type population struct {
	// Motion, per frame and axis.
	shape, step   float64                // the inverse-gamma law of q: shape, and scale/shape, px²
	directed      float64                // fraction of objects born in directed motion
	starts, stops float64                // probabilities that directed motion starts and stops
	turns         float64                // probability that directed motion takes a new heading
	turning       [len(turnings)]float64 // probabilities of the variances of a change of speed
	speeds        speeds
	// Detection.
	detected      float64 // probability that an object is detected
	deaths        float64 // probability that an object ends, per frame
	births        float64 // births per frame and px²
	steady        float64 // births without the objects present in the first frame
	score, spread float64 // mean and standard deviation of objects' scores

	n counts
}

// counts are sums with forgetting.
type counts struct {
	frames                             float64
	found                              float64 // births in the first frame
	hits, gaps, ends, lives, began     float64 // of confirmed tracks: detections, missed frames between detections, deaths, frames lived, births
	scores, squares, scored            float64
	logs, logSquares, logNoise, logged float64                // of ln q, per track
	starts, stops, diffused, ran       float64                // frames in which directed motion starts and stops; frames after diffusion, and after a run
	turns                              float64                // frames in which a run takes a new heading
	firsts, begins                     float64                // second detections, and those reached by a run
	turning                            [len(turnings)]float64 // steps in directed motion, by variance of the change of speed
}

// Priors and constants; docs/lab/2026-11-24-objects-constants.md lists the effect of other values.
const (
	priorShape    = 1.5 // shape of the law of q; q varies between tracks by more than its mean
	priorStep     = 2.0 // in squared widths of the template: objects move by about their own size per frame
	priorDirected = 0.2
	priorSpeeds   = 30.0 // weight of the prior speed law, in observed speeds
	priorTurn     = 0.03
	priorSwitch   = 0.03
	priorDetected = 0.9
	priorDeaths   = 0.03
	leastDeaths   = 1e-4 // per frame; a film shows no death of objects that outlive it
	priorBirths   = 1e-5
	priorScore    = 8.0
	forget        = 0.99 // per frame: a frame 100 frames ago has weight 0.37
)

// turnings are the variances of a change of speed per frame, px² per axis.
var turnings = [...]float64{0.12 * 0.12, 0.4 * 0.4, 1}

// brightness is the least spread of scores, as a fraction of the mean score: overlap changes the scores of equally bright objects.
const brightness = 0.25

func newPopulation(template float64) population {
	v := template * template
	p := population{shape: priorShape, step: priorStep * v, directed: priorDirected, starts: priorSwitch, stops: priorSwitch, turns: priorTurn,
		speeds:   newSpeeds(template),
		detected: priorDetected, deaths: priorDeaths, births: priorBirths, steady: priorBirths, score: priorScore, spread: priorScore / 2}
	for i := range p.turning {
		p.turning[i] = 1 / float64(len(p.turning))
	}
	return p
}

// survival returns the probability that an object survives the given number of frames.
func (p *population) survival(frames int) float64 {
	if frames == 1 {
		return 1 - p.deaths
	}
	return math.Pow(1-p.deaths, float64(frames))
}

// spell returns the births in a gap that are still alive after it, in units of the births of one frame: Σ (1 - deaths)ⁱ.
func (p *population) spell(frames int) float64 {
	if frames == 1 {
		return 1
	}
	return (1 - p.survival(frames)) / max(p.deaths, leastDeaths)
}

// objectDensity returns f, the density of a score among objects: a normal core, and a Cauchy tail for objects of unusual brightness.
func (p *population) objectDensity(s float64) float64 {
	const tail = 0.1
	u := (s - p.score) / p.spread
	return (1-tail)*math.Exp(-u*u/2)/(p.spread*math.Sqrt(2*math.Pi)) + tail/(math.Pi*2*p.spread*(1+u*u/4))
}

// clutterDensity returns c, px⁻² per unit of score: the density of maxima of a Gaussian field with the correlation of a template of sd s. Its spectral moment
// is 1/2s² per axis. By the expected Euler characteristic (Adler 1981), (1/2s²) (2π)^(-3/2) u exp(-u²/2) maxima per px² exceed u.
func clutterDensity(score, template float64) float64 {
	const norm = 15.749609945722419 // (2π)^(3/2)
	return max(score*score-1, 0) * math.Exp(-score*score/2) / (2 * template * template * norm)
}

// learn updates the estimates from the counts. The priors act as a few extra observations.
func (p *population) learn(area float64) {
	n := &p.n
	p.detected = min((n.hits+10*priorDetected)/(n.hits+n.gaps+10), 0.999)
	p.deaths = min(max((n.ends+20*priorDeaths)/(n.lives+20), leastDeaths), 0.5)
	p.births = max((n.began+priorBirths*area)/(n.frames+1)/area, 1e-9)
	p.steady = max((n.began-n.found+priorBirths*area)/(n.frames+1)/area, 1e-9)
	if n.scored > 10 {
		p.score = n.scores / n.scored
		p.spread = math.Hypot(math.Sqrt(max(n.squares/n.scored-p.score*p.score, 1)), brightness*p.score)
	}
	if n.logged > 5 {
		mean := n.logs / n.logged
		variance := max(n.logSquares/n.logged-mean*mean-n.logNoise/n.logged, 0.05)
		p.shape = min(max(1/variance+0.5, 0.8), 30) // Var ln q = ψ'(shape) ≈ 1/(shape - ½)
		p.step = math.Exp(mean - 0.5/p.shape)       // E ln q = ln scale - ψ(shape), ψ(a) ≈ ln a - 1/2a
	}
	p.directed = min(max((n.begins+10*priorDirected)/(n.firsts+10), 0.005), 0.99)
	p.starts = min(max((n.starts+100*priorSwitch)/(n.diffused+100), 1e-5), 0.5) // the prior counts as three in 100 frames
	p.stops = min(max((n.stops+100*priorSwitch)/(n.ran+100), 1e-5), 0.5)
	p.turns = min(max((n.turns+30*priorTurn)/(n.ran+30), 1e-5), 0.5)
	all := 0.0
	for _, v := range n.turning {
		all += v
	}
	for i, v := range n.turning {
		p.turning[i] = (v + 3) / (all + 3*float64(len(turnings)))
	}
	p.speeds.settle()
}

// fade forgets a little per frame.
func (n *counts) fade() {
	for _, v := range n.numbers() {
		*v *= forget
	}
	n.logs *= forget
	for i := range n.turning {
		n.turning[i] *= forget
	}
}

// steer counts an observed step with the prediction m and the likelihoods w of the detection. A run counts as begun only if the next step continues it,
// because a single long step is weak evidence.
func (p *population) steer(m *motion, w *weights) {
	if m.seen == 1 {
		return
	}
	n := &p.n
	runs, diffuses, sets := w.runs()/w.all, w.diffusing/w.all, w.fresh/w.all
	began, turned, stopped := m.began*runs, m.turned*runs, diffuses*m.ended
	if m.seen == 2 {
		n.firsts++
		n.begins += began
		began = 0
	}
	n.starts, n.turns, n.stops = n.starts+began, n.turns+turned, n.stops+stopped
	n.diffused += diffuses - stopped + sets*(1-m.turning)
	n.ran += runs + stopped + sets*m.turning
	for i, v := range w.directed {
		n.turning[i] += v / w.all
	}
}
