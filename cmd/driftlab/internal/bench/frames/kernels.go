package frames

import (
	"context"
	"image"
	"runtime"
	"time"

	"gocv.io/x/gocv"
	"golang.org/x/sync/errgroup"

	"driftscope/infer"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/stream"
	"driftscope/preprocess"
)

// measureKernels runs the bare kernels on p in a tight loop on each core, with the path's own CLAHE and convolutions or
// OpenCV's.
func measureKernels(ctx context.Context, p pictures, seconds float64, opencv bool) (sideCost, error) {
	model, err := stream.LoadModel(ctx, config.Default(), nil)
	if err != nil {
		return sideCost{}, err
	}
	infer.SetThreads(1)
	ring := p.make()
	defer func() {
		for _, m := range ring {
			m.Close()
		}
	}()
	counts := make([]int, runtime.NumCPU())
	before := cpuTime()
	l := kernelLoop{model: model.Net, window: p.window(), ring: ring, opencv: opencv}
	g, ctx := errgroup.WithContext(ctx)
	for core := range counts {
		g.Go(func() error {
			n, err := l.run(ctx, time.Duration(seconds*float64(time.Second)))
			counts[core] = n
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return sideCost{}, err
	}
	used, cost := cpuTime()-before, sideCost{}
	for _, n := range counts {
		cost.FPS += float64(n) / seconds
	}
	all := cost.FPS * (seconds + warmUp.Seconds()) // includes the warm-up
	cost.CPU = float64(used) / float64(time.Millisecond) / all
	return cost, nil
}

// kernelLoop is the loop on every core: 8 bits, CLAHE, resize, float32, forward, in reused memory.
type kernelLoop struct {
	model  *infer.Model
	window [2]float64
	ring   []gocv.Mat // the pictures, one after another
	opencv bool       // OpenCV's CLAHE and convolutions, not the path's own
}

// run counts the frames of one core after the warm-up.
func (l kernelLoop) run(ctx context.Context, measured time.Duration) (n int, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kernels := l.model
	if l.opencv {
		kernels = kernels.Whole()
	}
	encoder, err := kernels.NewEncoder()
	if err != nil {
		return 0, err
	}
	defer encoder.Close()
	picture, small := frame.New(0, time.Time{}, frame.Meta{}, gocv.NewMat()), gocv.NewMat()
	defer picture.Close()
	defer small.Close()
	own, err := preprocess.New("clahe", func(any) error { return nil })
	if err != nil {
		return 0, err
	}
	defer own.Close()
	clahe := gocv.NewCLAHEWithParams(7.68, image.Pt(8, 8))
	defer clahe.Close()
	f := frame.New(0, time.Time{}, frame.Meta{}, gocv.NewMat())
	defer f.Close()
	a := 255 / (l.window[1] - l.window[0])
	var z latent.Latent
	begun := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		since := time.Since(begun)
		if since > warmUp+measured {
			return n, nil
		}
		bytes := picture.Mat()
		l.ring[i%len(l.ring)].ConvertToWithParams(bytes, gocv.MatTypeCV8U, float32(a), float32(-l.window[0]*a))
		if l.opencv {
			clahe.Apply(*bytes, bytes)
		} else if err := own.Apply(ctx, picture); err != nil {
			return n, err
		}
		gocv.Resize(*bytes, &small, image.Pt(64, 64), 0, 0, gocv.InterpolationArea)
		small.ConvertToWithParams(f.Mat(), gocv.MatTypeCV32F, 1./255, 0)
		if err := encoder.Encode(ctx, &z, f); err != nil {
			return n, err
		}
		if since > warmUp {
			n++
		}
	}
	return n, ctx.Err()
}
