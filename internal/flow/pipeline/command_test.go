package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
)

// ask sends a command and returns its answer.
func ask(g *rig, name, payload string) error {
	reply := make(chan error, 1)
	g.sinks[0].commands <- latent.Command{Name: name, Payload: []byte(payload), Reply: func(err error) { reply <- err }}
	return <-reply
}

// movable is a step with a region whose corner may lie at 0 to 9.
type movable struct {
	step
	known bool // a frame has arrived
	x, y  int
}

func (m *movable) Can() Abilities                { return Abilities{Region: m} }
func (m *movable) Reach() (image.Point, bool)    { return image.Pt(9, 9), m.known }
func (m *movable) Move(corner image.Point) error { m.x, m.y = corner.X, corner.Y; return nil }

// TestRefusals: the code of a refusal names the party at fault, and a refused command does not reach the stages.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(1000)
		g.source.interval = time.Millisecond
		g.sinks[0].commands = make(chan latent.Command)
		stages := g.stages()
		estimator, region := &estimator{}, &movable{known: true}
		stages.Estimator = estimator
		stages.Steps = append(stages.Steps, NamedStep{"roi", []Step{region}})
		go func() {
			for _, c := range []struct {
				name, payload string
				code          int
			}{
				{"dance", "", latent.Unknown},
				{"", "", latent.Unknown},
				{"pause", "now", latent.Malformed},
				{"reset", `{"hard": true}`, latent.Malformed},
				{"checkpoint", "[]", latent.Malformed},
				{"checkpoint", "", latent.Conflict},
				{"roll_back", "", latent.Conflict},
				{"roi", "", latent.Malformed},
				{"roi", `{"x": 1}`, latent.Malformed},
				{"roi", `{"x": 1, "y": 2, "z": 3}`, latent.Malformed},
				{"roi", `{"x": 1.5, "y": 2}`, latent.Malformed},
				{"roi", `{"x": 1, "y": 2} {}`, latent.Malformed},
				{"roi", `{"x": 10, "y": 2}`, latent.Malformed},
				{"roi", `{"x": 1, "y": -2}`, latent.Malformed},
			} {
				var refusal *latent.Refusal
				if err := ask(g, c.name, c.payload); !errors.As(err, &refusal) || refusal.Code != c.code {
					t.Errorf("%s %s: found %v, expected code %d", c.name, c.payload, err, c.code)
				} else if strings.ContainsRune(refusal.Text, '\n') {
					t.Errorf("%s %s: more than one line: %q", c.name, c.payload, refusal.Text)
				}
			}
			if len(estimator.calls) != 0 || region.x != 0 {
				t.Errorf("a refused command did something: %v, %d", estimator.calls, region.x)
			}
			if err := ask(g, "roi", " {\"y\": 2,\n\"x\": 1}"); err != nil || region.x != 1 || region.y != 2 {
				t.Errorf("the region is at %d, %d: %v", region.x, region.y, err)
			}
			if err := ask(g, "stop", "{}"); err != nil {
				t.Error(err)
			}
		}()
		summary, err := Run(t.Context(), stages, Options{})
		if err != nil || summary.FramesIn >= 1000 || summary.FramesIn != summary.Tracked+frameDrops(summary) {
			t.Errorf("stopped after %d frames, %d tracked: %v", summary.FramesIn, summary.Tracked, err)
		}
		i := slices.IndexFunc(g.sinks[0].events, func(e latent.Event) bool { return e.Code == "command_roi" })
		if i < 0 || g.sinks[0].events[i].Text != `the command roi was applied: {"y":2,"x":1}` {
			t.Errorf("found events %v", g.sinks[0].events)
		}
	})
}

// TestMove: move moves the steps of all lanes, also those without a frame yet. If no step has received a frame, none moves.
func TestMove(t *testing.T) {
	seen, idle := &movable{known: true}, &movable{}
	if err := move([]Step{idle, seen}, image.Pt(3, 4)); err != nil || idle.x != 3 || seen.y != 4 {
		t.Errorf("moved to %d and %d: %v", idle.x, seen.y, err)
	}
	var refusal *latent.Refusal
	if err := move([]Step{idle}, image.Pt(5, 5)); !errors.As(err, &refusal) || refusal.Code != latent.NotNow || idle.x != 3 {
		t.Errorf("before the first frame: moved to %d: %v", idle.x, err)
	}
}

