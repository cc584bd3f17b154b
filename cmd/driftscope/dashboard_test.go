package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/nats-io/nats-server/v2/server"

	"driftscope/internal/job/stream"
)

// shown starts driftscope and returns the address of its dashboard once the program prints it.
func shown(t *testing.T, args ...string) (c *exec.Cmd, address string) {
	t.Helper()
	c, address, _ = introduced(t, args...)
	return c, address
}

// introduced is like shown but also returns the lines printed before.
func introduced(t *testing.T, args ...string) (c *exec.Cmd, address string, told []string) {
	t.Helper()
	c = command(t, t.TempDir(), args...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if at, ok := strings.CutPrefix(lines.Text(), "dashboard at "); ok {
			go func() {
				for lines.Scan() { // so that the run can continue to write
				}
			}()
			return c, at, told
		}
		told = append(told, lines.Text())
	}
	t.Fatalf("no dashboard: %s", strings.Join(told, "\n"))
	return nil, "", nil
}

// interrupt ends a run as Ctrl-C does, and checks that it ends without an error.
func interrupt(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the run: %v", err)
	}
}

// stopMolecule ends the stream molecule of a run, whose printed lines give its address.
func stopMolecule(t *testing.T, told []string) {
	t.Helper()
	for _, line := range told {
		if at, ok := strings.CutPrefix(line, "publishing on "); ok {
			at, _, _ = strings.Cut(at, " ")
			if m, err := dial(t, at).Request("driftscope.local.molecule.cmd.stop", nil, 10*time.Second); err != nil || string(m.Data) != "ok" {
				t.Fatalf("stop: %v, %v", m, err)
			}
			return
		}
	}
	t.Fatalf("nothing says where it publishes: %v", told)
}

// JavaScript expressions for the page's texts.
const (
	moving     = `/frame [1-9]/.test(document.querySelector('#view-facts').textContent)`
	isTracking = `/tracking/.test(document.querySelector('#badge').textContent)`
	refined    = `/longest arrows/.test(document.querySelector('#path-note').textContent)`
)

// badge is an expression that is true if the state shows word.
func badge(word string) string {
	return fmt.Sprintf("document.querySelector('#badge').textContent.includes(%q)", word)
}

// TestDashboard goes through a user's work on the dashboard, including a restart of the program.
func TestDashboard(t *testing.T) {
	b := openBrowser(t)
	run, address, told := introduced(t, "run", "sim:molecule", "--stay", "--nats-port", "0", "--dashboard", "127.0.0.1:0", "--no-status", "--state", "state")
	b.do(chromedp.Navigate(address))
	b.until(time.Minute, "the first frame", moving)

	b.do(chromedp.Reload())
	b.until(2*time.Second, "moving data after opening the page", moving)
	seen := b.text("#view-facts")
	b.until(2*time.Second, "data that move", fmt.Sprintf("document.querySelector('#view-facts').innerText !== %q", seen))
	b.until(time.Minute, "tracking", isTracking)
	b.until(2*time.Minute, "a refined drift", refined)
	b.size(1440, 1000, 1, false)
	b.shoot("wide")
	b.size(1440, 1000, 1, true)
	b.shoot("dark")
	b.size(390, 844, 2, false)
	b.shoot("phone")
	if b.is("document.documentElement.scrollWidth > innerWidth") {
		t.Error("at a phone's width the page scrolls sideways")
	}
	answerMovesNothing(t, b)
	b.size(1440, 1000, 1, false)

	b.do(chromedp.Click(chromedp.CSS("#pause")))
	b.until(10*time.Second, "the pause", badge("paused"))
	b.do(chromedp.KeyEvent("p"))
	b.until(10*time.Second, "tracking again", isTracking)
	b.do(chromedp.KeyEvent("f"))
	b.until(10*time.Second, "a frozen law", badge("law frozen"))
	b.do(chromedp.Click(chromedp.CSS("#freeze")))
	b.until(10*time.Second, "a law that learns again", isTracking)
	b.do(chromedp.Click(chromedp.CSS("#checkpoint")))
	b.until(10*time.Second, "the checkpoint", `document.querySelector('#reply').textContent === 'checkpoint: done'`)
	b.do(chromedp.KeyEvent("B"), chromedp.Click(chromedp.CSS(`#confirm button[value="yes"]`)))
	b.until(10*time.Second, "the roll back, or that it is too soon for one", `/^roll back: done|^roll_back: there is no earlier state/.test(document.querySelector('#reply').textContent)`)
	steerRegion(t, b)
	b.do(chromedp.Click(chromedp.CSS("#reset")), chromedp.Click(chromedp.CSS(`#confirm button[value="yes"]`)))
	b.until(10*time.Second, "the reset", `document.querySelector('#events').textContent.includes('command reset')`)
	b.clean(false)

	stopMolecule(t, told)
	b.until(10*time.Second, "the end", badge("ended"))
	b.do(chromedp.Click(chromedp.CSS("#pause"))) // its label is Start
	b.until(time.Minute, "tracking, started again", isTracking)
	b.clean(false)

	hide := `Object.defineProperty(document, 'hidden', {value: %t, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))`
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(hide, true)), chromedp.Sleep(6*time.Second))
	seen = b.text("#view-facts")
	b.do(chromedp.Sleep(time.Second))
	if b.text("#view-facts") != seen {
		t.Error("a page that nobody sees is still sent latents")
	}
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(hide, false)))
	b.until(5*time.Second, "data once somebody looks again", fmt.Sprintf("document.querySelector('#view-facts').innerText !== %q", seen))
	b.clean(false)

	interrupt(t, run)
	b.until(10*time.Second, "word that the program is away, and since when", `/away/.test(document.querySelector('#connection').textContent) && /^(The run ended|Last heard) at .*/.test(document.querySelector('#ended').textContent)`)
	run, again := shown(t, "run", "sim:molecule", "--nats-port", "0", "--dashboard", strings.Trim(strings.TrimPrefix(address, "http:"), "/"), "--no-status")
	if again != address {
		t.Fatalf("the dashboard came back at %s, not at %s", again, address)
	}
	b.until(time.Minute, "tracking after the restart", isTracking)
	b.until(10*time.Second, "data after the restart", moving)
	b.clean(true)
	interrupt(t, run)
}

