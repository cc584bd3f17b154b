package web

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"driftscope/internal/flow/bus"
)

// lawful are few whose states are known of two: 7 is in the fast one, 17 in the slow one, of 3 nobody knows.
func lawful() []object {
	objects := few()
	objects[0].in, objects[1].in, objects[2].in = []any{0.07, 0.93}, []any{0.8, 0.2}, []any{nil, nil}
	return objects
}

// law is what a population says of two states, the force between two objects, and a map: large cells around four small ones, of which the left half
// drifts to the right, and the right half does not drift.
func law() map[string]any {
	x, y, width, vx, vy, sd, d := []float64{}, []float64{}, []float64{}, []float64{}, []float64{}, []float64{}, []float64{}
	cell := func(cx, cy, side float64) {
		drift := 12.0
		if cx > 256 {
			drift = 1
		}
		x, y, width = append(x, cx), append(y, cy), append(width, side)
		vx, vy, sd, d = append(vx, drift), append(vy, 0.5*drift*math.Sin(cy)), append(sd, 2), append(d, 2+cx/16)
	}
	for i := range 16 {
		if cx, cy := 64+128*float64(i%4), 64+128*float64(i/4); i != 5 {
			cell(cx, cy, 128)
		}
	}
	for i := range 4 {
		cell(160+64*float64(i%2), 160+64*float64(i/2), 64)
	}
	distance, force, low, high := []float64{}, []float64{}, []float64{}, []float64{}
	for i := range 12 {
		r := 4 + 4*float64(i)
		distance, force = append(distance, r), append(force, 30*math.Exp(-r/10))
		low, high = append(low, force[i]-60/r-1), append(high, force[i]+60/r+1)
	}
	return map[string]any{
		"law": map[string]any{"seq": 1, "tracks": 400, "steps": 9000, "state_px2_s": []float64{2, 40}, "state_px2_s_low": []float64{1.5, 37}, "state_px2_s_high": []float64{2.6, 43},
			"share": []float64{0.38, 0.62}, "share_low": []float64{0.33, 0.57}, "share_high": []float64{0.43, 0.67}, "spread": 0, "spread_low": 0, "spread_high": 0,
			"switching_s": []float64{0, 0.5, 0.3, 0}, "switching_nats": 41, "says": "Two states, of 0.020 and 0.40 µm²/s, between which objects switch every 2 to 3 s."},
		"pairs": map[string]any{"distance_px": distance, "force_px_s": force, "force_px_s_low": low, "force_px_s_high": high, "pairs": distance, "nats": 12},
		"map": map[string]any{"x_px": x, "y_px": y, "width_px": width, "drift_x_px_s": vx, "drift_y_px_s": vy, "drift_sd_px_s": sd, "diffusion_px2_s": d, "diffusion_sd_px2_s": sd, "steps": width,
			"says": []string{"A flow of 1.2 µm/s to the right in the left half.", "A trap at 160, 224 px, 30 px wide."}},
	}
}

// mapped counts the pixels of the map's canvas around a place of the frame that are as light as a whole arrow.
const mapped = `(() => {
	const c = document.querySelector('#map'), s = c.width / 512;
	const d = c.getContext('2d').getImageData((%v + 0.5) * s - 30, (%v + 0.5) * s - 30, 60, 60).data;
	return d.filter((v, i) => i %% 4 === 3 && v > 240 && d[i - 1] > 240 && d[i - 2] > 240 && d[i - 3] > 240).length;
})()`

