package online

import (
	"reflect"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/drift"
	"driftscope/online/offline"
	"driftscope/online/onlinetest"
)

// Where a recording ends, the law of all of it is learnt: its drift is as near to the truth as Fit's within a tenth of no drift's error. A
// repeated run ends with the same law, bit by bit, and one that did not end so then does not now.
func TestFinish(t *testing.T) {
	suite.Calculation(t)
	const frames = 530 // the last slice is under way, the latents since wait
	seen, truth := onlinetest.Stream(onlinetest.Spring, frames, 0, onlinetest.Rand(6))
	c := Config{Dim: 2, Seed: 1, Deterministic: true}
	e := estimator(t, c)
	var applied []uint64
	for k := range seen {
		feed(t, e, seen[k:k+1])
		if n := e.Refinement().Revision; n > uint64(len(applied)) {
			applied = append(applied, e.Refinement().Frame)
		}
	}
	whole, err := offline.Fit(seen, offline.Config{Dim: c.Dim, Seed: c.Seed})
	if err != nil {
		t.Fatal(err)
	}
	var law latent.SDE
	if !e.Finish(&law, frames-1) {
		t.Fatal("there was nothing to finish")
	}
	if law.Transitions != frames-1 || law.DriftFrame != frames || law.DriftRevision != uint64(len(applied)+1) {
		t.Errorf("the law rests on %d transitions, its drift is revision %d of frame %d; want %d, %d of %d", law.Transitions, law.DriftRevision, law.DriftFrame, frames-1, len(applied)+1, frames)
	}
	if got, fitted, none := driftError(e, onlinetest.Spring, truth), driftError(estimatorOf(t, whole), onlinetest.Spring, truth), driftError(estimator(t, c), onlinetest.Spring, truth); got > fitted+none/10 {
		t.Errorf("L_mu is %.2f, Fit's %.2f, no drift's %.2f", got, fitted, none)
	}
	if e.Finish(new(latent.SDE), frames-1) {
		t.Error("a second time there was something to finish")
	}
	for name, again := range map[string][]uint64{"finished": append(applied, frames), "cut off": applied} {
		c.Applied = again
		e := estimator(t, c)
		feed(t, e, seen)
		var got latent.SDE
		if news := e.Finish(&got, frames-1); news != (name == "finished") || news && !reflect.DeepEqual(got, law) {
			t.Errorf("%s: repeated, the end is news: %v, and the same: %v", name, news, reflect.DeepEqual(got, law))
		}
	}
}

// estimatorOf has the drift n.
func estimatorOf(t *testing.T, n *drift.Network) *Estimator {
	return estimator(t, Config{Dim: n.Dim, Seed: 1, Prior: n})
}
