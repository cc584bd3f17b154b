package sinks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// streaming returns Metrics with the messages of one stream, and with a second stream that has only started.
func streaming(t *testing.T) *Metrics {
	t.Helper()
	m := NewMetrics(func() bool { return true })
	m.Sink("idle", 0)
	m.watch("bead", func() int64 { return 4096 })
	s := m.Sink("bead", time.Second)
	h := sinktest.Health()
	h.Dropped["sink_jsonl"], h.Queue = 3, 1
	h.Stages[0].Count, h.Stages[0].TotalMS = 20, 30
	for _, message := range []latent.Message{sinktest.Hard(), h, sinktest.Event(), sinktest.Trigger(7), sinktest.View()} {
		if err := s.Write(t.Context(), message); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, s)
	return m
}

// scrape returns the text that Prometheus would get.
func scrape(t *testing.T, h http.Handler) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return w.Code, w.Body.String()
}

func TestMetrics(t *testing.T) {
	status, body := scrape(t, streaming(t).Handler())
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	for _, want := range []string{
		"driftscope_nats_connected 1",
		`driftscope_stream_state{state="tracking",stream="bead"} 1`,
		`driftscope_stream_state{state="stopped",stream="bead"} 0`,
		`driftscope_stream_state{state="starting",stream="idle"} 1`,
		`driftscope_frames_total{stream="bead"} 20`,
		`driftscope_frames_tracked_total{stream="bead"} 18`,
		`driftscope_frames_dropped_total{cause="queue_full",stream="bead"} 2`,
		`driftscope_messages_total{stream="bead"} 40`,
		`driftscope_messages_dropped_total{sink="jsonl",stream="bead"} 3`,
		`driftscope_queue_frames{stream="bead"} 1`,
		`driftscope_alarms_total{code="bleached",stream="bead"} 1`,
		`driftscope_triggers_total{rule="well",stream="bead"} 1`,
		`driftscope_spool_bytes{stream="bead"} 4096`,
		`driftscope_stage_seconds{stage="read",stream="bead",quantile="0.99"} 0.003`,
		`driftscope_stage_seconds_sum{stage="read",stream="bead"} 0.03`,
		`driftscope_stage_seconds_count{stage="read",stream="bead"} 20`,
		`driftscope_latent_sigma{dim="1",stream="bead"} 2`,
		`driftscope_latent_sigma_low{dim="0",stream="bead"} 0.9`,
		`driftscope_active_dimensions{stream="bead"} 1`,
		`driftscope_diffusion_square_meters_per_second{stream="bead"} 4e-14`,
		"go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("not said: %s", want)
		}
	}
	if strings.Contains(body, `cause="sink_`) {
		t.Error("messages are counted as frames")
	}
}

// TestMetricsByConvention: names, types, units and help follow the conventions of Prometheus, and every metric is documented.
func TestMetricsByConvention(t *testing.T) {
	m := streaming(t)
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "driftscope_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	page, err := os.ReadFile("../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	for _, f := range families {
		if name := f.GetName(); strings.HasPrefix(name, "driftscope_") {
			made = append(made, name)
			if !strings.Contains(string(page), "`"+name) {
				t.Errorf("docs/reference/metrics.md does not say %s", name)
			}
		}
	}
	for _, name := range regexp.MustCompile(`driftscope_[a-z_]+`).FindAllString(string(page), -1) {
		if !slices.Contains(made, strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")) {
			t.Errorf("docs/reference/metrics.md says %s, which there is not", name)
		}
	}
}

// TestReady: a stream is ready from its first frame on, while its last tracked frame is recent enough and its source is not lost.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMetrics(func() bool { return true })
		expect := func(ready bool, state string) {
			t.Helper()
			status, body := scrape(t, m.Ready())
			var answer struct {
				Ready   bool
				Streams []readiness
			}
			if err := json.Unmarshal([]byte(body), &answer); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: 200, false: 503}[ready]; status != want || answer.Ready != ready {
				t.Errorf("found %d %s, expected ready to be %v", status, body, ready)
			}
			if state != "" && (len(answer.Streams) != 1 || answer.Streams[0].State != state || answer.Streams[0].Stream != "bead") {
				t.Errorf("found %s, expected state %s", body, state)
			}
		}
		expect(true, "") // there is nothing to track
		s := m.Sink("bead", 5*time.Second)
		write := func(state string, frames bool) {
			t.Helper()
			h := sinktest.Health()
			h.State = state
			messages := []latent.Message{h}
			if frames {
				messages = append(messages, sinktest.Estimate(1, 1))
			}
			for _, message := range messages {
				if err := s.Write(t.Context(), message); err != nil {
					t.Fatal(err)
				}
			}
		}
		expect(false, "starting")
		write("tracking", true)
		expect(true, "tracking")
		time.Sleep(5 * time.Second)
		expect(true, "tracking")
		time.Sleep(time.Millisecond)
		expect(false, "tracking")
		write("source_lost", false)
		expect(false, "source_lost")
		write("tracking", true)
		expect(true, "tracking")
		write("stopped", false)
		expect(false, "stopped")
		m.Sink("bead", 0) // the stream starts again
		expect(false, "starting")
	})
}

// TestMetricsAside: scrapes while streams write disturb nothing, under the race detector.
func TestMetricsAside(t *testing.T) {
	m := NewMetrics(func() bool { return true })
	s := m.Sink("bead", time.Second)
	done := make(chan error, 1)
	go func() {
		for seq := range uint64(2000) {
			if err := s.Write(t.Context(), sinktest.Estimate(seq, seq)); err != nil {
				done <- err
				return
			}
		}
		done <- s.Write(t.Context(), sinktest.Health())
	}()
	for range 20 {
		if status, body := scrape(t, m.Handler()); status != http.StatusOK {
			t.Error(status, body)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, body := scrape(t, m.Handler()); !strings.Contains(body, fmt.Sprintf(`driftscope_frames_total{stream="bead"} %d`, sinktest.Health().Frames)) {
		t.Error("the last health is not told")
	}
}

// BenchmarkMetrics measures the cost per frame.
func BenchmarkMetrics(b *testing.B) {
	s, e := NewMetrics(func() bool { return true }).Sink("bead", time.Second), sinktest.Wide(16)
	b.ReportAllocs()
	for b.Loop() {
		e.SDE.Revision++
		if err := s.Write(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}
