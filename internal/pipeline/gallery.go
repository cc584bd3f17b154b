package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"driftscope/internal/frame"
	"driftscope/internal/latent"
	"driftscope/internal/nice"
)

// gallery makes the Views of a crew's frames, one at a time, beside the lanes: a View takes longer than many frames.
type gallery struct {
	viewer Viewer       // nil where nobody looks
	busy   atomic.Bool  // a View has been asked for and is not out
	shown  chan exhibit // at most one waits
	closed sync.WaitGroup
}

// exhibit is a frame as it entered the encoder, and its latent. The gallery owns both.
type exhibit struct {
	frame *frame.Frame
	z     latent.Latent
}

func newGallery(v Viewer) *gallery { return &gallery{viewer: v, shown: make(chan exhibit, 1)} }

// open has it publish what it is shown, until end.
func (g *gallery) open(ctx context.Context, t *tracker) {
	if g.viewer == nil {
		return
	}
	g.closed.Go(func() {
		nice.Thread()
		for e := range g.shown {
			g.view(ctx, t, e)
			e.frame.Close()
			g.busy.Store(false)
		}
	})
}

// end closes the gallery once it has shown everything. No lane may be left.
func (g *gallery) end() {
	close(g.shown)
	g.closed.Wait()
}

// ask asks for a View of a frame that is about to take its way; each is answered by take. It is false where one is being made, or none can be.
func (g *gallery) ask() bool { return g.viewer != nil && g.busy.CompareAndSwap(false, true) }

// take gives over the frame of which a View was asked for, with its latent where it was tracked.
func (g *gallery) take(f *frame.Frame, z *latent.Latent, tracked bool) {
	if !tracked {
		f.Close()
		g.busy.Store(false)
		return
	}
	e := exhibit{frame: f}
	e.z.Copy(z)
	g.shown <- e
}

// view publishes what the encoder saw and what it makes of it. A View that fails costs only itself.
func (g *gallery) view(ctx context.Context, t *tracker, e exhibit) {
	v := &latent.View{} // shared by all sinks, so never reused
	if err := g.viewer.View(v, e.frame, &e.z); err != nil {
		t.warn("view", "no view of this frame", "seq", e.frame.Seq, "err", err)
		return
	}
	v.Seq, v.Time = e.frame.Seq, e.frame.Time
	t.publish(ctx, v, time.Time{})
}
