package message

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// Dashboards depend on these bytes: this table may gain fields, but never lose one.
func TestWireFormat(t *testing.T) {
	want := []string{
		`{"v":1,"kind":"latent","stream":"bead","seq":6,"time":"2026-05-06T10:00:00.123456789Z","trajectory":2,"dropped_before":3,"z":[0.5,-1e-09],"z_sd":[0.1,1],"drift":[-2,1e+300],"latency_ms":1.5,"z_filtered":[0.25,0],"z_filtered_sd":[0.05,0.5],"nis":2.5,"light":190,"forecast_s":[0.1],"forecast":[0.125,null],"forecast_sd":[0.5,1]}`,
		`{"v":1,"kind":"sde","stream":"bead","seq":6,"time":"2026-05-06T10:00:00.123456789Z","revision":1,"transitions":9,"observed_s":0.3,"sigma":[1,2],"sigma_low":[0.9,1.9],"sigma_high":[1.1,2.1],"diffusion":[0.5,2],"noise_sd":[0.01,0.02],"activity":["active","undecided"],"active_count":1,"drift_crlb":0.25,"drift_revision":4,"frames_held":5,"drift_frame":0,"drift_changes":0,"too_few_dimensions":false}`,
		`{"v":1,"kind":"latent","stream":"bead","seq":7,"time":"2026-05-06T10:00:00.123456789Z","trajectory":2,"dropped_before":3,"z":[0.5,-1e-09],"z_sd":[0.1,1],"drift":[-2,1e+300],"latency_ms":1.5,"z_filtered":[0.25,0],"z_filtered_sd":[0.05,0.5],"nis":2.5,"light":190,"forecast_s":[0.1],"forecast":[0.125,null],"forecast_sd":[0.5,1]}`,
		`{"v":1,"kind":"event","stream":"bead","seq":7,"time":"2026-05-06T10:00:00.123456789Z","level":"warning","code":"queue_full","text":"a \"quoted\" text\u001b[2J","count":3}`,
		`{"v":1,"kind":"trigger","stream":"bead","seq":7,"time":"2026-05-06T10:00:00.123456789Z","name":"well","rule":"zone","on":true,"object":9,"value":0.25,"threshold":0,"unit":"latent","z_filtered":[0.25,null],"centroid_px":[250.5,9],"latency_ms":1.5,"lead_ms":12,"z_forecast":[0.5,null],"z_forecast_sd":[0.125,null]}`,
		`{"v":1,"kind":"health","stream":"bead","time":"2026-05-06T10:00:00.123456789Z","state":"tracking","uptime_s":12,"frames_in":20,"frames_tracked":18,"frames_dropped":{"queue_full":2},"alarms":{"bleached":1},"published":40,"fps":29.5,"queue":0,"stages":[{"name":"read","p50_ms":1,"p95_ms":2,"p99_ms":3,"count":0,"total_ms":0}]}`,
		`{"v":1,"kind":"view","stream":"bead","seq":7,"time":"2026-05-06T10:00:00.123456789Z","preview_jpeg":"/9g=","reconstruction_jpeg":"AQ=="}`,
	}
	_, got := sinktest.Lines(t, (&Encoder{Stream: "bead"}).Encode, sinktest.Estimate(6, 1), sinktest.Estimate(7, 1), sinktest.Event(), sinktest.Trigger(7), sinktest.Health(), sinktest.View())
	if len(got) != len(want) {
		t.Fatalf("found %d records, expected %d: a law only where it is new", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("found    %s\nexpected %s", got[i], want[i])
		}
	}
}

