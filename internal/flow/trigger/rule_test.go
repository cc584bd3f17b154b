package trigger

import (
	"reflect"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

func TestNew(t *testing.T) {
	refuses(t, map[string]string{
		"flash: {name: a}":                           `kind "flash" is not known: give one of changed, lost, sigma, speed, zone`,
		"lost":                                       "lost: name is missing",
		"lost: {name: a.b}":                          `lost: name: found "a.b", expected 1 to 64 letters, digits, - or _`,
		"lost: {name: a, after: 0}":                  "after: found 0, expected 1 to 10000 frames",
		"lost: {name: a, rest: -1s}":                 "rest: found -1s, expected 0s to 24h0m0s",
		"lost: {name: a, rest: 25h}":                 "rest: found 25h0m0s",
		"lost: {name: a, margin: 1}":                 `c.yaml:3: unknown key "triggers[0].lost.margin"; known keys here: after, alarms, certain, name, object, rest`,
		"zone: {name: a, box: {z1: [0, 1]}, end: 1}": `unknown key "triggers[0].zone.end"`,
	})
}

func TestTogether(t *testing.T) {
	a, b := made(t, "lost: {name: a}"), made(t, "changed: {name: a}")
	if _, err := Together([]*Rule{a, made(t, "lost: {name: c}"), b}); err == nil || err.Error() != "triggers[0] and triggers[2]: both are called a: give one of them another name" {
		t.Errorf("found %v", err)
	}
}

// A rule begins and ends after the configured number of consecutive frames, and not more often than rest allows.
func TestHold(t *testing.T) {
	// frames inside: 1, 2, 4 to 7, 9, 12 to 14
	all := along(5, 0, 0, 5, 0, 0, 0, 0, 5, 0, 5, 5, 0, 0, 0, 5)
	const box = "box: {z1: [-1, 1]}"
	fires(t, all, map[string]string{
		"zone: {name: a, " + box + "}":                                "+1 -3 +4 -8 +9 -10 +12 -15",
		"zone: {name: a, after: 2, " + box + "}":                      "+2 -11 +13",
		"zone: {name: a, after: 3, " + box + "}":                      "+6",
		"zone: {name: a, after: 5, " + box + "}":                      "",
		"zone: {name: a, rest: 40ms, " + box + "}":                    "+1 -3 +5 -8 +9 -10 +13 -15",
		"zone: {name: a, rest: 1h, " + box + "}":                      "+1 -3",
		"zone: {name: a, after: 2, rest: 120ms, " + box + "}":         "+2 -11 +14",
		"zone: {name: a, after: 2, rest: 1h, " + box + "}":            "+2 -11",
		"zone: {name: a, after: 16, rest: 10ms, " + box + "}":         "",
		"zone: {name: a, after: 1, rest: 0s, margin: 5, " + box + "}": "+1",
	})
}

// If the times of a recording start again, the earlier times no longer count for rest.
func TestRestAcrossRecordings(t *testing.T) {
	all := along(0, 5, 0, 5)
	for _, e := range all[2:] {
		e.Latent.Time = e.Latent.Time.Add(-time.Hour)
	}
	if got := fired(made(t, "zone: {name: a, rest: 1m, box: {z1: [-1, 1]}}"), all); got != "+0 -1 +2 -3" {
		t.Errorf("found %q", got)
	}
}

// A rule does not get untracked frames: after a gap it continues in its earlier state.
func TestGap(t *testing.T) {
	all := along(0, 0, 5, 5, 0, 0, 5, 5)
	seen := append(all[:1:1], all[5:]...) // 1 to 4 were refused
	fires(t, seen, map[string]string{
		"zone: {name: a, box: {z1: [-1, 1]}}":           "+0 -6",
		"zone: {name: a, after: 2, box: {z1: [-1, 1]}}": "+5 -7",
	})
}

// A trigger contains the frame, the rule, and copies of the filtered latent and the centroid.
func TestTrigger(t *testing.T) {
	rules, err := Together([]*Rule{made(t, "zone: {name: well, box: {z1: [-1, 1]}}"), made(t, "lost: {name: gone}"), made(t, "speed: {name: fast, drift: 2}")})
	if err != nil {
		t.Fatal(err)
	}
	e := frames(1, func(_ int, e *latent.Estimate) { e.Latent.Seq, e.Filtered[0], e.Drift[1] = 42, 0.75, -3 })[0]
	got := rules.Watch(e)
	want := []*latent.Trigger{
		{Seq: 42, Time: epoch, Name: "well", Rule: "zone", On: true, Value: 0.25, Unit: "latent", Filtered: []float64{0.75, 0}, Centroid: []float64{100, 100}},
		{Seq: 42, Time: epoch, Name: "fast", Rule: "speed", On: true, Value: 3, Threshold: 2, Unit: "latent/s", Filtered: []float64{0.75, 0}, Centroid: []float64{100, 100}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v %+v", got[0], got[1])
	}
	well := got[0]
	e.Filtered[0], e.Latent.Centroid[0] = 7, 7
	if rules.Watch(e); well.Filtered[0] != 0.75 || well.Centroid[0] != 100 {
		t.Error("a trigger shares the memory of the estimate")
	}
}

// A trigger contains a copy of the forecast for its pulse, or neither forecast nor lead if there is none.
func TestForecast(t *testing.T) {
	all := along(5, 0, 0, 5)
	for _, e := range all[:3] {
		e.Lead, e.Ahead, e.AheadSD = 0.0125, []float64{0.5, -0.5}, []float64{0.1, 0.2}
	}
	r := made(t, "zone: {name: a, box: {z1: [-1, 1]}}")
	r.look(all[0])
	in := r.look(all[1])
	all[1].Ahead[0], all[1].AheadSD[0] = 7, 7
	if in.Lead != 12500*time.Microsecond || !reflect.DeepEqual(in.Forecast, []float64{0.5, -0.5}) || !reflect.DeepEqual(in.ForecastSD, []float64{0.1, 0.2}) {
		t.Errorf("found %+v", in)
	}
	all[3].Lead = 0.0125
	if out := r.look(all[3]); out.Lead != 0 || out.Forecast != nil || out.ForecastSD != nil {
		t.Errorf("found %+v, expected no forecast", out)
	}
}

// eight returns eight rules, two of each kind except one, that no frame of along triggers.
func eight(t testing.TB) *Rules {
	var all []*Rule
	for _, text := range []string{
		"zone: {name: a, box: {z1: [5, 6], z2: [5, 6]}}", "zone: {name: b, ball: {centre: {z1: 5, z2: 5}, radius: 1}}", "zone: {name: c, centroid_px: {x: [0, 10], y: [0, 10]}}",
		"speed: {name: d, drift: 5}", "speed: {name: e, centroid_um_s: 500}", "changed: {name: f}", "lost: {name: g}", "sigma: {name: h, of: z2, above: 2}",
	} {
		all = append(all, made(t, text))
	}
	rules, err := Together(all)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// Frames without triggers allocate nothing.
func TestAllocations(t *testing.T) {
	rules := eight(t)
	all := along(repeated(100, 0, 0.1, 0.2)...)
	i := 0
	if n := testing.AllocsPerRun(200, func() {
		if len(rules.Watch(all[i])) != 0 {
			t.Error("a rule fired")
		}
		i++
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkEightRules(b *testing.B) {
	rules := eight(b)
	all := along(repeated(2000, 0, 0.1, 0.2)...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		rules.Watch(all[i%len(all)])
	}
}
