package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/sinks/natsink"
)

const (
	longestStep = 9e9              // longest time between frames, s, that a time.Duration can represent
	usualPace   = 25               // frames per second for a table without a film
	viewEvery   = time.Second / 25 // the eye cannot follow more pictures
	healthEvery = time.Second      // as in a run
)

// player shows one replay. All methods run on one goroutine.
type player struct {
	options  Options
	results  results
	film     *film // nil if there is none
	sink     *natsink.Sink
	health   *time.Ticker
	estimate latent.Estimate // estimate of a table's frame
	counted  uint64          // frames at the last health message
	heard    time.Time       // its time

	// State of one showing:
	pace      pace
	began     time.Time
	frames    uint64 // number of shown frames
	published uint64 // number of messages
	seq       uint64 // number of the shown frame
	at        time.Time
	size      extent    // size of the film, or of the field
	viewed    time.Time // time of the last shown picture
	paused    bool
	stopped   bool // by command
}

func newPlayer(r *Replay, sink *natsink.Sink) *player {
	return &player{options: r.options, results: r.results, film: r.film, sink: sink, health: time.NewTicker(healthEvery)}
}

// play shows the results once, or again and again.
func (p *player) play(ctx context.Context) error {
	for {
		if err := p.once(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if p.options.Loop && !p.stopped {
			continue
		}
		if err := p.tell(ctx, "stopped"); err != nil || p.options.Exit {
			return err
		}
		console.Say("%s is at its end after %d frames: the command start repeats it, Ctrl-C quits", p.options.Results, p.frames)
		if again, err := p.rest(ctx); err != nil || !again {
			return err
		}
	}
}

// once shows the results from their beginning to their end.
func (p *player) once(ctx context.Context) error {
	if err := p.begin(); err != nil {
		return err
	}
	for {
		r, err := p.results.next()
		if errors.Is(err, io.EOF) {
			return p.end()
		}
		if err != nil {
			return console.Usage(err)
		}
		if !p.wanted(r) {
			continue
		}
		if r.frame && (p.frames == 0 || r.seq != p.seq) {
			if p.options.Frames > 0 && p.frames == p.options.Frames {
				return nil
			}
			err = p.turn(ctx, r)
		}
		if p.stopped || ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = p.publish(ctx, r)
		}
		if err != nil {
			return err
		}
	}
}

// begin resets the state of the last showing.
func (p *player) begin() error {
	now := time.Now()
	p.pace = pace{speed: p.options.Speed, fps: p.options.FPS}
	p.began, p.heard, p.viewed = now, now, time.Time{}
	p.frames, p.counted, p.published, p.seq, p.at = 0, 0, 0, 0, time.Unix(0, 0)
	p.size, p.paused, p.stopped = extent{}, false, false
	return p.results.rewind()
}

// end returns an error if no frame was shown.
func (p *player) end() error {
	if p.frames > 0 {
		return nil
	}
	return console.Usage(fmt.Errorf("%s: found no frame numbered %d or higher: give a smaller --from, or results of a run", p.options.Results, p.options.From))
}

// wanted excludes the frames before --from, the health of the past run, and its pictures if there is a film.
func (p *player) wanted(r *record) bool {
	return r.seq >= p.options.From && r.kind != latent.KindHealth && (r.kind != latent.KindView || p.film == nil)
}

// turn waits until the frame of r is due, and shows its picture.
func (p *player) turn(ctx context.Context, r *record) error {
	var f *frame.Frame
	if p.film != nil {
		var err error
		if f, err = p.film.frame(r.seq); err != nil {
			return err
		}
	}
	p.at = p.taken(r, f)
	p.seq = r.seq
	if err := p.wait(ctx, p.pace.next(r.seq, p.at, time.Now())); err != nil || p.stopped || ctx.Err() != nil {
		return err
	}
	p.frames++
	if f == nil {
		return nil
	}
	p.size = extent{f.Mat().Cols(), f.Mat().Rows()}
	if now := time.Now(); now.Sub(p.viewed) >= viewEvery {
		p.viewed = now
		view, err := p.film.show(f)
		if err != nil || view == nil {
			return console.Usage(err)
		}
		return p.write(ctx, view)
	}
	return nil
}

// taken returns the acquisition time of r's frame: from the results, from the film, or from a table's own pace.
func (p *player) taken(r *record, f *frame.Frame) time.Time {
	switch {
	case !r.at.IsZero():
		return r.at
	case f != nil && p.options.FPS == 0:
		return f.Time
	}
	rate := p.options.FPS
	if rate == 0 {
		rate = usualPace
	}
	return p.at.Add(time.Duration(min((float64(r.seq)-float64(p.seq))/rate, longestStep) * float64(time.Second)))
}

// publish sends a record. Without a film it sends the first objects on a background.
func (p *player) publish(ctx context.Context, r *record) error {
	if r.size != (extent{}) {
		if err := p.fit(ctx, r); err != nil {
			return err
		}
	}
	p.published++
	if r.line != nil {
		return p.sink.Relay(r.kind, r.line)
	}
	p.estimate.Latent.Seq, p.estimate.Latent.Time, p.estimate.Objects = p.seq, p.at, &r.field
	p.estimate.Objects.Width, p.estimate.Objects.Height = p.size.width, p.size.height
	return p.sink.Write(ctx, &p.estimate)
}

// fit checks that the film has the size of the results. Without a film it publishes a uniform background of the first size.
func (p *player) fit(ctx context.Context, r *record) error {
	switch {
	case p.size == (extent{}):
		p.size = r.size
		if p.film != nil {
			return nil
		}
		view, err := background(r.size)
		if err != nil {
			return err
		}
		view.Seq, view.Time = p.seq, p.at
		return p.write(ctx, view)
	case p.film != nil && r.line != nil && r.size != p.size:
		return console.Usage(fmt.Errorf("--film %s: frame %d has %dx%d px, but the results are from a film of %dx%d px: give the film that was tracked",
			p.options.Film, r.seq, p.size.width, p.size.height, r.size.width, r.size.height))
	}
	return nil
}

// write sends a message that the replay creates itself.
func (p *player) write(ctx context.Context, m latent.Message) error {
	p.published++
	return p.sink.Write(ctx, m)
}

// tell sends the replay's health, because the run's health describes the past.
func (p *player) tell(ctx context.Context, state string) error {
	now := time.Now()
	h := &latent.Health{Time: now, State: state, UptimeS: now.Sub(p.began).Seconds(), Frames: p.frames, Tracked: p.frames, Published: p.published,
		Dropped: map[string]uint64{}, Alarms: map[string]uint64{}, Stages: []latent.Stage{}}
	if s := now.Sub(p.heard).Seconds(); s > 0 && state == "tracking" {
		h.FPS = float64(p.frames-p.counted) / s
	}
	p.counted, p.heard = p.frames, now
	return p.write(ctx, h)
}
