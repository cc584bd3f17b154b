package online

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/onlinetest"
)

// TestBadFrames: 1000 good frames of a diffusion, some spoilt frames, and good frames again. The spoilt frames must not change the law. In most cases, every
// alarm that begins also ends.
func TestBadFrames(t *testing.T) {
	for name, c := range map[string]struct {
		frames int // number of spoilt frames, from frame 1000 on
		spoil  func(l *latent.Latent)
		held   int
		told   string // code and frame of each event, + for the begin and - for the end of an alarm
	}{
		"one outlier": {1, func(l *latent.Latent) { l.Mean[0] += 9 }, 1, "+unlike_training 1000, -unlike_training 1010"},
		"no object, noise": {60, func(l *latent.Latent) { l.Mean[0] = 60 * (2 + math.Sin(float64(l.Seq*l.Seq))) }, 60,
			"+unlike_training 1000, +object_lost 1004, -unlike_training 1069, -object_lost 1069"},
		"no object, one picture": {60, func(l *latent.Latent) { copy(l.Mean, []float64{20, 20}) }, 60,
			"+unlike_training 1000, +object_lost 1004, -unlike_training 1069, -object_lost 1069"},
		"unsure": {20, func(l *latent.Latent) { l.SD[1] = 1 }, 20, "+object_lost 1004, -object_lost 1029"},
		"jump for good": {1e6, func(l *latent.Latent) { l.Mean[0] += 9 }, 49,
			"+unlike_training 1000, +object_lost 1004, -object_lost 1058, -unlike_training 1059"},
		"jump to where nothing was learnt": {1e6, func(l *latent.Latent) { l.Mean[0] += 50 }, 49, "+unlike_training 1000, +object_lost 1004, -object_lost 1058"},
		"never one like the other":         {1e6, func(l *latent.Latent) { l.SD[0] = 7 }, 499, "+object_lost 1004, -object_lost 1508"},
	} {
		t.Run(name, func(t *testing.T) {
			seen, _ := onlinetest.Stream(onlinetest.Still, 2000, 0.2, onlinetest.Rand(70))
			e := informed(t, Config{Dim: 2, Seed: 1, TrainMean: []float64{0, 0}, TrainSD: []float64{5, 5}})
			dst, told, before := new(latent.Estimate), "", []float64(nil)
			for k := range seen {
				l := &seen[k]
				l.SD = []float64{0.1, 0.1}
				if k >= 1000 && k < 1000+c.frames {
					c.spoil(l)
				}
				if err := e.Update(dst, l); err != nil {
					t.Fatal(err)
				}
				for _, a := range e.Alarms() {
					sign := map[latent.Level]string{latent.Warning: "+", latent.Info: "-"}[a.Level]
					told += fmt.Sprintf(", %s%s %d", sign, a.Code, a.Seq)
					if a.Seq != l.Seq || !a.Time.Equal(l.Time) || !strings.Contains(a.Text, ":") {
						t.Errorf("frame %d: found the event %+v", k, a)
					}
				}
				if k == 999 {
					before = append(before, dst.SDE.Sigma...)
				}
			}
			told = strings.TrimPrefix(told, ", ")
			if told != c.told || dst.SDE.Held != uint64(c.held) {
				t.Errorf("%d frames held, events\n%s\nexpected %d and\n%s", dst.SDE.Held, told, c.held, c.told)
			}
			if n := learnt(e); n < 1999-float64(c.held)-2 {
				t.Errorf("found %g transitions learnt", n)
			}
			for i, s := range dst.SDE.Sigma {
				if math.Abs(s-before[i]) > 0.1 { // 1000 more transitions change σ by 0.03
					t.Errorf("σ%d went from %.3f to %.3f", i, before[i], s)
				}
			}
		})
	}
}

// TestFramesWhileFrozen: alarms about frames still begin and end while the law is frozen, as the control loop of docs/howto/control.md needs. Nothing is
// learnt from these frames.
func TestFramesWhileFrozen(t *testing.T) {
	seen, _ := onlinetest.Stream(onlinetest.Still, 1300, 0.2, onlinetest.Rand(70))
	e := informed(t, Config{Dim: 2, Seed: 1, TrainMean: []float64{0, 0}, TrainSD: []float64{5, 5}})
	dst, told := new(latent.Estimate), ""
	for k := range seen {
		l := &seen[k]
		l.SD = []float64{0.1, 0.1}
		if k >= 1000 && k < 1060 || k >= 1100 && k < 1160 {
			l.Mean[0] = 60 * (2 + math.Sin(float64(l.Seq*l.Seq)))
		}
		if k == 1001 {
			e.Freeze(true)
		}
		if err := e.Update(dst, l); err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Alarms() {
			told += fmt.Sprintf("%s %s %d, ", a.Level, a.Code, a.Seq)
		}
	}
	const want = "warning unlike_training 1000, warning object_lost 1004, info unlike_training 1069, info object_lost 1069, " +
		"warning unlike_training 1100, warning object_lost 1104, info unlike_training 1169, info object_lost 1169, "
	if told != want {
		t.Errorf("events\n%s\nexpected\n%s", told, want)
	}
	if dst.SDE.Held != 1 || e.law.banks.Transitions != 999 {
		t.Errorf("%d frames held and %g transitions learnt from, expected those before the freeze: 1 and 999", dst.SDE.Held, e.law.banks.Transitions)
	}
}

