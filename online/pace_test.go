package online

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/latent"
)

// A spell is rested from for restShare times as long, at once; what is cut off because somebody waits is owed when the slice ends, and so is
// the rest for what was worked since. Less than a spell is not rested from before.
func TestPace(t *testing.T) {
	for name, c := range map[string]struct {
		hasten             time.Duration // after the slice began; 0: nobody waits
		rested, owed, last time.Duration // before the slice ended, after it, and its last work
	}{
		"alone":         {rested: 2 * restShare * 10 * time.Millisecond},
		"a short end":   {rested: 2 * restShare * 10 * time.Millisecond, last: time.Millisecond, owed: restShare * time.Millisecond},
		"awaited":       {hasten: 25 * time.Millisecond, rested: 15 * time.Millisecond, owed: (2*restShare*10 - 15) * time.Millisecond},
		"never at ease": {hasten: time.Millisecond, owed: 2 * restShare * 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPace()
				if c.hasten > 0 {
					go func() {
						time.Sleep(c.hasten)
						p.hasten()
						p.hasten()
					}()
				}
				began := time.Now()
				p.start()
				for range 2 {
					p.breathe() // nothing worked, nothing rested
					time.Sleep(10 * time.Millisecond)
					p.breathe()
				}
				time.Sleep(c.last)
				ended := time.Now()
				if rested := ended.Sub(began) - 20*time.Millisecond - c.last; rested != c.rested {
					t.Errorf("rested for %v before it ended, want %v", rested, c.rested)
				}
				if owed := p.owed(ended.Sub(began)); owed != c.owed {
					t.Errorf("owes %v, want %v", owed, c.owed)
				}
			})
		})
	}
}

// A slice that nobody wants ends at its next breath, and has learnt nothing; a later one of the same learner is as if it had not been.
func TestAbandonedSlice(t *testing.T) {
	n := randomNetwork(2, 7)
	points, target, before := normals(2*studentPoints, newRand(1)), normals(2*studentPoints, newRand(2)), n.Clone()
	p := newPace()
	p.abandon()
	if imitate(n, points, target, studentSteps, p); !reflect.DeepEqual(n, before) {
		t.Error("an imitation that nobody wants went on")
	}
	l, j := sliceOf("Wasserstein double well")
	j.pace = p
	if got := l.after(j); got.added != l.added || got.failed != l.failed+1 {
		t.Errorf("a slice that nobody wants learnt something; %d failed, want %d", got.failed, l.failed+1)
	}
	j.pace = nil
	again := l.after(j)
	l, j = sliceOf("Wasserstein double well")
	if fresh := l.after(j); !reflect.DeepEqual(again.added, fresh.added) {
		t.Error("the slice after one that was abandoned learns something else")
	}
}

// sliceOf is a slice's job of 1000 latents of a law, and the learner that it begins from.
func sliceOf(law string) (*learner, job) {
	s := named(law)
	seen, _ := s.film(1000, 0, newRand(5))
	d := len(s.from)
	l, in := newLearner(Config{Dim: d, Replay: len(seen), Seed: 1}), newTrack(d, len(seen))
	for k := range seen {
		in.add(seen[k].Mean, min(float64(k), 1)*testStep)
	}
	j := job{in: in}
	for range d {
		j.found, j.activity = append(j.found, diffusion{v: 1}), append(j.activity, latent.Active)
	}
	return l, j
}

// A slice comes to its rests, at every step of imitation, every 256 transitions of a pass over them, every place that is asked for a change
// and every point of the field that is laid out: where the drift is bent, and where there are too many dimensions for that. It reads the
// clock whenever it could rest.
func TestSliceBreathes(t *testing.T) {
	const places = 1000/changeBlock - 2*changeEnd
	for _, c := range []struct {
		law   string
		rests int // at least: places and points, and the first imitation or three of the passes over 1000 transitions
	}{{"Wasserstein double well", places + gridLine + studentSteps}, {"5 balls OU", places + gridSide*gridSide + 3*3}} {
		l, j := sliceOf(c.law)
		reads := 0
		j.pace = newPace()
		j.pace.now = func() time.Time { reads++; return time.Unix(0, int64(reads)*int64(spell)) }
		j.pace.hasten()
		l.after(j)
		if reads < c.rests {
			t.Errorf("%s: came to %d rests, want %d at least", c.law, reads, c.rests)
		}
	}
}
