package objects

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"driftscope/internal/flow/latent"
)

// TestGoesOn verifies that another run continues with the laws of all objects, and does not reuse numbers.
func TestGoesOn(t *testing.T) {
	first, d, dst := newEstimator(t, Config{}), newDish(5), &latent.Estimate{}
	reports := run(t, first, d, 100, dst)
	before := of[*latent.Population](reports)[3]
	var saved bytes.Buffer
	if err := first.Save(&saved); err != nil {
		t.Fatal(err)
	}
	first.Last()
	var ended bytes.Buffer // saved again at the end of the run, with the same steps, counted once
	if err := first.Save(&ended); err != nil {
		t.Fatal(err)
	}
	for name, state := range map[string]*bytes.Buffer{"while it runs": &saved, "at its end": &ended} {
		next, other := newEstimator(t, Config{}), newDish(5)
		if err := next.Restore(bytes.NewReader(state.Bytes())); err != nil {
			t.Fatal(err)
		}
		after := of[*latent.Population](run(t, next, other, 50, dst))[1] // 25 frames after the first, the law from the remembered steps is published
		if after.Steps != before.Steps+25*49 || after.Tracks != 50 || after.Births != 50 || after.Deaths != 25 || math.Abs(after.Px.D/before.Px.D-1) > 0.1 {
			t.Errorf("%s: found %+v after %+v", name, after, before)
		}
		for _, id := range dst.Objects.ID {
			if id <= 25 {
				t.Errorf("%s: the number %d is used again", name, id)
			}
		}
		reserved := newEstimator(t, Config{})
		if err := reserved.Restore(bytes.NewReader(state.Bytes())); err != nil {
			t.Fatal(err)
		}
		reserved.Reserve(1000)
		run(t, reserved, newDish(5), 20, dst)
		if len(dst.Objects.ID) == 0 || dst.Objects.ID[0] <= 1025 {
			t.Errorf("%s: found numbers %v, expected the 1000 numbers after 25 to be skipped", name, dst.Objects.ID)
		}
	}
}

// TestDamage verifies that a truncated or changed checkpoint is refused, and changes nothing.
func TestDamage(t *testing.T) {
	e, d, dst := newEstimator(t, Config{}), newDish(3), &latent.Estimate{}
	run(t, e, d, 50, dst)
	var saved bytes.Buffer
	if err := e.Save(&saved); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, saved.Len() / 2, saved.Len() - 1} {
		if err := e.Restore(bytes.NewReader(saved.Bytes()[:n])); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("truncated to %d bytes: %v", n, err)
		}
	}
	for at := 0; at < saved.Len(); at += 97 {
		bad := bytes.Clone(saved.Bytes())
		bad[at] ^= 0x40
		if err := e.Restore(bytes.NewReader(bad)); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
	if p := of[*latent.Population](run(t, e, d, 25, dst))[0]; p.Births != 9 || p.Steps != 9*74 {
		t.Errorf("%+v", p)
	}
}

// TestAnotherFilm verifies that every object ends when a new film starts, with its verdict some frames later, and that new objects get new numbers.
func TestAnotherFilm(t *testing.T) {
	e, d, dst := newEstimator(t, Config{}), newDish(3), &latent.Estimate{}
	run(t, e, d, 60, dst)
	var reports []latent.Message
	for range 20 {
		z := d.next()
		z.Trajectory = 1
		if _, err := e.Update(dst, z); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, e.Reports()...)
	}
	if ended := ends(reports); len(ended) != 9 || ended[0].Why != latent.FilmEnded || ended[0].Last != 59 || ended[0].Seq < 60 || ended[0].Motion == nil {
		t.Errorf("%d ended: %+v", len(ended), ended)
	}
	if len(dst.Objects.ID) != 9 || dst.Objects.ID[0] <= 9 {
		t.Errorf("objects %v", dst.Objects.ID)
	}
}

func FuzzRestore(f *testing.F) {
	e, d, dst := newEstimator(f, Config{}), newDish(3), &latent.Estimate{}
	run(f, e, d, 20, dst)
	var saved bytes.Buffer
	if err := e.Save(&saved); err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	f.Add([]byte("driftscope objects\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := e.Restore(bytes.NewReader(data)); err != nil && !errors.Is(err, ErrCheckpoint) {
			t.Error(err)
		}
	})
}
