// Epochs
//
// An epoch is the revision of the claim and the base of the bucket's making. The revisions of one bucket strictly increase over all keys, so no two claims
// share one. The base is the larger of 64 times the milliseconds from 2025 to the bucket's creation, which the server notes, and of the largest epoch that its
// maker
// knew, which the bucket's metadata keep. So a bucket made later begins beyond all epochs of the one before, unless that took more than 64,000 writes
// a second over its life, or the server's clock was set back and a process started after the deletion made the bucket. Claim refuses the rest: an epoch that is
// not beyond the one the caller found in its predecessors' data. The bucket of a claim is certain if the creation time is the same before and after the claim.
// Epochs stay below 2^53, so that JSON keeps them exact.
//
// Do not edit the TTL of a bucket while workers run. Delete the bucket instead: they make it again.

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
	floorKey = "driftscope-epochs-beyond" // of a bucket's metadata

	revisionsPerMS = 64      // of a bucket, at most, on average: 10,000 streams are renewed 6,000 times a second
	mostFloor      = 1 << 52 // leaves as many epochs again
)

// epochsBegin is when epochs were invented, so that they stay small.
var epochsBegin = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// generation is one making of the bucket.
type generation struct {
	made time.Time
	base uint64 // revisions become epochs by adding this
	ttl  time.Duration
}

// epoch of a revision.
func (g generation) epoch(revision uint64) uint64 { return g.base + revision }

// generationOf reads the server's data about the bucket's stream, and refuses a bucket that cannot hold leases.
func generationOf(info *jetstream.StreamInfo) (generation, error) {
	c := info.Config
	switch {
	case c.MaxAge < LeastTTL || c.MaxAge > MostTTL:
		return generation{}, fmt.Errorf("stream %s: its entries live for %v, expected %v to %v: delete the bucket, it is made again", c.Name, c.MaxAge, LeastTTL, MostTTL)
	case c.Storage != jetstream.FileStorage:
		return generation{}, fmt.Errorf("stream %s: it is kept in memory, where revisions restart with the server: delete the bucket, it is made again in files", c.Name)
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

// ask asks the server for the present generation.
func (b *Leases) ask(ctx context.Context, within time.Duration) (generation, error) {
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	s, err := b.js.Stream(ctx, "KV_"+b.name)
	if err != nil {
		return generation{}, err
	}
	return generationOf(s.CachedInfo())
}

// resource returns the bucket as this process makes it.
func (b *Leases) resource() bus.Resource {
	is := bus.Leases(b.name, b.o.TTL, b.o.Replicas)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known > 0 {
		is.Bucket.Metadata = map[string]string{floorKey: strconv.FormatUint(min(b.known, mostFloor), 10)}
	}
	return is
}
