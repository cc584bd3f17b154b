package main

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestDashboardLate: whoever opens the page after the end sees the last state in its layout, when and why the run ended, what had happened, and the zones.
func TestDashboardLate(t *testing.T) {
	b := openBrowser(t)
	path := filepath.Join(t.TempDir(), "scene.yaml")
	text := "stream: molecule\nsource: {sim: {name: molecule, seed: 1}}\ntriggers:\n  - zone: {name: edge, centroid_px: {x: [300, 512], y: [0, 512]}}\n  - zone: {name: well, box: {z1: [-0.5, 0.5]}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run, address, told := introduced(t, "run", path, "--stay", "--frames", "100", "--nats-port", "0", "--dashboard", "127.0.0.1:0", "--no-status")
	untilStopped(t, told)

	b.do(chromedp.Navigate(address))
	b.until(30*time.Second, "the end", badge("ended"))
	b.until(10*time.Second, "when and why", `/^The run ended at \d\d:\d\d:\d\d, without an error\. It had tracked \d+ frames in .* Start runs it again\.$/.test(document.querySelector('#ended').textContent)`)
	b.until(10*time.Second, "its last frame and its law", moving+` && document.body.dataset.shows === 'scene' && /^σ /.test(document.querySelector('#how').textContent)`)
	b.until(10*time.Second, "the zone of the picture, and none of latents", `Array.from(document.querySelectorAll('#pictures .zone'), (z) => z.textContent + ' from ' + parseFloat(z.style.left).toFixed(1)).join() === 'edge from 58.7'`)
	b.until(10*time.Second, "what had happened", `/stream ended/.test(document.querySelector('#events').textContent)`)
	b.do(chromedp.Click(chromedp.CSS("#levels button:nth-child(3)")))
	b.until(10*time.Second, "no error", `/^None of \d+ events/.test(document.querySelector('#no-events').innerText) && !Array.from(document.querySelectorAll('#events li')).some((li) => li.getClientRects().length)`)
	b.do(chromedp.Click(chromedp.CSS("#levels button:nth-child(1)")))
	b.size(1400, 1000, 1, false)
	b.shoot("late")
	b.clean(false)

	b.do(chromedp.Click(chromedp.CSS("#pause"))) // which reads Start
	b.until(time.Minute, "another end, of the run that was started again", `document.querySelectorAll('#events li').length > 0 && /command start/.test(document.querySelector('#events').textContent) && `+badge("ended"))
	interrupt(t, run)
	b.until(20*time.Second, "that the program has ended too, and what keeps it", `/The program has ended too: run --stay keeps it\.$/.test(document.querySelector('#ended').textContent) && `+badge("ended"))
}

// untilStopped waits for the end of the stream molecule.
func untilStopped(t *testing.T, told []string) {
	t.Helper()
	_, at, _ := strings.Cut(strings.Join(told, "\n"), "publishing on ")
	at, _, _ = strings.Cut(at, " ")
	nc := dial(t, at)
	var h health
	for end := time.Now().Add(2 * time.Minute); h.State != "stopped"; time.Sleep(100 * time.Millisecond) {
		if m, err := nc.Request("driftscope.local.molecule.cmd.stats", nil, 5*time.Second); err == nil {
			json.Unmarshal(m.Data, &h)
		}
		if time.Now().After(end) {
			t.Fatalf("the run does not end: %+v", h)
		}
	}
}

// TestDashboardOpens: results and a film from the disk are shown at the frame that is chosen; what cannot be read says why; closed, the stream is there again.
func TestDashboardOpens(t *testing.T) {
	b := openBrowser(t)
	folder := t.TempDir()
	results, table := filepath.Join(folder, "results.jsonl"), filepath.Join(folder, "table.csv")
	writeLaw(t, results, true)
	films := writeDots(t, folder, table)
	run, address := shown(t, "view", results, "--loop", "--nats-port", "0", "--dashboard", "127.0.0.1:0")
	b.do(chromedp.Navigate(address))
	b.until(time.Minute, "the stream", `document.querySelectorAll('#objects tr').length > 1`)
	opens := func(files ...string) { b.do(chromedp.SetUploadFiles(chromedp.CSS("#open-files"), files)) }
	seek := func(i int) {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector('#scrub-at').value = %d; document.querySelector('#scrub-at').dispatchEvent(new Event('input'))`, i)))
	}
	opens(results)
	b.until(time.Minute, "the first frame of the file", `/^1 of 100 · frame 1$/.test(document.querySelector('#scrub-text').innerText) && `+badge("recorded"))
	seek(50)
	b.until(10*time.Second, "another", `/^51 of 100 · frame 51$/.test(document.querySelector('#scrub-text').innerText) && /^frame 51 /.test(document.querySelector('#field-facts').textContent) && document.querySelector('#says').textContent === 'Two states.A trap at 32, 16.'`)
	if !b.is(`document.querySelector('#commands').hidden && document.querySelectorAll('#streams button').length === 2`) {
		t.Error("a file can be commanded, or is no stream beside the other")
	}

	opens(append(films, table)...)
	lit := `(([r]) => r > 100)((() => {
		const one = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
		one.drawImage(document.querySelector('#field'), -%d, -20);
		return one.getImageData(0, 0, 1, 1).data;
	})())`
	for i, x := range []int{10, 30, 50} {
		seek(i)
		b.until(20*time.Second, fmt.Sprintf("picture %d and its place", i), fmt.Sprintf(`/^%d of 3 · frame %d · 25 frames\/s assumed$/.test(document.querySelector('#scrub-text').innerText) && document.querySelector('#objects tr td:nth-child(2)').textContent === '%d.0' && `+lit, i+1, i, x, x))
	}
	if b.is(fmt.Sprintf(lit, 10)) {
		t.Error("the picture is another frame's")
	}
	b.shoot("opened")
	opens(filepath.Join(folder, "none.csv"))
	b.until(10*time.Second, "why a table is none", `/^none\.csv: .*expected frame, particle, x and y/.test(document.querySelector('#trouble').textContent)`)
	b.do(chromedp.Click(chromedp.CSS("#scrub-close")))
	b.until(10*time.Second, "the stream again", `document.querySelector('#scrub').hidden && document.querySelectorAll('#streams button').length === 1 && `+isTracking)
	b.clean(false)
	interrupt(t, run)
}

// writeDots writes a table of one object in three frames, its pictures, and a table that is none; it returns the pictures.
func writeDots(t *testing.T, folder, table string) (films []string) {
	t.Helper()
	rows := "frame,particle,x,y\n"
	for i, x := range []int{10, 30, 50} {
		picture := image.NewGray(image.Rect(0, 0, 64, 48))
		picture.SetGray(x, 20, color.Gray{255})
		path := filepath.Join(folder, fmt.Sprintf("frame%d.png", i))
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, picture); err != nil {
			t.Fatal(err)
		}
		f.Close()
		films, rows = append(films, path), rows+fmt.Sprintf("%d,7,%d,20\n", i, x)
	}
	for path, text := range map[string]string{table: rows, filepath.Join(folder, "none.csv"): "a,b\n1,2\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return films
}
