package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// TestDashboardOfAnExperiment: the page shows the law of several cameras next to their streams, in words, with the cameras and the time of each one's last
// record. It reports a camera that falls silent, and the end.
func TestDashboardOfAnExperiment(t *testing.T) {
	b := openBrowser(t)
	results := filepath.Join(t.TempDir(), "results.jsonl")
	writeLaw(t, results, true)
	run, address, told := introduced(t, "view", results, "--loop", "--nats-port", "0", "--dashboard", "127.0.0.1:0")
	_, at, _ := strings.Cut(strings.Join(told, "\n"), "published on ")
	at, _, _ = strings.Cut(at, " ")
	nc := dial(t, at)
	speaks, quiet := make(chan bool), make(chan bool)
	go func() {
		defer close(quiet)
		for encoder := (&message.Encoder{Stream: "right"}); ; {
			of := sinktest.Population(1)
			of.UM = latent.Range{D: 1.5, Low: 1, High: 2}
			_, lines := sinktest.Lines(t, encoder.Encode, of)
			nc.Publish("driftscope.local.right.population", []byte(lines[0]))
			select {
			case <-speaks:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	pool := command(t, t.TempDir(), "pool", "--name", "plate", "field", "right", "--nats", at, "--stale", "5")
	if err := pool.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Process.Kill(); pool.Wait() })
	b.do(chromedp.Navigate(address))
	tab := `Array.from(document.querySelectorAll('#streams button')).find((tab) => tab.lastElementChild.textContent === 'plate')`
	b.until(time.Minute, "the experiment beside the streams", tab)
	b.until(time.Minute, "its law in words", `(`+tab+`.click(), document.querySelector('#pooled-says').textContent.startsWith('2 cameras: 2 states: '))`)
	b.until(time.Minute, "who it is of", `document.querySelector('#pooled').textContent === '2 of 2' && /^D 1.50/.test(document.querySelector('#pooled-d').textContent) &&
		Array.from(document.querySelectorAll('#cameras tr'), (r) => r.textContent).every((text, i) => new RegExp('^' + ['field', 'right'][i] + '● in the law[0-9] s ago0$').test(text))`)
	if !b.is(`['#commands', '#fact-fps', '#what', '#many', '#stages', '#drops'].every((s) => document.querySelector(s).getClientRects().length === 0) && document.querySelector('#pooled').getClientRects().length > 0`) {
		t.Errorf("the page shows of an experiment what only a stream has: %q", b.text("body"))
	}
	b.shoot("experiment")
	close(speaks)
	<-quiet
	b.until(time.Minute, "a camera that is silent", `document.querySelector('#badge').textContent.includes('1 of 2 cameras') && /right▲ silent for 5s[0-9]+ s ago1$/.test(document.querySelector('#cameras').textContent) &&
		document.querySelector('#events').textContent.includes('right: left out: silent for 5s') && document.querySelector('#pooled-says').textContent.startsWith('1 camera: ')`)
	interrupt(t, pool)
	b.until(time.Minute, "the end", `document.querySelector('#badge').textContent.includes('ended')`)
	b.clean(false)
	interrupt(t, run)
}
