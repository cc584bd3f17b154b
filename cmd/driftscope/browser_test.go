package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// requireTools, when set, makes a test fail instead of skip if it lacks a program. It is set where releases are built.
const requireTools = "DRIFTSCOPE_TEST_TOOLS"

// tool finds a program that only tests need.
func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	advice := fmt.Sprintf("none of %s is installed: internal/setup/install.sh tests installs it", strings.Join(names, ", "))
	if os.Getenv(requireTools) != "" {
		t.Fatal(advice)
	}
	t.Skip(advice)
	return ""
}

// browser is a page in a real browser.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []chromedp.ConsoleMessage // warnings and errors in the console
}

// openBrowser starts a headless browser with one empty page.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(tool(t, "chromium", "chromium-browser", "google-chrome")),
		chromedp.NoSandbox, // tests may run as root
		chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	b := &browser{t: t}
	var cancel context.CancelFunc
	b.ctx, cancel = chromedp.NewContext(allocator)
	var listening sync.WaitGroup
	t.Cleanup(func() {
		if err := chromedp.Cancel(b.ctx); err != nil {
			t.Error(err)
		}
		cancel()
		end()
		listening.Wait()
	})
	messages := chromedp.Console(b.ctx)
	listening.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.note(m)
		}
	})
	if err := chromedp.Do(b.ctx, chromedp.Navigate("about:blank")); err != nil { // without a limit: it would end the browser
		t.Fatal(err)
	}
	return b
}

// note records the page's warnings and errors.
func (b *browser) note(m chromedp.ConsoleMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.IsException() || m.Type == "error" || m.Type == "warning" {
		b.problems = append(b.problems, m)
	}
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ask(b, chromedp.Steps(actions...))
}

// ask carries out an action, within the time that a busy machine needs, and returns its result.
func ask[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// until waits for a JavaScript expression to be true.
func (b *browser) until(within time.Duration, what, expression string) {
	b.t.Helper()
	for start := time.Now(); time.Since(start) < within; time.Sleep(50 * time.Millisecond) {
		if b.is(expression) {
			return
		}
	}
	b.shoot("failed")
	b.t.Fatalf("%s: not within %v; the page says %q", what, within, b.text("body"))
}

// is evaluates a JavaScript expression.
func (b *browser) is(expression string) bool {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[bool]("Boolean("+expression+")"))
}

// text returns the text of an element.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)))
}

// places returns the positions of elements, in whole pixels.
func (b *browser) places(selector string) string {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[string](fmt.Sprintf(
		"Array.from(document.querySelectorAll(%q), (e) => e.getBoundingClientRect()).map((r) => `${Math.round(r.x)}, ${Math.round(r.y)}`).join('; ')", selector)))
}

// size sets the page's screen; dark requests dark colours, as the system can.
func (b *browser) size(width, height int64, scale float64, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.do(func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		screen := emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: scale, Mobile: width < 600}
		if _, err = cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, screen); err != nil {
			return none, err
		}
		media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
		return none, err
	})
	time.Sleep(time.Second) // for the charts to follow
}

// shoot saves a picture of the whole page with the test's artefacts.
func (b *browser) shoot(name string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), ask(b, chromedp.FullScreenshot(100)), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// forget excludes the console's present messages from clean.
func (b *browser) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = nil
}

// clean checks that the console has no error since the last call. While a server was unreachable, requests may have failed, which the
// browser itself logs there.
func (b *browser) clean(away bool) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.problems {
		if failed := m.Source == "network" || strings.HasPrefix(m.Text, "WebSocket connection to"); !away || !failed {
			b.t.Errorf("in the console: %s %s: %s", m.Type, m.Source, m.Text)
		}
	}
	b.problems = nil
}
