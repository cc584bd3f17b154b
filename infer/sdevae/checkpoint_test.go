package sdevae

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// brief returns the config of a training of a few seconds with restarts, finalists, synthetic frames and everything else that a checkpoint may contain.
func brief() Config {
	return Config{Latent: 2, Seed: 4, Posterior: network.Cholesky, Diffusion: network.LearntDiagonal, Clock: true, L1: 0.1, Tau: 0.2, Steps: 24, Pairs: 8, Restarts: 2, Every: 3, SyntheticSteps: 12, ReinitSteps: 9}
}

func train(t *testing.T, how Training, clip *video.Clip, c Config) *Result {
	t.Helper()
	r, err := how.Train(context.Background(), clip, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Model.Close)
	return r
}

// file returns the model file that a training exports.
func file(t *testing.T, r *Result, clip *video.Clip) []byte {
	t.Helper()
	e, err := r.Export(clip, card.Card{Preprocess: []card.Step{{Kind: "normalise"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.File
}

// interrupted trains up to the given step and returns the last checkpoint, or nil if there is none.
func interrupted(t *testing.T, how Training, clip *video.Clip, c Config, step int) (last []byte) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	how.Save = func(data []byte) error {
		last = data
		return nil
	}
	how.Watch = func(p Progress) {
		if p.Step == step {
			cancel()
		}
	}
	if _, err := how.Train(ctx, clip, c); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted at step %d: %v", step, err)
	}
	return last
}

// TestResumed interrupts a training at random steps: in the trials, in the finalists' run, in synthetic frames and in the last phase. Resumed from the last
// checkpoint and interrupted again, it must end with the same bytes as a training without interruptions.
func TestResumed(t *testing.T) {
	suite.Long(t)
	clip := sdevaetest.Walk(60, 3)
	full, plain := brief(), Config{Latent: 1, Seed: 2, Tau: 0.2, Steps: 20, Pairs: 8, Restarts: 3, Every: 4, SyntheticSteps: 9, ReinitSteps: 24, Patience: 4}
	for name, c := range map[string]Config{"everything": full, "plain": plain} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 0))
			undisturbed := train(t, Training{}, clip, c)
			want := file(t, undisturbed, clip)
			r := undisturbed.Config
			trials, reinit := r.Restarts*r.trial(), r.TotalSteps()-r.ReinitSteps
			phases := [][2]int{{r.Every, trials}, {trials, reinit - r.SyntheticSteps}, {reinit - r.SyntheticSteps, reinit}, {reinit, r.TotalSteps()}}
			if undisturbed.Best.Step <= r.Steps { // the best step must lie in the last phase
				if phases = phases[:3]; name == "plain" {
					t.Fatal("the test does not reach the last phase")
				}
			}
			for _, between := range phases {
				at := between[0] + 1 + rng.IntN(between[1]-between[0]-1)
				how := Training{Notes: []byte("crop")}
				for _, step := range []int{at, min(at+r.Every+1, r.TotalSteps()-1)} {
					last := interrupted(t, how, clip, c, step)
					if last == nil && how.Resume != nil {
						continue // interrupted again before the next checkpoint, so the last one is still valid
					}
					var err error
					if how.Resume, err = ReadCheckpoint(last); err != nil {
						t.Fatal(err)
					}
					if got := how.Resume; string(got.Notes) != "crop" || got.Steps != r.TotalSteps() || got.Step > step || got.Step <= step-2*r.Every {
						t.Errorf("interrupted at step %d, but the checkpoint is of step %d of %d, with notes %q", step, got.Step, got.Steps, got.Notes)
					}
				}
				resumed := train(t, how, clip, c)
				if !bytes.Equal(file(t, resumed, clip), want) {
					t.Errorf("interrupted at step %d: a different model", at)
				}
				if len(resumed.History) != len(undisturbed.History) || resumed.Best != undisturbed.Best {
					t.Errorf("interrupted at step %d: %d looks, the best %+v; expected %d, %+v", at, len(resumed.History), resumed.Best, len(undisturbed.History), undisturbed.Best)
				}
			}
		})
	}
}

func TestResumedFromModel(t *testing.T) {
	suite.Long(t)
	clip, c := sdevaetest.Walk(60, 3), brief()
	model, err := card.Read(file(t, train(t, Training{}, clip, c), clip))
	if err != nil {
		t.Fatal(err)
	}
	c.Clock = false
	followed := train(t, Training{From: model}, clip, c)
	if !followed.Config.Clock {
		t.Error("the model's clock stopped")
	}
	want := file(t, followed, clip)
	checkpoint, err := ReadCheckpoint(interrupted(t, Training{From: model}, clip, c, 10))
	if err != nil {
		t.Fatal(err)
	}
	if got := file(t, train(t, Training{From: model, Resume: checkpoint}, clip, c), clip); !bytes.Equal(got, want) {
		t.Error("another model")
	}
	if _, err := (Training{Resume: checkpoint}).Train(context.Background(), clip, c); !errors.Is(err, ErrCheckpoint) {
		t.Errorf("without the model to continue: %v", err)
	}
}

