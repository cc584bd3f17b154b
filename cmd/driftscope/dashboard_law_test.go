package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// TestDashboardOfALaw: a replay of results shows the law in words, the colours of states, the map and the force on the page. Results of an older release
// lack these, and the page omits them.
func TestDashboardOfALaw(t *testing.T) {
	b := openBrowser(t)
	results := filepath.Join(t.TempDir(), "results.jsonl")
	writeLaw(t, results, true)
	run, address := shown(t, "view", results, "--loop", "--nats-port", "0", "--dashboard", "127.0.0.1:0")
	b.do(chromedp.Navigate(address))
	b.until(time.Minute, "the law and the map in words", `document.querySelector('#says')?.textContent === 'Two states.A trap at 32, 16.'`)
	b.until(time.Minute, "the states' colours", `document.querySelector('#states').getClientRects().length > 0 && document.querySelector('#states').textContent === 'state 1: D 0.031 µm²/sstate 2: D 0.50 µm²/snot told'`)
	b.until(time.Minute, "the force", `document.querySelector('#pairs-note').textContent.startsWith('No force') && document.querySelector('#pairs').clientWidth > 0`)
	b.do(chromedp.Click(chromedp.CSS("#map-button")))
	b.until(time.Minute, "the map", `!document.querySelector('#map').hidden && document.querySelector('#map').getContext('2d').getImageData(0, 0, 600, 600).data.some((v) => v > 0)`)
	b.clean(false)
	interrupt(t, run)

	writeLaw(t, results, false)
	run, address = shown(t, "view", results, "--loop", "--nats-port", "0", "--dashboard", "127.0.0.1:0")
	b.do(chromedp.Navigate(address))
	b.until(time.Minute, "objects and their mean D", `document.querySelectorAll('#objects tr').length > 1 && /D 0.250/.test(document.querySelector('#motion').textContent)`)
	if !b.is(`['#says', '#states', '#map', '#map-button', '#pairs'].every((s) => document.querySelector(s).getClientRects().length === 0)`) {
		t.Errorf("the page shows a law that nobody told: %q", b.text("body"))
	}
	b.clean(true)
	interrupt(t, run)
}

// writeLaw writes the results of a run on a field: objects in a hundred frames, and a population record per frame. With a law it adds the states, a map of
// more cells than a record may have latents, and the force.
func writeLaw(t *testing.T, path string, lawful bool) {
	t.Helper()
	var lines []string
	encoder := &message.Encoder{Stream: "field"}
	for seq := uint64(1); seq <= 100; seq++ {
		objects, of := sinktest.Field(seq), *sinktest.Population(seq)
		objects.Latent.Time = sinktest.Noon.Add(time.Duration(seq) * 40 * time.Millisecond)
		of.Time, objects.Objects.ID[1] = objects.Latent.Time, 4 // a number that JavaScript represents exactly
		if !lawful {
			of.Law, of.Pairs, of.Map = nil, nil, nil
			objects.Objects.States, objects.Objects.State = 0, nil
		} else {
			law, pairs := *of.Law, *of.Pairs
			law.Says, pairs.Nats = "Two states.", -5
			of.Law, of.Pairs, of.Map = &law, &pairs, cells(of.Map, 50)
		}
		_, told := sinktest.Lines(t, encoder.Encode, objects, &of)
		lines = append(lines, told...)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// cells returns a map with its cells repeated.
func cells(m *latent.FieldMap, times int) *latent.FieldMap {
	of := func(column []float64) []float64 { return slices.Repeat(column, times) }
	return &latent.FieldMap{X: of(m.X), Y: of(m.Y), Width: of(m.Width), VX: of(m.VX), VY: of(m.VY), SD: of(m.SD), D: of(m.D), DSD: of(m.DSD), Steps: of(m.Steps), Says: []string{"A trap at 32, 16."}}
}
