package pipeline

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
)

// lawful is an estimator whose state is the number of latents it has seen.
type lawful struct {
	estimator
	restored string
}

func (l *lawful) Save(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d", len(l.seen))
	return err
}
func (l *lawful) Restore(r io.Reader) error {
	b, err := io.ReadAll(r)
	l.restored = string(b)
	return err
}

// The runner makes a checkpoint every 30 s of the run's time and at the end. A failed write is reported, and tracking continues.
func TestCheckpoints(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		every time.Duration
		kept  string
	}{
		"a disk":    {kept: "30 60 90 100"},
		"no disk":   {err: errors.New("disk full"), kept: "30 60 90 100"},
		"two times": {every: 40 * time.Second, kept: "40 80 100"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(100)
				g.source.interval = time.Second
				stages := g.stages()
				stages.Estimator = &lawful{}
				var kept []string
				_, err := Run(t.Context(), stages, Options{KeepEvery: c.every, Keep: func(state []byte, at Place) error {
					kept = append(kept, string(state))
					if folded := strconv.FormatUint(at.Frames, 10); folded != string(state) || at.Sequence != 3*at.Frames {
						t.Errorf("the law of %s frames is kept as of %+v", state, at)
					}
					return c.err
				}})
				if got := strings.Join(kept, " "); got != c.kept {
					t.Errorf("kept %q, want %q", got, c.kept)
				}
				if told := g.sinks[0].count("state_not_kept"); c.err == nil && (err != nil || told != 0) || c.err != nil && (err == nil || told != 3) {
					t.Errorf("error %v, told %d times", err, told)
				}
			})
		})
	}
}

// prompt is an estimator that records the times of its calls.
type prompt struct {
	lawful
	at []time.Time
}

func (p *prompt) Update(dst *latent.Estimate, z latent.Observation) (told bool, err error) {
	p.at = append(p.at, time.Now())
	return p.lawful.Update(dst, z)
}

// TestCheckpointsSlowDisk: no frame waits while a state is written to the disk, however slow the disk is.
func TestCheckpointsSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(200)
		g.source.interval = time.Second
		stages := g.stages()
		law, written := &prompt{}, 0
		stages.Estimator = law
		if _, err := Run(t.Context(), stages, Options{Keep: func([]byte, Place) error { time.Sleep(45 * time.Second); written++; return nil }}); err != nil {
			t.Fatal(err)
		}
		for i, at := range law.at[1:] {
			if step := at.Sub(law.at[i]); step != time.Second {
				t.Errorf("frame %d came %v after the one before it, expected 1 s", i+1, step)
			}
		}
		if written < 4 || len(law.at) != 200 {
			t.Errorf("%d states of %d frames, expected 4 or more of 200", written, len(law.at))
		}
	})
}

// roll_back restores the checkpoint before the newest, and is refused until such a checkpoint exists.
func TestRollBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(100)
		g.source.interval = time.Second
		g.sinks[0].commands = make(chan latent.Command)
		stages := g.stages()
		law := &lawful{}
		stages.Estimator = law
		go func() {
			for _, at := range []struct {
				after   time.Duration
				refused bool
			}{{40 * time.Second, true}, {40 * time.Second, false}} {
				time.Sleep(at.after)
				reply := make(chan error, 1)
				g.sinks[0].commands <- latent.Command{Name: "roll_back", Reply: func(err error) { reply <- err }}
				if err := <-reply; (err != nil) != at.refused {
					t.Errorf("roll_back: %v", err)
				}
			}
		}()
		if _, err := Run(t.Context(), stages, Options{}); err != nil {
			t.Fatal(err)
		}
		if law.restored != "30" {
			t.Errorf("restored %q, want the state after 30 frames", law.restored)
		}
	})
}

// The command checkpoint is answered once the checkpoint is on the disk or its write has failed, also while tracking is paused. It does not change the state
// that roll_back restores.
func TestCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(100)
		g.source.interval = time.Second
		g.sinks[0].commands = make(chan latent.Command)
		stages := g.stages()
		stages.Estimator = &lawful{}
		kept, disk := "", error(nil)
		const slow = 100 * time.Millisecond // duration of a write to the disk
		go func() {
			time.Sleep(10*time.Second + time.Millisecond)
			asked := time.Now()
			if err := ask(g, "checkpoint", ""); err != nil || kept != "10" || time.Since(asked) > slow { // before the next frame
				t.Errorf("kept %q after %v: %v", kept, time.Since(asked), err)
			}
			if err := ask(g, "roll_back", ""); err == nil {
				t.Error("rolled back to a state that is not half a minute old")
			}
			disk = errors.New("disk full")
			if err := ask(g, "checkpoint", ""); !errors.Is(err, disk) {
				t.Errorf("a full disk: found %v", err)
			}
			disk = nil
			time.Sleep(2 * time.Second)
			answers := make(chan error, 2)
			for range 2 { // the second request arrives while the first checkpoint is being written
				go func() { answers <- ask(g, "checkpoint", "") }()
				time.Sleep(slow / 4)
			}
			if err := ask(g, "pause", ""); err != nil {
				t.Error(err)
			}
			for range 2 {
				if err := <-answers; err != nil {
					t.Error(err)
				}
			}
			if err := ask(g, "checkpoint", ""); err != nil || kept != "12" {
				t.Errorf("while paused: kept %q: %v", kept, err)
			}
			if err := ask(g, "stop", ""); err != nil {
				t.Error(err)
			}
		}()
		_, err := Run(t.Context(), stages, Options{Keep: func(state []byte, _ Place) error { time.Sleep(slow); kept = string(state); return disk }})
		if err != nil {
			t.Error(err)
		}
	})
}
