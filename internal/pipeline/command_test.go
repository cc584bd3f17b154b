package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/latent"
)

func TestCommands(t *testing.T) {
	send := func(g *rig, name string) error {
		reply := make(chan error, 1)
		g.sinks[0].commands <- latent.Command{Name: name, Reply: func(err error) { reply <- err }}
		return <-reply
	}
	t.Run("refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(100)
			g.source.interval = time.Millisecond
			g.sinks[0].commands = make(chan latent.Command)
			go func() {
				for name, want := range map[string]string{"freeze": "cannot be frozen", "reset": "cannot be reset", "dance": "not known"} {
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
				s := &steerable{}
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
