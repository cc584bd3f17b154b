package estimator

import (
	"fmt"
	"io"
	"time"

	"driftscope/ingest/sim"
	"driftscope/internal/flow/latent"
	"driftscope/online"
	"driftscope/online/drift"
	"driftscope/online/offline"
)

// driftScenes are the paper's laws; noise on pixels does not change them.
var driftScenes = []string{
	"balls-constant", "balls-ou", "balls-circle", "multiple-balls-ou",
	"digits-constant", "digits-ou", "digits-circle",
	"wasserstein-ou", "wasserstein-double-well", "wasserstein-gbm",
	"ball-wasserstein-ou", "ball-wasserstein-cauchy", "ball-wasserstein-anisotropic",
}

const driftFrames = 1000 // 10 s

// driftRow is one law's drift, learnt from the true latents. L_μ is the mean over the path of |μ̂ - μ|², summed over
// coordinates, (1/s)² because σ = 1 s^-½. All values are means over runs.
type driftRow struct {
	SDE     string  `json:"sde"`
	LMu     float64 `json:"l_mu"`         // estimator after one pass
	Teacher float64 `json:"teacher_l_mu"` // offline.Fit on the whole recording
	Zero    float64 `json:"zero_l_mu"`    // no drift
	CRLB    float64 `json:"crlb"`         // for a constant shift
}

// measureDrift fills f.Drift.
func measureDrift(f *onlineFindings, s *simulations) error {
	found := make([]driftRow, len(driftScenes)*s.runs)
	err := s.each(len(driftScenes), s.runs, func(cell, run int) (err error) {
		found[cell*s.runs+run], err = learnDrift(driftScenes[cell], s.random(cell, run).Uint64())
		return err
	})
	if err != nil {
		return err
	}
	for i, name := range driftScenes {
		row := driftRow{SDE: name}
		for _, one := range found[i*s.runs:][:s.runs] {
			row.LMu += one.LMu / float64(s.runs)
			row.Teacher += one.Teacher / float64(s.runs)
			row.Zero += one.Zero / float64(s.runs)
			row.CRLB += one.CRLB / float64(s.runs)
		}
		f.Drift = append(f.Drift, row)
	}
	return nil
}

// learnDrift walks the scene's law once and learns it both ways.
func learnDrift(scene string, seed uint64) (row driftRow, err error) {
	walk, err := sim.NewWalk(scene, seed)
	if err != nil {
		return row, err
	}
	config := online.Config{Dim: walk.Dim(), Seed: seed, Deterministic: true}
	estimator, err := online.New(config)
	if err != nil {
		return row, err
	}
	defer estimator.Close()
	var estimate latent.Estimate
	path := make([]passed, driftFrames)
	seen := make([]latent.Latent, driftFrames)
	for k := range seen {
		t := walk.Next()
		path[k] = passed{append([]float64(nil), t.Z...), append([]float64(nil), t.Mu...)}
		seen[k] = latent.Latent{Seq: uint64(k), Time: time.Unix(0, int64(t.T*1e9)), Trajectory: t.Trajectory, Mean: path[k].z}
		if err := estimator.Update(&estimate, &seen[k]); err != nil {
			return row, err
		}
	}
	estimator.Finish(&estimate.SDE, driftFrames-1)
	teacher, err := offline.Fit(seen, offline.Config{Dim: walk.Dim(), Seed: seed})
	if err != nil {
		return row, err
	}
	scratch := new(drift.Scratch)
	row.LMu = missed(path, estimator.Drift)
	row.Teacher = missed(path, func(dst, z []float64) { teacher.Drift(dst, z, scratch) })
	row.Zero = missed(path, func(dst, _ []float64) { clear(dst) })
	row.CRLB = float64(walk.Dim()) / (seen[driftFrames-1].Time.Sub(seen[0].Time).Seconds())
	return row, nil
}

// passed is a point of a path with the law's drift.
type passed struct{ z, mu []float64 }

// missed returns L_μ of a drift over the points.
func missed(path []passed, drift func(dst, z []float64)) float64 {
	sum, mu := 0.0, make([]float64, len(path[0].z))
	for _, p := range path {
		drift(mu, p.z)
		for i, v := range mu {
			sum += (v - p.mu[i]) * (v - p.mu[i])
		}
	}
	return sum / float64(len(path))
}

// printDrift prints f.Drift.
func printDrift(f *onlineFindings, w io.Writer) {
	fmt.Fprintf(w, "Drift: L_mu, summed over coordinates, after one pass over %d true latents; of a fit of the whole recording, of no drift, and the\n"+
		"Cramér-Rao bound of a constant shift. Means over runs.\n\n", driftFrames)
	fmt.Fprintf(w, "%-29s %9s  %9s  %6s  %9s  %6s\n", "law", "online", "recording", "ratio", "no drift", "bound")
	for _, r := range f.Drift {
		fmt.Fprintf(w, "%-29s %9.3f  %9.3f  %6.2f  %9.3f  %6.2f\n", r.SDE, r.LMu, r.Teacher, r.LMu/r.Teacher, r.Zero, r.CRLB)
	}
}
