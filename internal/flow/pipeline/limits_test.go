package pipeline

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
)

// TestWarningsLimited: if a source warns of every frame, each time with a new text, each code gets one line and one event per second. The events count all
// warnings.
func TestWarningsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, interval = 3000, time.Millisecond
		g := newRig(n)
		g.source.interval = interval
		g.source.warns = func(i int) (code, text string) {
			return []string{"messages_overrun", "damaged_picture"}[i%2], fmt.Sprintf("number %d", i)
		}
		var log bytes.Buffer
		g.options.Log = slog.New(slog.NewTextHandler(&log, nil))
		if _, err := g.run(t, 0); err != nil {
			t.Fatal(err)
		}
		counts := map[string]uint64{}
		for _, e := range g.sinks[0].events {
			if e.Level == latent.Warning {
				counts[e.Code] += e.Count
			}
		}
		most := 2 + int(n*interval/noticeEvery) // the first, one per second, and the rest at the end
		for _, code := range []string{"messages_overrun", "damaged_picture"} {
			if lines := strings.Count(log.String(), "msg="+code); lines < 2 || lines > most {
				t.Errorf("%s: %d lines, at most %d expected", code, lines, most)
			}
			if counts[code] != n/2 {
				t.Errorf("%s: events count %d warnings, %d expected", code, counts[code], n/2)
			}
		}
	})
}

// TestLinesLimited: lines of one kind are logged once a second, with the number left out. They do not delay lines of other kinds.
func TestLinesLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := &runner{counters: newCounters(), log: slog.New(slog.NewTextHandler(&log, nil))}
		for i := range 100 {
			r.warn("state", "the state was not saved", "err", i)
		}
		r.warn("view", "no view of this frame")
		time.Sleep(noticeEvery)
		r.warn("state", "the state was not saved", "err", "again")
		if s := log.String(); strings.Count(s, "not saved") != 2 || strings.Count(s, "no view") != 1 || !strings.Contains(s, "err=again left_out=99") {
			t.Errorf("found\n%s", s)
		}
	})
}