// TestEpochOf: every kind of record contains the epoch of its lease, or none without a lease.
func TestEpochOf(t *testing.T) {
	for _, epoch := range []uint64{0, 1 << 52} {
		e := &Encoder{Stream: "bead", Epoch: epoch}
		kinds, lines := sinktest.Lines(t, e.Encode, sinktest.Estimate(6, 1), sinktest.Event(), sinktest.Trigger(7), sinktest.Health(), sinktest.View(), sinktest.Field(8), sinktest.Population(8))
		for i, line := range lines {
			r, err := Decode(kinds[i], []byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if found := EpochOf(r); found != epoch {
				t.Errorf("%s: found epoch %d, expected %d", kinds[i], found, epoch)
			}
		}
	}
}

// Records contain the centroid and lengths only if these are known.
func TestUnitsAreAdded(t *testing.T) {
	e := sinktest.Estimate(6, 1)
	e.Latent.Centroid = []float64{250.5, 9}
	e.SDE.Units = latent.Units{Calibration: latent.Unexplained, R2: []float64{0.5, 1}}
	far := sinktest.Estimate(7, 2)
	far.SDE.Units = latent.Units{Calibration: latent.Calibrated, R2: []float64{0.95, 1}, PixelsPerLatentX: []float64{3, 0}, PixelsPerLatentY: []float64{-1, 2},
		Px: latent.Spread{D: 4, Low: 0, High: 6, X: 3, Y: 5}}
	um := sinktest.Estimate(8, 3)
	um.SDE.Units = far.SDE.Units
	um.SDE.Units.UM = latent.Spread{D: 1, Low: 0, High: 1.5, X: 0.75, Y: 1.25}
	_, got := sinktest.Lines(t, (&Encoder{Stream: "bead"}).Encode, e, far, um)
	px := `"calibration":"on","calibration_r2":[0.95,1],"pixels_per_latent_x":[3,0],"pixels_per_latent_y":[-1,2],` +
		`"diffusion_px2_s":4,"diffusion_px2_s_low":0,"diffusion_px2_s_high":6,"diffusion_xy_px2_s":[3,5]`
	for i, want := range []string{
		`"latency_ms":1.5,"centroid_px":[250.5,9],"z_filtered"`,
		`"drift_revision":4,"frames_held":5,"drift_frame":0,"drift_changes":0,"too_few_dimensions":false,"calibration":"not_explained","calibration_r2":[0.5,1]}`,
		`"latency_ms":1.5,"z_filtered"`,
		`"drift_changes":0,"too_few_dimensions":false,` + px + `}`,
		`"latency_ms":1.5,"z_filtered"`,
		`"drift_changes":0,"too_few_dimensions":false,` + px + `,"diffusion_um2_s":1,"diffusion_um2_s_low":0,"diffusion_um2_s_high":1.5,"diffusion_xy_um2_s":[0.75,1.25]}`,
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("found    %s\nexpected %s", got[i], want)
		}
	}
	r, err := Decode(latent.KindSDE, []byte(got[5]))
	if law, ok := r.(*SDERecord); err != nil || !ok || *law.UMHigh != 1.5 || law.Calibration != latent.Calibrated || law.PixelsPerLatentY[0] != -1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Decode(latent.KindSDE, []byte(strings.Replace(got[5], `"pixels_per_latent_y":[-1,2]`, `"pixels_per_latent_y":[-1]`, 1))); err == nil {
		t.Error("a map of another dimension than sigma was read")
	}
}

func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	e := sinktest.Estimate(6, 1)
	e.Latent.Mean[1], e.Drift[0], e.SDE.CRLB, e.SDE.SigmaHigh[0] = math.NaN(), math.Inf(1), math.Inf(1), math.NaN()
	kinds, encoded := sinktest.Lines(t, (&Encoder{Stream: "bead"}).Encode, e, sinktest.Event(), sinktest.Health(), sinktest.View(), sinktest.Trigger(7))
	var records []Record
	for i := range kinds {
		r, err := Decode(kinds[i], []byte(encoded[i]))
		if err != nil {
			t.Fatalf("%s: %v", encoded[i], err)
		}
		records = append(records, r)
	}
	l, law := records[0].(*LatentRecord), records[1].(*SDERecord)
	if l.Seq != 6 || l.Stream != "bead" || !l.Time.Equal(sinktest.Noon) || l.Time.Location() != time.UTC || l.Z[0] != 0.5 || l.LatencyMS != 1.5 {
		t.Errorf("found %+v", l)
	}
	if !math.IsNaN(l.Z[1]) || !math.IsNaN(l.Drift[0]) || !math.IsNaN(float64(law.CRLB)) || !math.IsNaN(law.SigmaHigh[0]) {
		t.Errorf("numbers that are not finite read as %+v, %+v", l, law)
	}
	if l.NIS != 2.5 || l.Filtered[0] != 0.25 || l.FilteredSD[1] != 0.5 || l.Horizons[0] != 0.1 || l.Forecast[0] != 0.125 || !math.IsNaN(l.Forecast[1]) || l.ForecastSD[1] != 1 || law.Held != 5 {
		t.Errorf("found %+v, %+v", l, law)
	}
	if law.Sigma[1] != 2 || law.Activity[1] != latent.Undecided || law.Revision != 1 {
		t.Errorf("found %+v", law)
	}
	want := *sinktest.Event()
	want.Time = want.Time.UTC()
	if got := records[2].(*EventRecord).Event; got != want {
		t.Errorf("found %+v", got)
	}
	if got := records[3].(*HealthRecord).Health; got.Dropped["queue_full"] != 2 || got.Alarms["bleached"] != 1 || got.Stages[0].P99MS != 3 {
		t.Errorf("found %+v", got)
	}
	if got := records[4].(*ViewRecord).View; !reflect.DeepEqual(got.Preview, sinktest.View().Preview) {
		t.Errorf("found %+v", got)
	}
	g := records[5].(*TriggerRecord)
	if g.Seq != 7 || !g.Time.Equal(sinktest.Noon) || g.Name != "well" || g.Rule != "zone" || !g.On || g.Value != 0.25 || g.Unit != "latent" || !math.IsNaN(g.Filtered[1]) || g.Centroid[0] != 250.5 || g.LatencyMS != 1.5 {
		t.Errorf("found %+v", g)
	}
}

