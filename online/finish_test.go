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

// At the end of a recording, Finish learns from all of it: the error of its drift differs from the error of Fit's by less than a tenth of the error of zero
// drift. A repeated run ends with the same law, bit by bit. A run that ended without Finish is repeated without it.
func TestFinish(t *testing.T) {
	suite.Calculation(t)
	const frames = 530 // the last slice is running, and later latents wait
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
		t.Fatal("Finish found nothing new")
	}
	if law.Transitions != frames-1 || law.DriftFrame != frames || law.DriftRevision != uint64(len(applied)+1) {
		t.Errorf("the law rests on %d transitions, its drift is revision %d of frame %d; want %d, %d of %d", law.Transitions, law.DriftRevision, law.DriftFrame, frames-1, len(applied)+1, frames)
	}
	if got, fitted, none := driftError(e, onlinetest.Spring, truth), driftError(estimatorOf(t, whole), onlinetest.Spring, truth), driftError(estimator(t, c), onlinetest.Spring, truth); got > fitted+none/10 {
		t.Errorf("L_mu is %.2f, Fit's %.2f, no drift's %.2f", got, fitted, none)
	}
	if e.Finish(new(latent.SDE), frames-1) {
		t.Error("the second Finish found something new")
	}
	for name, again := range map[string][]uint64{"finished": append(applied, frames), "cut off": applied} {
		c.Applied = again
		e := estimator(t, c)
		feed(t, e, seen)
		var got latent.SDE
		if news := e.Finish(&got, frames-1); news != (name == "finished") || news && !reflect.DeepEqual(got, law) {
			t.Errorf("%s: in the repeated run, Finish returns %v, and the law is the same: %v", name, news, reflect.DeepEqual(got, law))
		}
	}
}

// estimatorOf returns an estimator with the drift n.
func estimatorOf(t *testing.T, n *drift.Network) *Estimator {
	return estimator(t, Config{Dim: n.Dim, Seed: 1, Prior: n})
}
