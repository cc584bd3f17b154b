package main

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// showing starts driftscope and returns the address of its dashboard once it says so.
func showing(t *testing.T, args ...string) (c *exec.Cmd, address string) {
	t.Helper()
	c = command(t, t.TempDir(), args...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	found, told := make(chan string, 1), []string{}
	go func() {
		defer close(found)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if at, ok := strings.CutPrefix(lines.Text(), "dashboard at "); ok {
				found <- at
			}
			told = append(told, lines.Text())
		}
	}()
	select {
	case at, ok := <-found:
		if ok {
			return c, at
		}
		t.Fatalf("no dashboard: %s", strings.Join(told, "\n"))
	case <-time.After(time.Minute):
		t.Fatal("no dashboard within a minute")
	}
	return nil, ""
}

// interrupt ends a run as Ctrl-C does, and wants it to end well.
func interrupt(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the run: %v", err)
	}
}

// TestDashboard is what a person at the microscope sees and does.
func TestDashboard(t *testing.T) {
	b := openBrowser(t)
	run, address := showing(t, "run", "sim:molecule", "--nats-port", "0", "--dashboard", "127.0.0.1:0", "--no-status")
	start := time.Now()
	b.do(chromedp.Navigate(address))
	b.until(2*time.Second, "moving data", `/frame \d/.test(document.querySelector('#view-facts').textContent)`)
	t.Logf("moving data %v after the page was asked for", time.Since(start).Round(time.Millisecond))
	b.until(90*time.Second, "a refined drift", `/longest arrows/.test(document.querySelector('#path-note').textContent)`)
	time.Sleep(20 * time.Second)
	b.size(1440, 1000, 1, false)
	b.shoot("wide")
	b.size(1440, 1000, 1, true)
	b.shoot("dark")
	b.size(390, 844, 2, false)
	b.shoot("phone")
	b.clean(false)
	interrupt(t, run)
}
