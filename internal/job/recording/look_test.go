package recording

import (
	"regexp"
	"testing"
	"time"

	"driftscope/infer/finder"
	"driftscope/internal/suite"
)

// TestLook: fields are recognised as films of many objects, the paper's scenes are not, and a film of noise shows nothing, even with --objects.
func TestLook(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []struct {
		film        string
		force       finder.Force
		crowd       bool
		least, most float64 // objects per frame; of 40, some overlap and some are at the border
	}{
		{"sim:vesicle?density=40&width=256&height=256&frames=60", finder.Free, true, 25, 50},
		{"sim:trapped?density=40&width=256&height=256&frames=60&snr=6", finder.Free, true, 25, 50},
		{"sim:vesicle?density=0&width=128&height=128&frames=20", finder.Free, false, 0, 0},
		{"sim:vesicle?density=0&width=128&height=128&frames=20&seed=2", finder.ForceMany, false, 0, 0},
		{"sim:balls-ou?frames=60", finder.Free, false, 0, 3},
		{"sim:molecule?frames=60", finder.Free, false, 0, 3},
	} {
		r, err := Open(c.film, 0, 0, "", Whole)
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.Look(t.Context(), nil, c.force)
		if err != nil {
			t.Fatal(err)
		}
		if f.Crowd() != c.crowd || f.Count < c.least || f.Count > c.most || c.most == 0 && f.Kind != finder.Nothing {
			t.Errorf("%s: %v", c.film, f)
		}
	}
}

// TestTrackability: a dense field of fast objects has uncertain links, and a film with few links gives no statement.
func TestTrackability(t *testing.T) {
	suite.Calculation(t)
	for film, want := range map[string]string{
		"sim:vesicle?density=200&width=256&height=256&frames=60": `^[\d.]+ % of the steps .* join two objects.* frames/s instead of [\d.]+, [\d.]+ % would join two objects$`,
		"sim:vesicle?density=10&width=128&height=128&frames=8":   `^$`,
	} {
		r, err := Open(film, 0, 0, "", Whole)
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.Look(t.Context(), nil, finder.ForceMany)
		if err != nil {
			t.Fatal(err)
		}
		if says, err := r.Trackability(t.Context(), f, 50); err != nil || !regexp.MustCompile(want).MatchString(says) {
			t.Errorf("%s: found %q, %v, expected %s", film, says, err, want)
		}
	}
}

// TestLookLive: the first look at a live source takes seconds, because it has no end.
func TestLookLive(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []struct {
		frames int
		since  time.Duration
		want   bool
	}{{600, time.Second, false}, {59, 3 * time.Second, false}, {60, 2 * time.Second, true}, {9, 59 * time.Second, false}, {10, 20 * time.Second, true}, {0, time.Minute, true}} {
		if seen(c.frames, c.since) != c.want {
			t.Errorf("%d frames in %v: expected %v", c.frames, c.since, c.want)
		}
	}
	r, err := Open("sim:vesicle?density=40&width=256&height=256&realtime=true", 0, 0, "", Whole)
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Look(t.Context(), nil, finder.Free)
	if err != nil || !f.Crowd() || f.Count < 25 || f.Count > 50 {
		t.Errorf("found %v, %v", f, err)
	}
}