// TestFieldLaw: the law is told in words, as states over the spectrum and as colours; the map lies over the picture while it is wanted; the force between
// objects has its panel. Those who send nothing of it are shown as ever.
func TestFieldLaw(t *testing.T) {
	f := openField(t, bus.PagesSteer)
	f.also = law()
	const legend = `document.querySelector('#states').textContent`
	f.until("two states", legend+` === 'state 1: D 0.020 µm²/sstate 2: D 0.40 µm²/snot told'`, lawful())
	for selector, want := range map[string]string{
		"#motion": "D 0.200 µm²/s [0.190, 0.210]", "#says": "every 2 to 3 s.A flow of 1.2 µm/s to the right in the left half.A trap at 160", "#pairs-note": "A force: the evidence for it is 12 nats.",
		"#tints": "Dageclassstate", "#tints [aria-pressed=true]": "state",
	} {
		if got := js[string](f, fmt.Sprintf("document.querySelector(%q).textContent", selector)); !strings.Contains(got, want) {
			t.Errorf("%s says %q, expected %q", selector, got, want)
		}
	}
	if got, want := js[string](f, `document.querySelector('#spectrum').ariaLabel`), "state 1 at 0.0200 µm²/s, 38 % of the time; state 2 at 0.400 µm²/s, 62 % of the time"; !strings.Contains(got, want) {
		t.Errorf("the spectrum is %q, expected %q", got, want)
	}
	for i, want := range []bool{false, true} { // orange and blue
		if hue := js[int](f, fmt.Sprintf(hued, lawful()[i].x, lawful()[i].y)); (hue > 0) != want {
			t.Errorf("object %d: blue is %d more than red, expected it more of 17 alone", lawful()[i].id, hue)
		}
	}
	f.do(chromedp.Click(chromedp.CSS("#objects-head th:nth-child(7) button")))
	f.until("the order by state", `Array.from(document.querySelectorAll('#objects tr'), (tr) => tr.cells[0].textContent + ': ' + tr.cells[6].textContent).join() === '17: 1 · 80 %,7: 2 · 93 %,3: –'`, lawful())
	f.shoot("law")
	t.Run("map", func(t *testing.T) { overlays(f) })
	t.Run("dark", func(t *testing.T) {
		f.do(chromedp.Click(chromedp.CSS("#theme")))
		f.until("dark colours", `document.documentElement.dataset.theme === 'dark'`, lawful())
		f.shoot("dark")
		f.do(chromedp.Click(chromedp.CSS("#theme")))
	})
	t.Run("narrow", func(t *testing.T) {
		f.do(screen(390, 844, 2))
		many := lawful()
		for i := range many {
			many[i].z = []any{-10.25, 1.0, 2.0, 3.0, 4.0}
		}
		f.until("the force, still, and all columns", `document.querySelector('#pairs').clientWidth > 200 && `+fmt.Sprintf(inked, 400, 300)+` > 0 && document.querySelectorAll('#objects-head th').length === 11`, many)
		if wide := js[int](f, "document.documentElement.scrollWidth"); wide > 390 {
			t.Errorf("the page scrolls sideways: it is %d px wide", wide)
		}
		f.shoot("narrow")
		f.do(screen(1024, 900, 1))
		f.until("the force, still", `document.querySelector('#pairs').clientWidth > 200`, lawful())
		f.shoot("medium")
		f.do(screen(1440, 1100, 1))
	})
	f.also = nil
	f.until("nothing of a law", `document.querySelector('#tints').textContent === 'Dageclass' && document.querySelector('#tints [aria-pressed=true]').textContent === 'D' && document.querySelectorAll('#objects-head th').length === 6 &&
		['#says', '#states', '#map', '#map-button', '#map-key', '#pairs'].every((s) => document.querySelector(s).getClientRects().length === 0)`, few())
	if got := js[string](f, `document.querySelector('#spectrum').ariaLabel`); got != "Spectrum of the coefficient of diffusion" {
		t.Errorf("the spectrum is %q without a law", got)
	}
	f.shoot("old")
}

// overlays: the map comes with its button or key, tells what is known from what is not, and is there again after the page was opened anew.
func overlays(f *field) {
	const pressed = `document.querySelector('#map-button').ariaPressed === '%t' && document.querySelector('#map').hidden === %t && document.querySelector('#map-key').hidden === %[2]t`
	f.until("no map yet", fmt.Sprintf(pressed, false, true), lawful())
	f.do(chromedp.Click(chromedp.CSS("#map-button")))
	f.until("the map", fmt.Sprintf(pressed, true, false), lawful())
	for _, c := range []struct {
		x, y float64
		told bool
	}{{64, 192, true}, {160, 160, true}, {448, 192, false}} {
		if n := js[int](f, fmt.Sprintf(mapped, c.x, c.y)); (n > 0) != c.told {
			f.t.Errorf("%d pixels of an arrow at %v, %v, expected some: %v", n, c.x, c.y, c.told)
		}
	}
	if got, want := js[string](f, `document.querySelector('#map-key').textContent + ', ' + document.querySelector('#map-arrows').textContent`), "µm²/s, longest arrows 1.3 µm/s"; !strings.Contains(got, want) {
		f.t.Errorf("the map's legend is %q, expected %q", got, want)
	}
	f.shoot("map")
	f.do(chromedp.Reload())
	f.until("the map again", fmt.Sprintf(pressed, true, false), lawful())
	f.do(chromedp.KeyEvent("m"))
	f.until("no map any more", fmt.Sprintf(pressed, false, true), lawful())
	f.do(chromedp.KeyEvent("m"))
	f.until("the map by its key", fmt.Sprintf(pressed, true, false), lawful())
}

// screen is one of so many pixels, each of scale device pixels a side.
func screen(width, height int64, scale float64) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: scale, Mobile: width < 600})
		return none, err
	}
}
