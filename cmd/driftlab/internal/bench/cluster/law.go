package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/system"
	"driftscope/sinks/message"
)

// laws compares the last law of every stream with an unbroken run of the same frames.
type laws struct {
	Streams     int     `json:"streams"`
	Within      int     `json:"within"`      // laws whose sigma lies in the unbroken run's interval in every dimension
	Largest     float64 `json:"largest"`     // largest sigma difference, in half widths of that interval
	Transitions uint64  `json:"transitions"` // of the unbroken run
	Differ      uint64  `json:"transitions_differ"`
	Sigma       float64 `json:"sigma"` // sigma of the unbroken run's first dimension, and its interval
	Low         float64 `json:"sigma_low"`
	High        float64 `json:"sigma_high"`
}

// compare runs the stored frames of the first stream without a break, and compares the laws.
func (l *lab) compare(ctx context.Context) (found laws, err error) {
	unbroken, err := l.unbroken(ctx)
	if err != nil {
		return found, err
	}
	for _, name := range l.streams {
		b := l.books[name]
		b.mu.Lock()
		law := b.law
		b.mu.Unlock()
		if law == nil {
			return found, fmt.Errorf("stream %s has no law: let it run for longer", name)
		}
		other := latest(unbroken, law.Seq)
		if other == nil {
			return found, fmt.Errorf("the unbroken run has no law before frame %d, where stream %s has its last", law.Seq, name)
		}
		found.add(law, other)
	}
	return found, nil
}

// latest returns the last law up to a frame: a law appears every ten increments, and a takeover may cost one.
func latest(laws map[uint64]*message.SDERecord, frame uint64) (last *message.SDERecord) {
	for seq, law := range laws {
		if seq <= frame && (last == nil || seq > last.Seq) {
			last = law
		}
	}
	return last
}

// add includes one stream.
func (f *laws) add(law, unbroken *message.SDERecord) {
	f.Streams++
	within := len(law.Sigma) == len(unbroken.Sigma)
	for i := range min(len(law.Sigma), len(unbroken.Sigma)) {
		is, low, high := float64(law.Sigma[i]), float64(unbroken.SigmaLow[i]), float64(unbroken.SigmaHigh[i])
		within = within && is >= low && is <= high
		f.Largest = max(f.Largest, math.Abs(is-float64(unbroken.Sigma[i]))/((high-low)/2))
		if i == 0 {
			f.Sigma, f.Low, f.High = float64(unbroken.Sigma[i]), low, high
		}
	}
	if within {
		f.Within++
	}
	f.Transitions = unbroken.Transitions
	expected := unbroken.Transitions + law.Seq - unbroken.Seq
	f.Differ = max(f.Differ, max(law.Transitions, expected)-min(law.Transitions, expected))
}

// unbroken returns the laws of a run in one process, by frame.
func (l *lab) unbroken(ctx context.Context) (map[uint64]*message.SDERecord, error) {
	file, out := filepath.Join(l.folder, "unbroken.yaml"), filepath.Join(l.folder, "unbroken.jsonl")
	name := l.streams[0]
	text := l.configuration(name) + fmt.Sprintf("nats: {url: off}\ndashboard: {address: off}\nsinks: [jsonl: {path: %q}]\n", out)
	text = strings.Replace(text, "{subject: "+subject(name)+"}", fmt.Sprintf("{subject: %s, url: %q}", subject(name), addresses(l.servers)), 1)
	if err := system.WriteFile(file, []byte(text)); err != nil {
		return nil, err
	}
	p := process{program: l.driftscope, args: []string{"run", file, "--frames", strconv.FormatUint(l.film.frames.Load(), 10)}, log: filepath.Join(l.folder, "unbroken.log")}
	if err := p.start(); err != nil {
		return nil, err
	}
	defer p.kill()
	select {
	case <-p.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(unbrokenMost):
		return nil, fmt.Errorf("the unbroken run takes longer than %v", unbrokenMost)
	}
	if !p.run.ProcessState.Success() {
		text, _ := os.ReadFile(p.log)
		return nil, fmt.Errorf("the unbroken run: %v: %.500s", p.run.ProcessState, text)
	}
	return readLaws(out)
}

// unbrokenMost is the time limit for an hour of frames.
const unbrokenMost = 20 * time.Minute

// readLaws reads the laws of a file, by frame; the last of a frame counts.
func readLaws(path string) (map[uint64]*message.SDERecord, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[uint64]*message.SDERecord{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var h message.Header
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if h.Kind != latent.KindSDE {
			continue
		}
		r, err := message.Decode(h.Kind, lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		law := r.(*message.SDERecord)
		all[law.Seq] = law
	}
	return all, lines.Err()
}
