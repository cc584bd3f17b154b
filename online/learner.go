package online

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"driftscope/internal/latent"
)

// learner is what one slice of refinement leaves to the next. It is not written after: whoever needs it need not wait for the next slice.
type learner struct {
	prior   *Network // the model's own drift, nil for none; never written
	alarms  float64  // frames between false changes, Config.AlarmFrames
	seed    uint64
	memory  *track
	spare   *track        // the next one's memory is made here; nobody else's
	clip    float64       // s, the longest that memory has been
	added   *addition     // what the drift is beyond prior, replaced at every slice
	field   *latent.Field // the drift laid out, nil where nothing moves
	bent    *Network      // of that what is not affine, as student gives it; nil at first
	hidden  float64       // likelihood ratio of a coordinate that the latents do not show
	changes uint64        // of the drift found so far; what came before one is forgotten
	failed  uint64        // slices whose numbers were beyond floating point, or a network's bounds; they leave the drift as it was
}

// job is one slice of work: new latents to take in, and what was found of the dimensions. All are lent, to be read only, until it is done.
type job struct {
	in       *track
	found    []diffusion
	activity []latent.Activity
	want     *want // nil where it holds
}

// newLearner remembers nothing yet.
func newLearner(c Config) *learner {
	return &learner{
		prior: c.Prior, alarms: c.AlarmFrames, seed: c.Seed, memory: newTrack(c.Dim, c.Replay+1), spare: newTrack(c.Dim, c.Replay+1),
		added: &addition{Network: (&posterior{dim: c.Dim}).tangent(), flat: true},
	}
}

// after is the learner that has taken in what is new, forgotten what came before the drift last changed, and learnt anew from all that is
// left what the drift is beyond the model's own. One slice at a time begins from l, and none once one begins from what it gave.
func (l *learner) after(j job) *learner {
	next := *l
	next.memory, next.spare = l.spare, l.memory
	next.memory.copy(l.memory)
	next.memory.take(j.in)
	next.slice(j)
	return &next
}

// slice learns from what memory holds, of which j.in are the latest.
func (l *learner) slice(j job) {
	v := newLens(j.found, j.activity, l.prior)
	p, hidden := &posterior{dim: l.memory.dim, active: v.active, root: v.root, want: j.want}, 0.0
	if len(v.active) > 0 {
		s := v.steps(l.memory)
		if s.len() < 2 { // latents that each began a trajectory have no scale: the drift stays as it was
			return
		}
		s, err := l.learn(p, s, max(changeOdds, l.alarms/float64(j.in.len())))
		if err != nil {
			l.failed++
			return
		}
		hidden = p.hidden(s)
	}
	n, bent := p.student(l.memory, l.bent, l.seed)
	if n.Validate() != nil {
		l.bent = nil
		l.failed++
		return
	}
	low, high := l.memory.box()
	l.added, l.bent, l.hidden = &addition{n, low, high, bent == nil}, bent, hidden
	l.field = p.grid(l.memory, l.prior, l.added, rand.New(rand.NewPCG(l.seed, 4)))
}

// learn fills p in from those steps of memory since the drift last changed, which it believes at these odds, and forgets the rest. It returns
// the steps that p was learnt from.
func (l *learner) learn(p *posterior, s *steps, odds float64) (*steps, error) {
	l.clip = max(l.clip, floats.Sum(l.memory.dt))
	s.clip = l.clip
	s.weigh()
	if err := p.learn(s); err != nil {
		return nil, err
	}
	at, err := changed(s, p.evidence, odds)
	if err != nil || at == 0 {
		return s, err
	}
	l.memory.drop(l.memory.began(at))
	l.changes++
	s = s.part(at, s.len())
	return s, p.learn(s)
}
