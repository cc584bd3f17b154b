package ingest

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

// tail waits for more of a recording that is still being written. Nothing is lost by that: what a slow tracker leaves stays there.
type tail struct {
	untilIdle time.Duration // the recording has ended when nothing came for so long; 0 waits for ever
	heard     time.Time     // when something last came
}

// newTail takes the options follow and until_idle.
func newTail(follow bool, untilIdle time.Duration) (tail, error) {
	switch {
	case untilIdle == 0:
	case !follow:
		return tail{}, fmt.Errorf("until_idle is %v, but a recording that is not followed ends where it ends: add follow, or leave it out", untilIdle)
	case untilIdle < minIdle || untilIdle > maxIdle:
		return tail{}, fmt.Errorf("until_idle is %v, expected %v to %v: give more than the longest pause of the recording", untilIdle, minIdle, maxIdle)
	}
	return tail{untilIdle: untilIdle}, nil
}

// alive is called when something came.
func (t *tail) alive() { t.heard = time.Now() }

// wait returns nil when it is time to look again, io.EOF when nothing has come for so long that the recording has ended.
func (t *tail) wait(ctx context.Context) error {
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
