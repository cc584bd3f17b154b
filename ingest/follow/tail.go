package follow

import (
	"context"
	"fmt"
	"io"
	"time"
)

// lookAgain is the time between two looks at a recording that has nothing new: a quarter of a second has room for several.
const lookAgain = 25 * time.Millisecond

// The bounds on until_idle.
const (
	minIdle = 100 * time.Millisecond
	maxIdle = 7 * 24 * time.Hour
)

// Tail waits for more of a recording that is still being written. Nothing is lost by that: what a slow tracker leaves stays there.
type Tail struct {
	untilIdle time.Duration // the recording has ended when nothing came for so long; 0 waits for ever
	heard     time.Time     // when something last came
}

// NewTail takes the options follow and until_idle.
func NewTail(follow bool, untilIdle time.Duration) (Tail, error) {
	switch {
	case untilIdle == 0:
	case !follow:
		return Tail{}, fmt.Errorf("until_idle is %v, but a recording that is not followed ends where it ends: add follow, or leave it out", untilIdle)
	case untilIdle < minIdle || untilIdle > maxIdle:
		return Tail{}, fmt.Errorf("until_idle is %v, expected %v to %v: give more than the longest pause of the recording", untilIdle, minIdle, maxIdle)
	}
	return Tail{untilIdle: untilIdle}, nil
}

// Alive is called when something came.
func (t *Tail) Alive() { t.heard = time.Now() }

// Quiet is how long nothing came.
func (t *Tail) Quiet() time.Duration { return time.Since(t.heard) }

// UntilIdle is the option of that name; 0 waits for ever.
func (t *Tail) UntilIdle() time.Duration { return t.untilIdle }

// Wait returns nil when it is time to look again, io.EOF when nothing has come for so long that the recording has ended.
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
