// Epochs
//
// An epoch is the sum of the claim's revision and the bucket's base. The revisions of one bucket strictly increase over all keys, so no two claims share one.
// The base is the larger of two numbers: 64 times the milliseconds from 2025 to the bucket's creation, by the server's clock, and the largest epoch that the
// bucket's maker knew, stored in the bucket's metadata. So a new bucket begins beyond all epochs of the previous one. There are two exceptions: the previous
// bucket took more than 64,000 writes per second over its life, or the server's clock was set back and the bucket's maker started after the deletion. For
// these, Claim refuses an epoch that is not larger than the epochs in the stream's earlier data. A claim belongs to a bucket for certain if the creation
// time is the same before and after the claim. Epochs stay below 2^53, so that JSON represents them exactly.
//
// Do not edit the TTL of a bucket while workers run. Delete the bucket instead: workers make it again.

package site

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
)

const (
	floorKey = "driftscope-epochs-beyond" // key in a bucket's metadata

	revisionsPerMS = 64      // largest average rate in a bucket; the leases of 10,000 streams are renewed 6,000 times per second
	mostFloor      = 1 << 52 // leaves the same number of larger epochs
)

// epochsBegin is the origin of the time in epochs, recent so that they stay small.
var epochsBegin = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// generation identifies one creation of the bucket.
type generation struct {
	made time.Time
	base uint64 // epoch minus revision
	ttl  time.Duration
}

// epoch of a revision.
func (g generation) epoch(revision uint64) uint64 { return g.base + revision }

// generationOf reads the server's data about the bucket's stream, and refuses a bucket that is unfit for leases.
func generationOf(info *jetstream.StreamInfo) (generation, error) {
	c := info.Config
	switch {
	case c.MaxAge < LeastTTL || c.MaxAge > MostTTL:
		return generation{}, fmt.Errorf("stream %s: its entries live for %v, expected %v to %v: delete the bucket, it is made again", c.Name, c.MaxAge, LeastTTL, MostTTL)
	case c.Storage != jetstream.FileStorage:
		return generation{}, fmt.Errorf("stream %s: it is stored in memory, where revisions restart with the server: delete the bucket, workers make it again in files", c.Name)
	}
	base := uint64(max(info.Created.Sub(epochsBegin).Milliseconds(), 0)) * revisionsPerMS
	if text := c.Metadata[floorKey]; text != "" {
		floor, err := strconv.ParseUint(text, 10, 64)
		if err != nil || floor > mostFloor {
			return generation{}, fmt.Errorf("stream %s: metadata %s: found %.40q, expected a number up to 2^52: delete the bucket, it is made again", c.Name, floorKey, text)
		}
		base = max(base, floor)
	}
	return generation{info.Created, base, c.MaxAge}, nil
}

// ask returns the present generation from the server.
func (b *Leases) ask(ctx context.Context, within time.Duration) (generation, error) {
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	s, err := b.js.Stream(ctx, "KV_"+b.name)
	if err != nil {
		return generation{}, err
	}
	return generationOf(s.CachedInfo())
}

// resource returns the bucket's settings for its creation by this process.
func (b *Leases) resource() bus.Resource {
	is := bus.Leases(b.name, b.o.TTL, b.o.Replicas)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known > 0 {
		is.Bucket.Metadata = map[string]string{floorKey: strconv.FormatUint(min(b.known, mostFloor), 10)}
	}
	return is
}