// TestAppendLatentIsTheRecord: the writer without allocation gives the same format as the record's tags, with and without an epoch.
func TestAppendLatentIsTheRecord(t *testing.T) {
	e := sinktest.Estimate(6, 0)
	e.Latent.Mean[0] = math.NaN()
	for _, epoch := range []uint64{0, 12} {
		h := Header{V: latent.Version, Kind: latent.KindLatent, Stream: "bead", Epoch: epoch}
		r := LatentRecord{Header: h, Seq: 6, Time: sinktest.Noon.UTC(), Trajectory: 2, Dropped: 3, Z: e.Latent.Mean, SD: e.Latent.SD, Drift: e.Drift, LatencyMS: 1.5,
			Filtered: e.Filtered, FilteredSD: e.FilteredSD, NIS: 2.5, Light: 190, Horizons: e.Horizons, Forecast: e.Forecast, ForecastSD: e.ForecastSD}
		want, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendLatent(nil, h, e); string(got) != string(want) {
			t.Errorf("found    %s\nexpected %s", got, want)
		}
		buffer := make([]byte, 0, 1024)
		if n := testing.AllocsPerRun(100, func() { buffer = appendLatent(buffer[:0], h, e) }); n != 0 {
			t.Errorf("%v allocations a frame", n)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := map[string]struct {
		kind latent.Kind
		data string
		want string
	}{
		"kind":        {"cmd", `{}`, `kind "cmd" are not known`},
		"json":        {latent.KindEvent, `hello`, "event: not a driftscope message"},
		"version":     {latent.KindEvent, `{"v":2,"kind":"event"}`, "message version 2, this build reads 1"},
		"wrong kind":  {latent.KindEvent, `{"v":1,"kind":"sde"}`, `found a message of kind "sde"`},
		"empty":       {latent.KindLatent, `{"v":1,"kind":"latent"}`, "no latent dimensions"},
		"lengths":     {latent.KindLatent, `{"v":1,"kind":"latent","z":[1,2],"z_sd":[1]}`, "[2 1 0 0 0]"},
		"forecast":    {latent.KindLatent, `{"v":1,"kind":"latent","z":[1,2],"forecast_s":[0.1],"forecast":[1]}`, "1 horizons with forecasts of 1 and 0"},
		"law lengths": {latent.KindSDE, `{"v":1,"kind":"sde","sigma":[1,2],"activity":["active"]}`, "one entry per latent"},
		"many":        {latent.KindLatent, `{"v":1,"kind":"latent","z":[` + strings.Repeat("1,", 64) + `1]}`, "found 65 numbers, expected at most 64"},
		"long text":   {latent.KindEvent, `{"v":1,"kind":"event","text":"` + strings.Repeat("a", 5000) + `"}`, "5000 bytes"},
		"long name":   {latent.KindTrigger, `{"v":1,"kind":"trigger","name":"` + strings.Repeat("a", 5000) + `"}`, "5000 bytes"},
		"cameras":     {latent.KindHealth, `{"v":1,"kind":"health","cameras":[` + strings.Repeat("{},", MaxCameras) + `{}]}`, "65 cameras, expected at most 64"},
		"long camera": {latent.KindHealth, `{"v":1,"kind":"health","cameras":[{"left_out":"` + strings.Repeat("a", 5000) + `"}]}`, "texts of at most 4096 bytes"},
		"worker":      {latent.KindWorker, `{"v":1,"kind":"worker","streams":[` + strings.Repeat("{},", mostRunning) + `{}]}`, "1001 streams run"},
		"long":        {latent.KindView, strings.Repeat(" ", MaxRecord+1), "expected at most"},
		"time":        {latent.KindEvent, `{"v":1,"kind":"event","time":"yesterday"}`, "yesterday"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode(test.kind, []byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("found %v, expected %q", err, test.want)
			}
		})
	}
	if r, err := Decode(latent.KindWorker, []byte(`{"v":1,"kind":"worker","stream":"hall-1","streams":[{"name":"bead","epoch":12}]}`)); err != nil || r.(*WorkerRecord).Streams[0].Epoch != 12 {
		t.Errorf("found %+v, %v of a worker", r, err)
	}
	if _, err := Decode(latent.KindEvent, []byte(`{"v":1,"kind":"event","added_later":1}`)); err != nil {
		t.Errorf("a field of a later release: %v", err)
	}
}

// FuzzDecode: every record that Decode accepts is within the limits and can be encoded again.
func FuzzDecode(f *testing.F) {
	kinds := []latent.Kind{latent.KindLatent, latent.KindSDE, latent.KindEvent, latent.KindHealth, latent.KindView}
	e := Encoder{Stream: "bead"}
	for _, m := range []latent.Message{sinktest.Estimate(6, 1), sinktest.Event(), sinktest.Health(), sinktest.View()} {
		err := e.Encode(m, func(kind latent.Kind, line []byte) error {
			for i, k := range kinds {
				if k == kind {
					f.Add(uint8(i), string(line))
				}
			}
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	f.Add(uint8(0), `{"v":1,"kind":"latent","z":null}`)
	f.Add(uint8(1), `{"v":1,"kind":"sde","sigma":[null,1e999]}`)
	f.Fuzz(func(t *testing.T, kind uint8, data string) {
		r, err := Decode(kinds[int(kind)%len(kinds)], []byte(data))
		if err != nil {
			return
		}
		if l, ok := r.(*LatentRecord); ok && (len(l.Z) == 0 || len(l.Z) > MaxLatent) {
			t.Errorf("%d dimensions", len(l.Z))
		}
		again, err := json.Marshal(r)
		if err != nil {
			return // RFC 3339 cannot represent this time
		}
		if _, err := Decode(kinds[int(kind)%len(kinds)], again); err != nil {
			t.Errorf("%q is written again as %q, which is refused: %v", data, again, err)
		}
	})
}

// A drift field is in the first law that has it, but not in the next; NaN is null. A field with inconsistent lists is refused.
func TestFieldIsSentOnce(t *testing.T) {
	first, second := sinktest.Estimate(6, 1), sinktest.Estimate(7, 2)
	first.SDE.Field = &latent.Field{Axes: []int{0}, Z: [][]float64{{-1}, {1}}, Drift: [][]float64{{4}, {math.NaN()}}, SD: [][]float64{{0.5}, {2}}, Scarce: []bool{false, true}}
	second.SDE.Field = first.SDE.Field
	_, got := sinktest.Lines(t, (&Encoder{Stream: "bead"}).Encode, first, second)
	if want := `"drift_field":{"axes":[0],"z":[[-1],[1]],"drift":[[4],[null]],"drift_sd":[[0.5],[2]],"scarce":[false,true]}}`; !strings.HasSuffix(got[1], want) {
		t.Errorf("found    %s\nexpected %s", got[1], want)
	}
	if strings.Contains(got[3], "drift_field") {
		t.Errorf("sent again: %s", got[3])
	}
	if r, err := Decode(latent.KindSDE, []byte(got[1])); err != nil || r.(*SDERecord).Field.SD[1][0] != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Decode(latent.KindSDE, []byte(strings.Replace(got[1], `"scarce":[false,true]`, `"scarce":[false]`, 1))); err == nil {
		t.Error("a field with a point too few was taken")
	}
}
