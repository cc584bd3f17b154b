package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"driftscope/internal/flow/latent"
)

// loss describes frames that got no estimate, or messages that a sink did not get. runner.lose counts and reports every loss.
type loss struct {
	cause string // name of its counter in Health and code of its event, lower_snake_case
	why   error  // the text of its event
	seq   uint64 // number of the lost frame, or of the last frame read if messages or frames without a number are lost
	count uint64
}

// The reasons for which the runner itself loses frames. Sources, steps and estimators have other reasons.
var (
	errBySource   = &ErrSkip{Cause: "dropped_by_source", Err: errors.New("the source lost frames before this one")}
	errQueueFull  = &ErrSkip{Cause: "queue_full", Err: errors.New("tracking is slower than the source: use a smaller roi or a faster machine")}
	errNoRoom     = &ErrSkip{Cause: "queue_full", Err: errors.New("mode lossless: the queue was full")}
	errPaused     = &ErrSkip{Cause: "paused", Err: errors.New("tracking is paused: send the command resume")}
	errUnfinished = &ErrSkip{Cause: "unfinished", Err: errors.New("the run ended before this frame was tracked")}
)

// errUntold is the reason for losing an event of a source that must not wait for a sink.
var errUntold = errors.New("the sinks do not keep up: an event of the source was lost")

// framesLost returns the loss of count frames at seq; skip gives the reason.
func framesLost(skip *ErrSkip, seq, count uint64) loss {
	return loss{cause: skip.Cause, why: skip, seq: seq, count: count}
}

// messagesLost returns the loss of count messages for w's sink.
func (r *runner) messagesLost(w *writer, why error, count int) loss {
	return loss{cause: w.cause, why: why, seq: r.counters.lastSeq(), count: uint64(count)}
}

// sinkCause is the prefix of the causes of lost messages; the name of the sink follows.
const sinkCause = "sink_"

func (l loss) ofMessages() bool { return strings.HasPrefix(l.cause, sinkCause) }

// lose counts l under its cause. It reports each cause at most once per second, either at once on the caller's goroutine or later by report. A sink's goroutine
// must not wait for its own queue, so report publishes lost messages. It also publishes if the reader must not wait for a sink (hurried).
func (r *runner) lose(ctx context.Context, l loss) {
	switch due := r.counters.lose(time.Now(), l); {
	case !due:
	case l.ofMessages() || r.hurried():
		signal(r.lost)
	default:
		r.tellLosses(ctx, time.Now(), false)
	}
}

// tellLosses logs and publishes the unreported losses of all causes, or only of causes last reported at least a second ago.
func (r *runner) tellLosses(ctx context.Context, now time.Time, all bool) {
	for _, e := range r.counters.dueLosses(now, all) {
		r.log.Warn("lost", "cause", e.Code, "count", e.Count, "seq", e.Seq, "why", e.Text)
		r.publish(ctx, &e, time.Time{})
	}
}

// skipped reports whether err loses only one frame, and returns its cause.
func skipped(err error) (*ErrSkip, bool) {
	if err == nil { // the usual case; errors.As would allocate
		return nil, false
	}
	var skip *ErrSkip
	return skip, errors.As(err, &skip)
}

// streak is the number of consecutive lost frames, and the time of their last report.
type streak struct {
	frames uint64
	told   time.Time
}

func (s *streak) add() uint64 { s.frames++; return s.frames }

// tolerate returns err if a recording has lost more than maxSkips frames in a row; err reports them. A live source, or one with public write access, may
// recover, so tolerate reports its losses once a minute and returns nil.
func (r *runner) tolerate(ctx context.Context, s *streak, err error) error {
	const every = time.Minute
	now := time.Now()
	switch {
	case s.frames <= maxSkips:
		return nil
	case r.waits.Load() && !r.public:
		return err
	case now.Sub(s.told) >= every:
		s.told = now
		r.remark(ctx, &latent.Event{
			Seq: r.counters.lastSeq(), Time: now, Level: latent.Warning, Code: "nothing_tracked", Count: 1,
			Text: fmt.Sprintf("%v: the run continues with the next readable frame: check the source", err),
		})
	}
	return nil
}
