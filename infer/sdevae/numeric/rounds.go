package numeric

import (
	"context"
	"iter"
)

// Rounds counts from 0 to rounds-1, and stops early if ctx is done.
func Rounds(ctx context.Context, rounds int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for k := 0; k < rounds && ctx.Err() == nil && yield(k); k++ {
		}
	}
}