func TestCheckpointRefused(t *testing.T) {
	clip, c := sdevaetest.Walk(60, 3), brief()
	good := interrupted(t, Training{}, clip, c, 20)
	changed := func(at int, by byte) []byte {
		data := bytes.Clone(good)
		data[at] ^= by
		return data
	}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"empty":           {nil, "does not begin with the right signature"},
		"foreign":         {[]byte(strings.Repeat("driftscope law\n", 9)), "does not begin with the right signature"},
		"another version": {changed(len(format.Magic), 1), "version 2"},
		"torn":            {good[:len(good)/2], "torn"},
		"longer":          {append(bytes.Clone(good), 0), "torn"},
		"a huge size":     {changed(format.HeaderSize()-1, 0x40), "bytes announced"},
		"a flipped bit":   {changed(len(good)/2, 1), "digest"},
	} {
		if _, err := ReadCheckpoint(test.data); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, an error with %q expected", name, err, test.want)
		}
	}
	checkpoint, err := ReadCheckpoint(good)
	if err != nil {
		t.Fatal(err)
	}
	other := c
	other.Rate = 1e-3
	for name, test := range map[string]struct {
		clip *video.Clip
		Config
		want string
	}{
		"another recording": {sdevaetest.Walk(60, 4), c, "another recording"},
		"other settings":    {clip, other, "other settings"},
	} {
		if _, err := (Training{Resume: checkpoint}).Train(context.Background(), test.clip, test.Config); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, an error with %q expected", name, err, test.want)
		}
	}
}

// TestCheckpointNotSaved: if a checkpoint cannot be saved, the training ends with the reason.
func TestCheckpointNotSaved(t *testing.T) {
	full := errors.New("no space left")
	_, err := Training{Save: func([]byte) error { return full }}.Train(context.Background(), sdevaetest.Walk(60, 3), brief())
	if !errors.Is(err, full) {
		t.Errorf("%v, %v expected", err, full)
	}
}

// FuzzCheckpoint changes a checkpoint after its digest, and resumes from checkpoints that can still be read.
func FuzzCheckpoint(f *testing.F) {
	clip, c := sdevaetest.Walk(24, 3), Config{Latent: 1, Tau: 0.2, Steps: 2, Pairs: 2, Restarts: 1, Every: 1, SyntheticSteps: 2}
	var whole [][]byte
	save := func(data []byte) error {
		whole = append(whole, data)
		return nil
	}
	if r, err := (Training{Save: save}).Train(context.Background(), clip, c); err == nil {
		r.Model.Close()
	} else if !errors.Is(err, ErrMean) {
		f.Fatal(err)
	}
	last := whole[len(whole)-1]
	f.Add(uint32(0), uint64(0), false)
	f.Add(uint32(format.HeaderSize()), uint64(math.MaxUint64), false)
	f.Add(uint32(format.HeaderSize()+16), uint64(1)<<40, false)
	f.Add(uint32(len(last)/2), uint64(3), true)
	f.Add(uint32(len(last)-60), uint64(1)<<63, true)
	f.Fuzz(func(t *testing.T, at uint32, value uint64, raw bool) {
		data := bytes.Clone(last)
		binary.LittleEndian.PutUint64(data[int(at)%(len(data)-8):], value)
		if !raw {
			digest := sha256.Sum256(data[:len(data)-sha256.Size])
			copy(data[len(data)-sha256.Size:], digest[:])
		}
		checkpoint, err := ReadCheckpoint(data)
		if err == nil {
			var j *job
			if j, err = newJob(context.Background(), Training{}, clip, c); err != nil {
				t.Fatal(err)
			}
			err = j.resume(checkpoint)
			j.current.discard()
		}
		if err != nil && !errors.Is(err, ErrCheckpoint) {
			t.Errorf("found %v, expected ErrCheckpoint", err)
		}
	})
}

// TestSettingsKeys: a checkpoint's settings have the keys of earlier builds, so that trainings of these builds can continue.
func TestSettingsKeys(t *testing.T) {
	written, err := json.Marshal(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(written, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"Latent", "Steps", "Lead", "Pace", "Follow", "Sleep", "Redraw"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("%s is missing in %s", key, written)
		}
	}
}
