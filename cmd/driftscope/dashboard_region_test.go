package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// moleculeWhole and moleculeRegion are the sides of the demo's picture and of the region that its model cuts out, pixels.
const (
	moleculeWhole  = 512
	moleculeRegion = 96
)

// place is the position of the region on the page, according to the stream: its corner in the picture, its middle in the window, and the
// number of picture pixels per window pixel.
type place struct{ X, Y, MiddleX, MiddleY, Scale float64 }

// regionAt reads the page.
func regionAt(b *browser) place {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[place](fmt.Sprintf(`(() => {
		const whole = document.querySelector('#whole').getBoundingClientRect(), region = document.querySelector('#region').getBoundingClientRect();
		const scale = %d / whole.width;
		return {X: (region.x - whole.x) * scale, Y: (region.y - whole.y) * scale, MiddleX: region.x + region.width / 2, MiddleY: region.y + region.height / 2, Scale: scale};
	})()`, moleculeWhole)))
}

// stands is an expression that is true if the stream reports the region's corner near (x, y) and the page draws it there.
func stands(x, y, near float64) string {
	return fmt.Sprintf(`(() => {
		const said = /region at (\d+), (\d+)/.exec(document.querySelector('#region-note').textContent);
		const drawn = document.querySelector('#region').style;
		return said && Math.abs(said[1] - %[1]g) <= %[3]g && Math.abs(said[2] - %[2]g) <= %[3]g
			&& Math.abs(parseFloat(drawn.left) - 100 * said[1] / %[4]d) < 0.01 && Math.abs(parseFloat(drawn.top) - 100 * said[2] / %[4]d) < 0.01;
	})()`, x, y, near, moleculeWhole)
}

// steerRegion: mouse, finger and keys move the region. The page draws it at the position that the stream reports, never at a position that was only requested.
func steerRegion(t *testing.T, b *browser) {
	b.until(10*time.Second, "the whole picture", `document.querySelector('#pictures').classList.contains('cut')`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#pictures').scrollIntoView({block: 'center'})`))
	b.until(10*time.Second, "a region that can be moved", `!document.querySelector('#region').disabled`)
	start := regionAt(b)

	b.do(chromedp.MouseEvent(chromedp.MousePressed, start.MiddleX, start.MiddleY, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, start.MiddleX-20, start.MiddleY+10, chromedp.ButtonLeft))
	b.until(5*time.Second, "the outline of what is asked for", `!document.querySelector('#wish').hidden`)
	if now := regionAt(b); now.MiddleX != start.MiddleX || now.MiddleY != start.MiddleY {
		t.Error("the region is drawn where the pointer is, not where the stream has it")
	}
	b.shoot("region")
	b.do(chromedp.MouseEvent(chromedp.MouseReleased, start.MiddleX-20, start.MiddleY+10, chromedp.ButtonLeft))
	x, y := start.X-20*start.Scale, start.Y+10*start.Scale
	b.until(10*time.Second, "the region where the mouse left it", stands(x, y, 1))
	b.until(10*time.Second, "the outline's end", `document.querySelector('#wish').hidden`)
	b.until(10*time.Second, "the event", `document.querySelector('#events').textContent.includes('command roi')`)

	from := regionAt(b)
	b.do(touch(input.DispatchTouchEventTypeTouchStart, from.MiddleX, from.MiddleY), touch(input.DispatchTouchEventTypeTouchMove, from.MiddleX+600, from.MiddleY), touch(input.DispatchTouchEventTypeTouchEnd, 0, 0))
	b.until(10*time.Second, "the region at the edge, where the finger left it", stands(moleculeWhole-moleculeRegion, y, 1.5))

	b.do(chromedp.Focus(chromedp.CSS("#region")), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.Escape),
		chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.Enter))
	b.until(10*time.Second, "the region where the keys sent it", stands(moleculeWhole-moleculeRegion-2, y, 1.5))
}

// touch is an action of a finger.
func touch(kind input.DispatchTouchEventType, x, y float64) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		points := []*input.TouchPoint{{X: x, Y: y}}
		if kind == input.DispatchTouchEventTypeTouchEnd {
			points = []*input.TouchPoint{}
		}
		_, err = cdp.Call(ctx, t, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
		return none, err
	}
}
