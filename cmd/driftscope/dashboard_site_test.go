package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// speakers publish the records of workers and streams, several times per second, until they are silenced.
type speakers struct {
	t  *testing.T
	nc *nats.Conn

	mu   sync.Mutex
	says map[string][]byte // by subject
}

// newSpeakers publishes on the server at an address.
func newSpeakers(t *testing.T, at string) *speakers {
	t.Helper()
	s := &speakers{t: t, nc: dial(t, at), says: map[string][]byte{}}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			s.mu.Lock()
			for subject, data := range s.says {
				s.nc.Publish(subject, data)
			}
			s.mu.Unlock()
			select {
			case <-end:
				return
			case <-time.After(250 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { close(end); <-ended })
	return s
}

// say publishes a record from now on, in place of an earlier record of the same kind and name.
func (s *speakers) say(name string, kind latent.Kind, r message.Record) {
	s.t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says[fmt.Sprintf("driftscope.local.%s.%s", name, kind)] = data
}

// silence stops the records of a kind under a name.
func (s *speakers) silence(name string, kind latent.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.says, fmt.Sprintf("driftscope.local.%s.%s", name, kind))
}

// once publishes a record.
func (s *speakers) once(name string, kind latent.Kind, r message.Record) {
	s.t.Helper()
	data, err := json.Marshal(r)
	if err == nil {
		err = s.nc.Publish(fmt.Sprintf("driftscope.local.%s.%s", name, kind), data)
	}
	if err == nil {
		err = s.nc.Flush()
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// dawn is when the workers of the tests began, an hour before anything else.
var dawn = time.Date(2026, 5, 6, 9, 0, 0, 0, time.UTC)

// workerRecord is a worker of eight cores; each stream that it runs takes one.
func workerRecord(name, version string, streams ...message.RunningRecord) *message.WorkerRecord {
	return &message.WorkerRecord{
		Header: message.Header{V: latent.Version, Kind: latent.KindWorker, Stream: name},
		Time:   dawn.Add(time.Hour), ID: name, Version: version, Since: dawn, Cores: 8, Taken: message.Number(len(streams)), Used: 0.5,
		Labels: []string{"camera-2", "dark-room"}, Streams: append([]message.RunningRecord{}, streams...),
	}
}

// runningAt is a stream that was taken a minute ago.
func runningAt(name string, epoch uint64) message.RunningRecord {
	return message.RunningRecord{Name: name, Epoch: epoch, Since: dawn.Add(59 * time.Minute), State: "running"}
}

// healthAt is a stream's health under a lease.
func healthAt(name string, epoch uint64, fps float64) *message.HealthRecord {
	return &message.HealthRecord{Header: message.Header{V: latent.Version, Kind: latent.KindHealth, Stream: name, Epoch: epoch},
		Health: latent.Health{Time: dawn.Add(time.Hour), State: "tracking", UptimeS: 60, Frames: 1000, Tracked: 1000, FPS: fps, Stages: []latent.Stage{}}}
}

// siteRows is an expression that is true if a table of the page has the given rows, with / between cells.
func siteRows(table string, rows ...string) string {
	return fmt.Sprintf("Array.from(document.querySelectorAll('#%s tr'), (r) => Array.from(r.cells, (c) => c.textContent.trim()).join(' / ')).join('\\n') === %q", table, strings.Join(rows, "\n"))
}

// gone is true while the second row of the workers is hall-1, no longer at work for a reason.
func gone(mark, why string) string {
	return fmt.Sprintf(`(([name, state, , , , , why]) => name === 'hall-1' && /^%s gone since \d\d:\d\d:00$/.test(state) && why === %q)(Array.from(document.querySelectorAll('#workers tr:nth-child(2) td'), (c) => c.textContent.trim()))`, mark, why)
}

// TestDashboardOfASite: a viewer sees all streams of a site with their workers. A silent worker turns grey, and then the page says since when and why it is gone;
// one that has handed over disappears at once. The page ignores records from a worker that has lost its stream.
func TestDashboardOfASite(t *testing.T) {
	b := openBrowser(t)
	server := laboratory(t, -1, -1)
	at := fmt.Sprintf("nats://tracker:tracker-password@127.0.0.1:%d", portOf(t, server.ClientURL()))
	run, address := shown(t, "dashboard", "--nats", at, "--websocket", fmt.Sprintf("ws://127.0.0.1:%d", portOf(t, server.WebsocketURL())), "--dashboard", "127.0.0.1:0")
	site := newSpeakers(t, at)
	first := workerRecord("hall-1", "1.2", runningAt("bead", 17), runningAt("cell", 18))
	second := workerRecord("hall-2", "1.3", message.RunningRecord{Name: "dish", Epoch: 19, Since: dawn.Add(58 * time.Minute), State: "failed", Problem: "no camera answers"})
	first.Waiting = []message.WaitingRecord{{Name: "far", Why: "no worker has label camera-7"}}
	second.Waiting = first.Waiting
	site.say("bead", latent.KindHealth, healthAt("bead", 17, 50))
	site.say("cell", latent.KindHealth, healthAt("cell", 18, 25))
	site.say("hall-1", latent.KindWorker, first)
	site.say("hall-2", latent.KindWorker, second)

	b.do(chromedp.Navigate(address))
	b.until(30*time.Second, "the question who one is", `document.querySelector('#login').open`)
	b.do(chromedp.SetValue(chromedp.CSS(`#login [name="user"]`), "viewer"), chromedp.SetValue(chromedp.CSS(`#login [name="secret"]`), "viewer-password"), chromedp.Click(chromedp.CSS(`#login button`)))
	far := "far / – / – / – / ■ nobody can run it / – / no worker has label camera-7"
	dish := "dish / hall-2 / 2 min 00 s / 19 / ■ failed / – / no camera answers"
	cell := "cell / hall-1 / 1 min 00 s / 18 / ● tracking / 25.0 / "
	b.until(30*time.Second, "all streams", siteRows("site-streams", "bead / hall-1 / 1 min 00 s / 17 / ● tracking / 50.0 / ", cell, dish, far))
	b.until(10*time.Second, "both workers, and that their versions differ", siteRows("workers",
		"hall-1 / ● works /  / 2 of 8 / 0.5 / 2 / camera-2, dark-room / ▲1.2 / 1 h 00 min", "hall-2 / ● works /  / 1 of 8 / 0.5 / 1 / camera-2, dark-room / ▲1.3 / 1 h 00 min"))
	b.until(10*time.Second, "what is in trouble", badge("2 of 4 streams in trouble"))
	if !b.is(`/2 versions/.test(document.querySelector('#workers-note').textContent) && document.querySelector('#site-streams-many').textContent === '2 of 4 run' && document.querySelector('#site-cores').textContent === '3 of 16 taken'`) {
		t.Errorf("the page says %q", b.text("body"))
	}
	if !b.is(`['#commands', '#facts .of-frames', '#what', '#events', '#stages'].every((s) => document.querySelector(s).getClientRects().length === 0)`) {
		t.Error("the page shows of a site what only a stream has")
	}
	for _, width := range []int64{390, 1440} {
		b.size(width, 1000, 1, width < 1000)
		b.shoot(fmt.Sprintf("site-%d", width))
		if b.is("document.documentElement.scrollWidth > innerWidth") {
			t.Errorf("at %d px the page scrolls sideways", width)
		}
	}
	b.clean(true)

	// hall-1 is frozen: hall-2 takes over bead at epoch 23.
	site.silence("hall-1", latent.KindWorker)
	site.silence("bead", latent.KindHealth)
	b.until(10*time.Second, "a worker that is silent", `document.querySelector('#workers tr').classList.contains('gone') && /^hall-1■ silent [0-9]+ s/.test(document.querySelector('#workers tr').textContent) && /silent/.test(document.querySelector('#site-streams tr').textContent)`)
	second.Version = "1.2"
	second.Streams = append(second.Streams, runningAt("bead", 23))
	site.say("hall-2", latent.KindWorker, second)
	site.say("bead", latent.KindHealth, healthAt("bead", 23, 48))
	over := message.EventRecord{Header: message.Header{V: latent.Version, Kind: latent.KindEvent, Stream: "bead", Epoch: 23},
		Event: latent.Event{Time: dawn.Add(time.Hour), Level: latent.Info, Code: "taken_over", Text: "the stream is taken over from hall-1, at epoch 23: it continues at frame 500", Count: 1}}
	site.once("bead", latent.KindEvent, &over)
	beads := "bead / hall-2 / 1 min 00 s / 23 / ● tracking / 48.0 / "
	b.until(10*time.Second, "the new place", fmt.Sprintf("document.querySelector('#site-streams tr').textContent === %q", strings.ReplaceAll(beads, " / ", "")))
	b.until(20*time.Second, "since when the silent worker is gone, why, and where its streams are", gone("■", "it was killed, frozen or cut off; bead → hall-2; cell → nobody"))
	for _, width := range []int64{390, 1400} {
		b.size(width, 1000, 1, width < 1000)
		b.shoot(fmt.Sprintf("dead-worker-%d", width))
	}
	b.until(10*time.Second, "no mark on one version", `document.querySelector('#workers-note').textContent === '' && !/▲/.test(document.querySelector('#workers').textContent)`)

	// hall-1 resumes, and does not know yet that it has lost its stream.
	woken := healthAt("bead", 17, 1)
	woken.State, woken.Problem = "stopped", "woken"
	site.once("bead", latent.KindHealth, woken)
	over.Epoch, over.Code, over.Text = 17, "queue_full", "woken"
	site.once("bead", latent.KindEvent, &over)
	site.say("hall-1", latent.KindWorker, first)
	b.until(10*time.Second, "that it is passed over", `/Passed over: 2 messages/.test(document.querySelector('#site-note').textContent) && document.querySelectorAll('#workers tr').length === 2`)
	b.until(10*time.Second, "the streams where they are", siteRows("site-streams", beads, cell, dish, far))

	b.do(chromedp.Click(chromedp.CSS(`#site-streams button[aria-label="Show stream bead"]`)))
	b.until(10*time.Second, "the stream", badge("tracking"))
	b.until(10*time.Second, "its event, and none of the woken worker's", `/taken over/.test(document.querySelector('#events').textContent) && document.querySelectorAll('#events li').length === 1 && document.querySelector('#events').getClientRects().length > 0`)
	b.do(chromedp.KeyEvent("0"))
	b.until(10*time.Second, "the site again", `document.querySelector('#site-streams').getClientRects().length > 0`)

	first.Draining, first.Streams = true, []message.RunningRecord{}
	site.silence("hall-1", latent.KindWorker)
	site.once("hall-1", latent.KindWorker, first)
	b.until(2*time.Second, "that who has handed over is gone at once", gone("○", "it was told to end, and has handed over its streams"))
	b.clean(false)
	interrupt(t, run)
}

// TestDashboardWithoutWorkers: without workers the page shows no trace of a site. A worker that starts later, also on the embedded server, is offered but
// does not change the present view.
func TestDashboardWithoutWorkers(t *testing.T) {
	b := openBrowser(t)
	results := filepath.Join(t.TempDir(), "results.jsonl")
	writeLaw(t, results, true)
	run, address, told := introduced(t, "view", results, "--loop", "--nats-port", "0", "--dashboard", "127.0.0.1:0")
	_, at, _ := strings.Cut(strings.Join(told, "\n"), "published on ")
	at, _, _ = strings.Cut(at, " ")
	b.do(chromedp.Navigate(address))
	b.until(time.Minute, "the stream", `document.querySelectorAll('#objects tr').length > 1`)
	b.do(chromedp.Sleep(4*time.Second), chromedp.KeyEvent("0")) // longer than the page's first check
	if !b.is(`document.querySelectorAll('#streams button').length === 1 && ['#site-streams', '#workers', '#site-cores', '.of-workers'].every((s) => document.querySelector(s).getClientRects().length === 0)`) {
		t.Errorf("without workers the page shows a site: %q", b.text("body"))
	}
	site := newSpeakers(t, at)
	site.say("hall-1", latent.KindWorker, workerRecord("hall-1", "1.2"))
	b.until(10*time.Second, "the site behind the stream", `Array.from(document.querySelectorAll('#streams button'), (tab) => tab.lastElementChild.textContent).join() === 'field,all streams'`)
	if !b.is(`document.querySelector('#objects').getClientRects().length > 0 && document.querySelector('#workers').getClientRects().length === 0`) {
		t.Errorf("a worker that comes takes the stream from the screen: %q", b.text("body"))
	}
	b.do(chromedp.KeyEvent("0"))
	b.until(10*time.Second, "the site", `document.querySelector('#workers').getClientRects().length > 0 && /^field–.*● tracking/.test(document.querySelector('#site-streams').textContent)`)
	b.do(chromedp.KeyEvent("1"))
	b.until(10*time.Second, "the stream again", `document.querySelector('#objects').getClientRects().length > 0 && document.querySelector('#workers').getClientRects().length === 0`)
	b.clean(false)
	interrupt(t, run)
}
