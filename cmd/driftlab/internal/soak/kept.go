package soak

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"driftscope/internal/flow/latent"
)

// kept checks a JetStream stream, message by message. It stores only counts.
type kept struct {
	name string // name of the JetStream stream
	// unnumbered reports that the source counts messages without a frame number as lost: late frames of a publisher, and messages that are no frames.
	unnumbered bool
	wrong      func(format string, args ...any)

	mu       sync.Mutex
	at       uint64 // last sequence number read
	holes    uint64 // sequence numbers that the server does not have
	forgot   uint64 // messages that were read but are now missing on the server
	doubled  uint64 // repeated or out-of-order messages
	messages uint64
	runs     []*keptRun
	known    map[string]bool
}

// keptRun is the part of the stream from one run of the program, with identities RUN.N.
type keptRun struct {
	id    string
	begun time.Time // from the identity
	last  uint64    // N
	gaps  uint64    // missing numbers: the spool refused them

	messages uint64
	latents  uint64
	seq      uint64 // of the last latent
	dropped  uint64 // lost frames that the latents report
	surplus  uint64 // lost frames without a number: late frames, and messages that are no frames
	untold   uint64 // missing frames that no latent reports, because their latents were refused
}

// place returns the position of the reader.
func (k *kept) place() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.at
}

// found records the end of the server's stream.
func (k *kept) found(last uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if last < k.at {
		k.forgot += k.at - last
		k.wrong("%s: the server had %d messages, but has %d after its restart", k.name, k.at, last)
		k.at = last
	}
}

// skip moves past messages that the server does not have.
func (k *kept) skip(to uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holes += to - k.at
	k.wrong("%s: the server has no messages %d to %d", k.name, k.at+1, to)
	k.at = to
}

// take checks the next message.
func (k *kept) take(seq uint64, kind latent.Kind, id string, data []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if seq <= k.at {
		return // it will be requested again
	}
	k.at = seq
	k.messages++
	name, number, _ := strings.Cut(id, ".")
	n, err := strconv.ParseUint(number, 10, 64)
	begun, err2 := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 36, 64) // follows the name of the run that began the spool, if it was a different run
	if err != nil || err2 != nil {
		k.wrong("%s: message %d has the identity %q, RUN.N expected", k.name, seq, id)
		return
	}
	if len(k.runs) == 0 || k.runs[len(k.runs)-1].id != name {
		if k.known[name] {
			k.doubled++
			k.wrong("%s: message %s comes after another run's", k.name, id)
			return
		}
		k.known[name] = true
		k.runs = append(k.runs, &keptRun{id: name, begun: unstepped(time.Unix(0, begun))})
	}
	run := k.runs[len(k.runs)-1]
	if n <= run.last {
		k.doubled++
		k.wrong("%s: message %s comes after %s.%d", k.name, id, run.id, run.last)
		return
	}
	run.gaps += n - run.last - 1
	run.last = n
	run.messages++
	if kind == latent.KindLatent {
		run.latent(k, data)
	}
}

// latent accounts for the frames up to a latent.
func (r *keptRun) latent(k *kept, data []byte) {
	var l struct {
		Seq     uint64
		Dropped uint64 `json:"dropped_before"`
	}
	if err := json.Unmarshal(data, &l); err != nil {
		k.wrong("%s: a latent of run %s: %v", k.name, r.id, err)
		return
	}
	missing := int64(l.Seq) - int64(l.Dropped)
	if r.latents > 0 {
		missing -= int64(r.seq) + 1
	}
	if missing < 0 && k.unnumbered {
		r.surplus += uint64(-missing)
	} else if missing < 0 {
		k.wrong("%s: run %s: latent %d says %d frames were lost before it, after latent %d", k.name, r.id, l.Seq, l.Dropped, r.seq)
	}
	r.untold += uint64(max(missing, 0))
	r.dropped += l.Dropped
	r.latents++
	r.seq = l.Seq
}

// of returns the run at a time, or nil.
func (k *kept) of(t time.Time) (run *keptRun) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.runs {
		if !r.begun.After(t) {
			run = r
		}
	}
	return run
}

// settle corrects the begin of runs whose identities have the wrong time, by the times that the program logged. A run whose clock is behind the last identity
// in its spool uses this identity's time plus a nanosecond, so identities stay in order. After a step of the clock this may be an hour too late.
func (k *kept) settle(starts []time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := 0 // of starts
	var before time.Time
	for i, run := range k.runs {
		own := run.begun
		if i > 0 && own.Sub(before) < time.Millisecond && next < len(starts) {
			run.begun = starts[next]
		}
		before = own
		for next < len(starts) && starts[next].Before(run.begun) {
			next++
		}
		next++ // its own start
	}
}

// String describes the counts.
func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return fmt.Sprintf("%s: %d messages of %d runs", k.name, k.messages, len(k.runs))
}