// TestTrajectoryThatBeginsBadly: if a film begins with empty pictures, learning begins when the object appears.
func TestTrajectoryThatBeginsBadly(t *testing.T) {
	e := informed(t, Config{Dim: 1, TrainMean: []float64{0}, TrainSD: []float64{1}})
	dst := new(latent.Estimate)
	for k := range 30 {
		l := latent.Latent{Time: time.Unix(int64(k), 0), Mean: []float64{math.Sin(float64(k))}}
		if k < 10 {
			l.Mean[0] = 40
		}
		if err := e.Update(dst, &l); err != nil {
			t.Fatal(err)
		}
	}
	if dst.SDE.Held != 10 || learnt(e) != 19 {
		t.Errorf("%d frames held, %g transitions; expected 10 and 19", dst.SDE.Held, learnt(e))
	}
}

// TestTrajectoryBeginsElsewhere: an object that has moved elsewhere during a cut is believed after as many frames as without a cut; a picture without its
// object, only after 500.
func TestTrajectoryBeginsElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(l *latent.Latent)
		held  uint64
	}{
		"elsewhere":              {func(l *latent.Latent) { l.Mean[0] += 50 }, 49},
		"no object, one picture": {func(l *latent.Latent) { copy(l.Mean, []float64{50, 50}) }, 499},
		"no object, noise":       {func(l *latent.Latent) { l.Mean[0] = 60 * (2 + math.Sin(float64(l.Seq*l.Seq))) }, 499},
	} {
		e := informed(t, Config{Dim: 2, Seed: 1, TrainMean: []float64{0, 0}, TrainSD: []float64{5, 5}})
		seen, _ := onlinetest.Stream(onlinetest.Still, 1600, 0.2, onlinetest.Rand(70))
		for k := 1000; k < len(seen); k++ {
			seen[k].Trajectory++
			c.spoil(&seen[k])
		}
		feed(t, e, seen[:1000])
		before := learnt(e)
		dst := feed(t, e, seen[1000:1000+c.held+1])
		if dst.SDE.Held != c.held || learnt(e) != before {
			t.Errorf("%s: %d frames held and %g transitions learnt, expected %d and none", name, dst.SDE.Held, learnt(e)-before, c.held)
		}
		if feed(t, e, seen[1001+c.held:1002+c.held]); name == "elsewhere" && learnt(e) != before+1 {
			t.Errorf("%s: the frame after the held ones is not learnt from", name)
		}
	}
}

// TestBleached: the light falls by half in 600 frames, to a tenth, and comes back.
func TestBleached(t *testing.T) {
	e := informed(t, Config{Dim: 2, Prior: springs(2, 4)})
	var told []uint64
	for k, l := range walk(2000, 2000, 0.2, 80, onlinetest.Spring, onlinetest.Spring, 1, 1) {
		l.Light = 100 * max(math.Exp2(-float64(k)/600), 0.2)
		if k > 1700 {
			l.Light = 100
		}
		if k%7 == 0 {
			l.Light = 0 // unknown
		}
		if err := e.Update(new(latent.Estimate), &l); err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Alarms() {
			if a.Code != latent.Bleached {
				t.Errorf("found the event %+v", a)
			}
			told = append(told, a.Seq)
		}
	}
	if len(told) != 2 || told[0] < 600 || told[0] > 720 || told[1] < 1700 || told[1] > 1800 { // averages over 50 frames lag
		t.Errorf("found events at frames %v, expected 670 and 1740", told)
	}
}

// TestResetEndsAlarms: alarms that are on at a Reset end with the next good frame.
func TestResetEndsAlarms(t *testing.T) {
	e := informed(t, Config{Dim: 2, Prior: springs(2, 4)})
	told := map[string]int{}
	for k, l := range walk(1100, 1000, 0, 81, onlinetest.Spring, onlinetest.Spring, 1, 3) {
		if k == 1080 {
			e.Reset()
			e.law.inFlight, e.law.due = true, math.MaxUint64
		}
		if err := e.Update(new(latent.Estimate), &l); err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Alarms() {
			told[string(a.Level)+" "+a.Code]++
		}
	}
	for _, code := range alarmCodes {
		if told["warning "+code] != told["info "+code] {
			t.Errorf("found events %v: every alarm that begins must end", told)
		}
	}
	if told["warning "+latent.DiffusionChanged] != 1 {
		t.Errorf("found events %v", told)
	}
}

// TestSameAlarms: the same latents give the same alarms, also after a restore of a state that was saved amid bad frames.
func TestSameAlarms(t *testing.T) {
	c := Config{Dim: 2, Seed: 1, Prior: springs(2, 4), Deterministic: true, Forecast: []float64{0.02}}
	whole, first, second := estimator(t, c), estimator(t, c), estimator(t, c)
	seen := walk(400, 330, 0.2, 82, onlinetest.Spring, onlinetest.Spring, 1, 3)
	for k := 300; k < 308; k++ {
		seen[k].Mean[1] += 30 * float64(k%3)
	}
	feed(t, whole, seen[:305])
	feed(t, first, seen[:305])
	if err := second.Restore(strings.NewReader(string(saved(t, first)))); err != nil {
		t.Fatal(err)
	}
	want, got := new(latent.Estimate), new(latent.Estimate)
	for k := 305; k < len(seen); k++ {
		for e, dst := range map[*Estimator]*latent.Estimate{whole: want, second: got} {
			if err := e.Update(dst, &seen[k]); err != nil {
				t.Fatal(err)
			}
		}
		// the first frame after the restore reports alarms that were already on
		if !reflect.DeepEqual(want, got) || k > 305 && !reflect.DeepEqual(whole.Alarms(), second.Alarms()) {
			t.Fatalf("frame %d:\n%+v %v\n%+v %v", k, want, whole.Alarms(), got, second.Alarms())
		}
	}
	if got.SDE.Held == 0 || second.Evidence().Diffusion == 0 {
		t.Errorf("no frame was held, or no evidence grew: %+v, %+v", got.SDE, second.Evidence())
	}
}
