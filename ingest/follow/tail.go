package follow

import (
	"context"
	"fmt"
	"io"
	"time"
)

// lookAgain is the polling interval of a recording without news. It allows several checks within a quarter of a second.
const lookAgain = 25 * time.Millisecond

// The bounds on until_idle.
const (
	minIdle = 100 * time.Millisecond
	maxIdle = 7 * 24 * time.Hour
)

// Tail waits for more of a recording that is still being written. Waiting loses no frames, because the file keeps the unread ones.
type Tail struct {
	untilIdle time.Duration // longest silence before the recording counts as ended; 0 waits forever
	heard     time.Time     // time of the last Alive
}

// NewTail returns a Tail with the options follow and until_idle.
func NewTail(follow bool, untilIdle time.Duration) (Tail, error) {
	switch {
	case untilIdle == 0:
	case !follow:
		return Tail{}, fmt.Errorf("until_idle is %v, but it applies only to a followed recording: add follow, or leave until_idle out", untilIdle)
	case untilIdle < minIdle || untilIdle > maxIdle:
		return Tail{}, fmt.Errorf("until_idle is %v, expected %v to %v: give more than the longest pause of the recording", untilIdle, minIdle, maxIdle)
	}
	return Tail{untilIdle: untilIdle}, nil
}

// Alive records that the recording has grown.
func (t *Tail) Alive() { t.heard = time.Now() }

// Quiet returns the time since the last Alive.
func (t *Tail) Quiet() time.Duration { return time.Since(t.heard) }

// UntilIdle returns the option of that name; 0 waits forever.
func (t *Tail) UntilIdle() time.Duration { return t.untilIdle }

// Wait returns nil when it is time to check the recording again, or io.EOF when it counts as ended.
func (t *Tail) Wait(ctx context.Context) error {
	if t.untilIdle > 0 && time.Since(t.heard) >= t.untilIdle {
		return io.EOF
	}
	look := time.NewTimer(lookAgain)
	defer look.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-look.C:
		return nil
	}
}
