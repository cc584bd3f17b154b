package online

import (
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/onlinetest"
)

// alarmCodes are the codes of all alarms.
var alarmCodes = []string{latent.DriftChanged, latent.DiffusionChanged, latent.UnlikeTraining, latent.ObjectLost, latent.Bleached, latent.TooFewDimensions}

// TestAlarmsStand: an estimate lists the alarms that are on, in agreement with the events. After a rollback it lists the alarms that were on at the
// checkpoint.
func TestAlarmsStand(t *testing.T) {
	e := informed(t, Config{Dim: 2, Prior: springs(2, 4)})
	seen := walk(700, 600, 0.2, 82, onlinetest.Spring, onlinetest.Spring, 1, 3)
	for k := 300; k < 310; k++ {
		seen[k].Mean[1] += 30 * float64(k%3)
	}
	before := string(saved(t, e))
	on, ever := map[string]bool{}, map[string]bool{}
	dst := new(latent.Estimate)
	for k := range seen {
		if err := e.Update(dst, &seen[k]); err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Alarms() {
			on[a.Code] = a.Level == latent.Warning
			ever[a.Code] = true
		}
		for _, code := range alarmCodes {
			if slices.Contains(dst.Alarms, code) != on[code] {
				t.Fatalf("frame %d: %v are on, %v according to the events", k, dst.Alarms, on)
			}
		}
	}
	if !ever[latent.ObjectLost] || !ever[latent.DiffusionChanged] || !on[latent.DiffusionChanged] {
		t.Fatalf("alarms that began: %v", ever)
	}
	if err := e.Restore(strings.NewReader(before)); err != nil {
		t.Fatal(err)
	}
	next := seen[len(seen)-1]
	next.Seq, next.Time = next.Seq+1, next.Time.Add(10_000_000)
	if err := e.Update(dst, &next); err != nil || slices.Contains(dst.Alarms, latent.DiffusionChanged) {
		t.Errorf("after a rollback %v are on: %v", dst.Alarms, err)
	}
}

// TestRestoredAlarmsAreTold: the first frame after a restore reports as events the alarms that the restore ended or began.
func TestRestoredAlarmsAreTold(t *testing.T) {
	c := Config{Dim: 2, Prior: springs(2, 4)}
	e := informed(t, c)
	seen := walk(700, 600, 0.2, 82, onlinetest.Spring, onlinetest.Spring, 1, 3)
	quiet := string(saved(t, e))
	feed(t, e, seen[:699])
	loud := string(saved(t, e))
	for _, r := range []struct {
		name, state string
		into        *Estimator
		level       latent.Level
	}{
		{"rolled back", quiet, e, latent.Info},
		{"back where it was", loud, e, latent.Warning},
		{"begun from it", loud, informed(t, c), latent.Warning},
	} {
		if err := r.into.Restore(strings.NewReader(r.state)); err != nil {
			t.Fatal(err)
		}
		for k := range 2 { // reported once
			next := seen[699]
			next.Seq, next.Time = next.Seq+uint64(k), next.Time.Add(time.Duration(k)*10*time.Millisecond)
			dst, told := feed(t, r.into, []latent.Latent{next}), 0
			for _, a := range r.into.Alarms() {
				if a.Code == latent.DiffusionChanged && a.Level == r.level && a.Seq == next.Seq {
					told++
				}
			}
			if told != 1-k || slices.Contains(dst.Alarms, latent.DiffusionChanged) != (r.level == latent.Warning) {
				t.Errorf("%s, frame %d: events %+v, %v are on", r.name, k, r.into.Alarms(), dst.Alarms)
			}
		}
	}
}

// TestFrozenLatentsGoOn: while the law is frozen, the filtered latent of an estimate is the measured latent, and no alarm about the law or the object begins.
func TestFrozenLatentsGoOn(t *testing.T) {
	e := informed(t, Config{Dim: 2, Prior: springs(2, 4)})
	seen := walk(900, 500, 0.2, 83, onlinetest.Spring, onlinetest.Spring, 1, 3)
	feed(t, e, seen[:500])
	e.Freeze(true)
	dst := new(latent.Estimate)
	for k := 500; k < len(seen); k++ {
		if k%50 < 10 {
			seen[k].Mean[1] += 30 * float64(k%3)
		}
		if err := e.Update(dst, &seen[k]); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(dst.Filtered, seen[k].Mean) || len(dst.Alarms) != 0 {
			t.Fatalf("frame %d: filtered %v of %v, %v on", k, dst.Filtered, seen[k].Mean, dst.Alarms)
		}
	}
}