func TestCommands(t *testing.T) {
	send := func(g *rig, name string) error { return ask(g, name, "") }
	t.Run("refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(100)
			g.source.interval = time.Millisecond
			g.sinks[0].commands = make(chan latent.Command)
			go func() {
				for name, want := range map[string]string{"unfollow": "one scene", "dance": "not known"} {
					if err := send(g, name); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: found error %v", name, err)
					}
				}
			}()
			if _, err := g.run(t, 0); err != nil {
				t.Fatal(err)
			}
		})
	})
	for _, live := range []bool{false, true} {
		t.Run(fmt.Sprintf("applied live=%v", live), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(1000)
				g.source.live, g.source.interval = live, time.Millisecond
				g.sinks[0].commands = make(chan latent.Command)
				stages := g.stages()
				s := &estimator{}
				stages.Estimator = s
				go func() {
					for _, name := range []string{"freeze", "reset", "pause"} {
						if err := send(g, name); err != nil {
							t.Errorf("%s: %v", name, err)
						}
					}
					time.Sleep(500 * time.Millisecond) // virtual
					if err := send(g, "resume"); err != nil {
						t.Error(err)
					}
				}()
				summary, err := Run(t.Context(), stages, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(s.calls, " "); got != "freeze reset unfreeze" {
					t.Errorf("the estimator was told %q", got)
				}
				if paused := summary.Dropped["paused"]; live && (paused < 490 || paused > 510) || !live && paused != 0 {
					t.Errorf("%d frames dropped while paused for 500 frames", paused)
				}
				if summary.Tracked+summary.Dropped["paused"] != 1000 {
					t.Errorf("tracked %d, dropped %v", summary.Tracked, summary.Dropped)
				}
				if !live && summary.Duration < 1500*time.Millisecond-5*time.Millisecond {
					t.Errorf("a paused file ended after %v, expected 1 s of frames + 0.5 s of pause", summary.Duration)
				}
				if g.sinks[0].count("command_pause") != 1 {
					t.Errorf("the command was not told: %v", g.sinks[0].events)
				}
			})
		})
	}
	t.Run("ending while paused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(-1)
			g.source.interval = time.Millisecond
			g.sinks[0].commands = make(chan latent.Command)
			go send(g, "pause")
			summary, err := g.run(t, time.Second)
			if err != nil || summary.Duration > time.Second+10*time.Millisecond || summary.Dropped["paused"] != 0 {
				t.Errorf("ended after %v with %v, dropped %v", summary.Duration, err, summary.Dropped)
			}
		})
	})
}

// FuzzCommand: any payload is either applied literally, or refused in one line with a code that names the party at fault.
func FuzzCommand(f *testing.F) {
	for _, name := range append(names(), "", "\n", "dance") {
		for _, payload := range []string{"", "{}", " {} \n", `{"x": 3, "y": 4}`, `{"x":`, `{"x":3,"y":4}}`, `{"X":3,"y":1e0}`, "[]", "null", "0", "\xff\x00", `{"x":1e999,"y":0}`} {
			f.Add(name, []byte(payload))
		}
	}
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		estimator, region, stopped := &estimator{}, &movable{known: true}, false
		r := newRunner(Stages{Estimator: estimator, Steps: []NamedStep{{"roi", []Step{region}}}}, Options{})
		r.stop = func() { stopped = true }
		tracker := &tracker{runner: r, estimator: estimator, pool: &workerPool{steps: r.stages.Steps}, checkpoints: newCheckpoints(estimator, &Options{}, time.Now())}
		c := latent.Command{Name: name, Payload: payload, Reply: func(error) {}}
		err := tracker.apply(c)
		var refusal *latent.Refusal
		switch {
		case err != nil:
			if !errors.As(err, &refusal) || strings.ContainsRune(refusal.Text, '\n') || len(refusal.Text) > 1000 {
				t.Errorf("%q with %q: %v", name, payload, err)
			}
			if stopped || tracker.paused || len(estimator.calls) > 0 || region.x != 0 || region.y != 0 {
				t.Errorf("%q with %q was refused and did something", name, payload)
			}
		case !slices.Contains(names(), name):
			t.Errorf("%q was applied", name)
		case name == "roi":
			var to struct{ X, Y int }
			if err := json.Unmarshal(payload, &to); err != nil || to.X != region.x || to.Y != region.y || to.X < 0 || to.X > 9 || to.Y < 0 || to.Y > 9 {
				t.Errorf("%q moved the region to %d, %d (%v)", payload, region.x, region.y, err)
			}
		case plain(c) != nil:
			t.Errorf("%q took %q", name, payload)
		}
	})
}
