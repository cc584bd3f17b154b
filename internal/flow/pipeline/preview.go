package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/system"
)

// preview renders the Views of a pool's frames, one at a time. It has its own goroutine, because a View takes longer than many frames.
type preview struct {
	viewer Viewer            // nil without a display
	busy   atomic.Bool       // a View was requested and is not published yet
	frames chan previewFrame // at most one frame waits
	closed sync.WaitGroup
}

// previewFrame is a frame after all steps, and its latent. The preview owns both.
type previewFrame struct {
	frame *frame.Frame
	z     latent.Latent
}

func newPreview(v Viewer) *preview { return &preview{viewer: v, frames: make(chan previewFrame, 1)} }

// open starts the goroutine that renders and publishes Views until end is called.
func (p *preview) open(ctx context.Context, r *runner) {
	if p.viewer == nil {
		return
	}
	p.closed.Go(func() {
		system.Thread()
		for e := range p.frames {
			p.view(ctx, r, e)
			e.frame.Close()
			p.busy.Store(false)
		}
	})
}

// end waits for the requested Views. All lanes must have returned.
func (p *preview) end() {
	close(p.frames)
	p.closed.Wait()
}

// ask requests a View of the frame that is being dispatched. It returns false if another View is in progress, or without a viewer.
func (p *preview) ask() bool { return p.viewer != nil && p.busy.CompareAndSwap(false, true) }

// take receives the frame of a requested View and its observation. A frame that was not tracked gets no View.
func (p *preview) take(f *frame.Frame, seen latent.Observation, tracked bool) {
	if !tracked {
		f.Close()
		p.busy.Store(false)
		return
	}
	e := previewFrame{frame: f}
	if seen.Latent != nil {
		e.z.Copy(seen.Latent)
	}
	p.frames <- e
}

// view publishes the encoder's input and the decoder's reconstruction. After a failure it logs a warning and publishes nothing.
func (p *preview) view(ctx context.Context, r *runner, e previewFrame) {
	v := &latent.View{} // shared by all sinks, so never reused
	if err := p.viewer.View(v, e.frame, &e.z); err != nil {
		r.warn("view", "no view of this frame", "seq", e.frame.Seq, "err", err)
		return
	}
	v.Seq, v.Time = e.frame.Seq, e.frame.Time
	r.publish(ctx, v, time.Time{})
}