// answerMovesNothing: an answer that arrives must not move the buttons, so that a click hits the intended one.
func answerMovesNothing(t *testing.T, b *browser) {
	t.Helper()
	for _, width := range []int64{390, 1024, 1440} {
		b.size(width, 1000, 1, false)
		before := b.places("#commands button, .card")
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#reply').textContent = 'an answer of many words '.repeat(8)`))
		if now := b.places("#commands button, .card"); now != before {
			t.Errorf("at %d px an answer moves buttons and cards from %s to %s", width, before, now)
		}
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#reply').textContent = ''`))
	}
}

// laboratory starts a separate NATS server whose user viewer may read but not send commands.
func laboratory(t *testing.T, port, webSocket int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true,
		Users: []*server.User{
			{Username: "tracker", Password: "tracker-password"},
			{Username: "viewer", Password: "viewer-password", Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Deny: []string{">"}},
				Subscribe: &server.SubjectPermission{Allow: []string{"driftscope.>", "_INBOX.>"}},
			}},
		},
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: webSocket, NoTLS: true, SameOrigin: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// portOf returns the port of an address.
func portOf(t *testing.T, address string) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(address[strings.LastIndexByte(address, ':')+1:], "%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDashboardOnOtherServer: users log in to a separate server, which refuses commands of some users and may become unreachable.
func TestDashboardOnOtherServer(t *testing.T) {
	b := openBrowser(t)
	first := laboratory(t, -1, -1)
	natsPort, webSocket := portOf(t, first.ClientURL()), portOf(t, first.WebsocketURL())
	configuration := filepath.Join(t.TempDir(), "laboratory.yaml")
	text := fmt.Sprintf("stream: bead\nsource: {sim: {name: molecule}}\nnats: {url: 'nats://tracker:tracker-password@127.0.0.1:%d', websocket: 'ws://127.0.0.1:%d'}\n", natsPort, webSocket)
	if err := os.WriteFile(configuration, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run, address := shown(t, "run", configuration, "--dashboard", "127.0.0.1:0")
	b.do(chromedp.Navigate(address))
	b.until(30*time.Second, "the question who one is", `document.querySelector('#login').open`)
	b.clean(false)
	b.do(chromedp.SetValue(chromedp.CSS(`#login [name="user"]`), "viewer"), chromedp.SetValue(chromedp.CSS(`#login [name="secret"]`), "viewer-password"),
		chromedp.Click(chromedp.CSS(`#login button`)))
	b.until(30*time.Second, "tracking", isTracking)
	b.do(chromedp.Click(chromedp.CSS("#pause")))
	b.until(10*time.Second, "a refusal", `document.querySelector('#reply').textContent.includes('may look, but not command')`)
	if b.is(badge("paused")) {
		t.Error("a viewer paused the run")
	}
	b.shoot("refused")
	t.Run("from elsewhere", func(t *testing.T) { elsewhere(t, natsPort, webSocket) })

	first.Shutdown()
	first.WaitForShutdown()
	b.until(10*time.Second, "word that the server is away", badge("server away"))
	laboratory(t, natsPort, webSocket)
	b.until(30*time.Second, "tracking after the server's restart", isTracking)
	b.clean(true)
	interrupt(t, run)
}

// TestDashboardOfOthers: the dashboard resists another page that is open in the same browser.
func TestDashboardOfOthers(t *testing.T) {
	b := openBrowser(t)
	run, address, told := introduced(t, "run", "sim:molecule", "--nats-port", "0", "--dashboard", "127.0.0.1:0", "--no-status")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<!doctype html><title>other</title>")) }))
	defer other.Close()
	b.do(chromedp.Navigate(other.URL))
	for name, attempt := range map[string]string{
		"webSocket": fmt.Sprintf("new Promise((done) => { const s = new WebSocket(%q); s.onopen = () => done('let in'); s.onerror = () => done('refused') })", strings.Replace(address, "http", "ws", 1)+"nats"),
		"read":      fmt.Sprintf("fetch(%q).then(() => 'let in', () => 'refused')", address+"config.json"),
		"login":     fmt.Sprintf("fetch(%q, {method: 'POST', mode: 'no-cors', credentials: 'include'}).then(() => 'let in', () => 'refused')", address+"login"),
	} {
		if outcome := ask(b, chromedp.Evaluate[string](attempt, chromedp.EvalAwaitPromise)); outcome != "refused" {
			t.Errorf("%s from %s: %s", name, other.URL, outcome)
		}
	}
	answer, err := http.Get(address + "healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var health struct {
		Refused int  `json:"refused"`
		NATS    bool `json:"nats_connected"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&health); err != nil || health.Refused != 3 || !health.NATS {
		t.Errorf("found %+v (%v), expected 3 refusals", health, err)
	}
	documentedPage(t, b, address, told)
	interrupt(t, run)
}

// elsewhere: the dashboard of a server on which other programs publish requires its token. The page removes the token from its address.
func elsewhere(t *testing.T, natsPort, webSocket int) {
	t.Setenv(stream.DashboardToken, "a token of the laboratory")
	b := openBrowser(t)
	run, address := shown(t, "dashboard", "--nats", fmt.Sprintf("nats://tracker:tracker-password@127.0.0.1:%d", natsPort),
		"--websocket", fmt.Sprintf("ws://127.0.0.1:%d", webSocket), "--dashboard", "0.0.0.0:0", "--look")
	address = fmt.Sprintf("http://127.0.0.1:%d/", portOf(t, strings.Trim(address, "/")))
	b.do(chromedp.Navigate(address))
	b.until(30*time.Second, "the question for the token", `document.querySelector('#login-title').textContent === 'Token'`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#token=a+token+of+the+laboratory"))
	b.until(30*time.Second, "the NATS server's question", `document.querySelector('#login-title').textContent === 'NATS server'`)
	b.do(chromedp.SetValue(chromedp.CSS(`#login [name="user"]`), "viewer"), chromedp.SetValue(chromedp.CSS(`#login [name="secret"]`), "viewer-password"),
		chromedp.Click(chromedp.CSS(`#login button`)))
	b.until(30*time.Second, "tracking", isTracking)
	if b.is(`location.href.includes("token")`) || !b.is(`document.querySelector('#commands').hidden`) {
		t.Error("the token is still in the address, or commands are offered to those who only look")
	}
	b.clean(true) // the browser logs that the first request was refused
	interrupt(t, run)
}

// TestMetricsOfARun: a run serves its state and metrics on the dashboard's port.
func TestMetricsOfARun(t *testing.T) {
	run, address := shown(t, "run", "sim:molecule", "--nats-port", "0", "--dashboard", "127.0.0.1:0", "--no-status", "--stream", "bead")
	ask := func(path string) (status int, body string) {
		answer, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(data)
	}
	ready, said := 0, ""
	for end := time.Now().Add(time.Minute); ready != http.StatusOK && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		ready, said = ask("readyz")
	}
	if ready != http.StatusOK || !strings.Contains(said, `{"stream":"bead","ready":true,"state":"tracking"`) {
		t.Errorf("found %d %s, expected the stream to be ready", ready, said)
	}
	for _, want := range []string{
		`driftscope_stream_state{state="tracking",stream="bead"} 1`, `driftscope_frames_tracked_total{stream="bead"} `,
		`driftscope_latent_sigma{dim="1",stream="bead"} `, `driftscope_stage_seconds_count{stage="publish",stream="bead"} `,
	} {
		status, body := ask("metrics")
		for end := time.Now().Add(time.Minute); !strings.Contains(body, want) && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			status, body = ask("metrics") // the law is known after some frames
		}
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("found %d, expected %s", status, want)
		}
	}
	if status, body := ask("healthz"); status != http.StatusOK || !strings.Contains(body, `"nats_connected":true`) {
		t.Errorf("found %d %s", status, body)
	}
	interrupt(t, run)
}
