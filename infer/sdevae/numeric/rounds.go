package numeric

import (
	"context"
	"iter"
)

// until counts rounds from 0, as long as ctx is not done.
func Rounds(ctx context.Context, rounds int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for k := 0; k < rounds && ctx.Err() == nil && yield(k); k++ {
		}
	}
}
