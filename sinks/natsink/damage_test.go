package natsink

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/suite"
	"driftscope/sinks/sinktest"
)

// TestDamagedSpool damages half-delivered spools of earlier runs, and lets another run deliver the rest, before and after the server has forgotten the
// identities.
func TestDamagedSpool(t *testing.T) {
	t.Parallel()
	damageSpools(t, 40)
}

// TestDamagedSpoolThousand does the same a thousand times.
func TestDamagedSpoolThousand(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	damageSpools(t, 1000)
}

const (
	damageSeed  = 49
	damageGroup = 20                     // spools per group
	forgetful   = 100 * time.Millisecond // shortest duplicate window of a server
	forgotten   = 5 * forgetful          // time after which the server has forgotten, even on a busy machine; forgets checks this
	newSeq      = 1000                   // number of the first frame of the delivering run
	newFrames   = 10
)

// damageSpools checks for n damaged spools that every record outside the damage is stored once and in order.
func damageSpools(t *testing.T, n int) {
	server := keeper(t)
	js, err := jetstream.New(dial(t, server.URL()))
	if err != nil {
		t.Fatal(err)
	}
	forgets(t, js)
	rng := rand.New(rand.NewPCG(damageSeed, 0))
	var sum damageCount
	kinds := map[string]int{}
	for from := 0; from < n; from += damageGroup {
		group := make([]*damaged, min(damageGroup, n-from))
		each := func(do func(d *damaged)) {
			var all sync.WaitGroup
			for _, d := range group {
				all.Go(func() { do(d) })
			}
			all.Wait()
			if t.Failed() {
				t.FailNow()
			}
		}
		for i := range group {
			group[i] = &damaged{
				t: t, server: server.URL(), js: js, stream: fmt.Sprintf("d%d", from+i), folder: t.TempDir(),
				rng: rand.New(rand.NewPCG(damageSeed, rng.Uint64())), late: i%2 == 1,
			}
		}
		each((*damaged).leave)
		each((*damaged).damage)
		time.Sleep(forgotten)
		each((*damaged).deliver)
		for _, d := range group {
			d.check()
			kinds[d.what]++
			sum.add(d.count)
		}
	}
	t.Logf("seed %d: %d damages %v: %d of %d waiting records damaged, %d others lost, %d doubled, %d out of order, %d log lines in a second at most",
		damageSeed, n, kinds, sum.damaged, sum.waiting, sum.lost, sum.doubled, sum.unordered, sum.lines)
	if sum.lost+sum.doubled+sum.unordered > 0 || sum.lines > 10 {
		t.Error("expected 0 lost, 0 doubled, 0 out of order, 10 lines at most")
	}
	if sum.damaged == 0 || sum.damaged == sum.waiting {
		t.Error("the damage hit none of what waits, or all")
	}
}

// forgets checks that a server accepts an identity again after its window.
func forgets(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	config := jetstream.StreamConfig{Name: "canary", Subjects: []string{"canary"}, Duplicates: time.Minute}
	for _, known := range []bool{false, true, false} {
		if _, err := js.CreateOrUpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		ack, err := js.Publish(t.Context(), "canary", nil, jetstream.WithMsgID("same"))
		if err != nil {
			t.Fatal(err)
		}
		if ack.Duplicate != known {
			t.Fatalf("the server knows the identity: %t, expected %t", ack.Duplicate, known)
		}
		if known {
			config.Duplicates = forgetful // as for the late streams between their runs
			if _, err := js.UpdateStream(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			time.Sleep(forgotten)
			config.Duplicates = time.Minute
		}
	}
}

type damageCount struct{ waiting, damaged, lost, doubled, unordered, lines int }

func (c *damageCount) add(d damageCount) {
	c.waiting, c.damaged, c.lost, c.doubled, c.unordered = c.waiting+d.waiting, c.damaged+d.damaged, c.lost+d.lost, c.doubled+d.doubled, c.unordered+d.unordered
	c.lines = max(c.lines, d.lines)
}

// damaged is a stream whose spool is damaged between two runs.
type damaged struct {
	t      *testing.T
	server string
	js     jetstream.JetStream
	stream string
	folder string
	rng    *rand.Rand
	late   bool // the server forgets identities between the runs

	delivered []string // identities before the damage
	waiting   []string // undamaged identities that still have to be delivered
	what      string   // description of the damage
	log       timedLog
	count     damageCount
}

func (d *damaged) spoolIn(store string) string {
	return filepath.Join(d.folder, store, "spool", "driftscope_local_"+d.stream)
}

// open makes the sink of a run.
func (d *damaged) open(store string, log *slog.Logger) (*Sink, *bus.Conn, error) {
	b, err := bus.Connect(d.t.Context(), bus.Options{URL: d.server})
	if err != nil {
		return nil, nil, err
	}
	s, err := New(sinktest.Decoder(d.t, durableOptions(filepath.Join(d.folder, store))), Env{Stream: d.stream, Bus: b, Log: log})
	if err != nil {
		return nil, nil, err
	}
	return s, b, nil
}

// leave runs the stream, delivers a part of it, loses the server, and ends as if killed.
func (d *damaged) leave() {
	s, b, err := d.open("killed", nil)
	if err != nil {
		d.t.Error(err)
		return
	}
	seq := uint64(0)
	write := func(n int) {
		for range n {
			if err := s.Write(d.t.Context(), sinktest.Estimate(seq, seq/10+1)); err != nil {
				d.t.Error(err)
			}
			seq++
		}
	}
	write(20 + d.rng.IntN(60))
	if d.rng.IntN(4) == 0 { // the position on disk is then not the first one
		time.Sleep(1100 * time.Millisecond)
		write(1 + d.rng.IntN(20))
	}
	emptied(s)
	loses(b)
	write(10 + d.rng.IntN(60))
	if err := os.CopyFS(d.spoolIn("left"), os.DirFS(d.spoolIn("killed"))); err != nil {
		d.t.Error(err)
	}
	sinktest.Close(d.t, s)
	d.delivered = d.kept()
}

// piece is one record of a file.
type piece struct {
	id       string
	from, to int
}

// pieces lists the records of a segment.
func pieces(text []byte) (all []piece) {
	for at := 0; at < len(text); {
		to := at + 8 + int(binary.LittleEndian.Uint32(text[at:]))
		kind, id := int(text[at+8]), int(text[at+9])
		all = append(all, piece{string(text[at+10+kind : at+10+kind+id]), at, to})
		at = to
	}
	return all
}

// damage damages one or several files of the spool, and computes the records that must still be delivered.
func (d *damaged) damage() {
	paths, err := filepath.Glob(filepath.Join(d.spoolIn("left"), "*"))
	if err != nil {
		d.t.Error(err)
	}
	before, segments, others := map[string][]byte{}, []string(nil), []string(nil)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			d.t.Error(err)
		}
		switch before[path] = text; {
		case strings.HasSuffix(path, ".spool"):
			segments = append(segments, path)
		case filepath.Base(path) != "lock":
			others = append(others, path)
		}
	}
	after := maps.Clone(before)
	hit := func(path string) {
		kind := []string{"flip", "cut", "swap", "zero"}[d.rng.IntN(4)]
		d.what += " " + kind
		var records []piece
		if slices.Contains(segments, path) {
			records = pieces(before[path])
		}
		after[path] = d.hurt(kind, after[path], records)
	}
	switch d.rng.IntN(5) { // 0: the position alone; 1: it and a segment; else a segment
	case 0:
		d.what = "position"
		hit(others[d.rng.IntN(len(others))])
	case 1:
		d.what = "both"
		for _, path := range others {
			after[path] = d.hurt("cut", after[path], nil)
		}
		hit(segments[d.rng.IntN(len(segments))])
	default:
		d.what = "segment"
		hit(segments[d.rng.IntN(len(segments))])
	}
	for _, path := range segments {
		for _, r := range pieces(before[path]) {
			if slices.Contains(d.delivered, r.id) {
				continue
			}
			d.count.waiting++
			if r.to <= len(after[path]) && bytes.Equal(before[path][r.from:r.to], after[path][r.from:r.to]) {
				d.waiting = append(d.waiting, r.id)
			} else {
				d.count.damaged++
			}
		}
	}
	for path, text := range after {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			d.t.Error(err)
		}
	}
	if !d.late {
		return
	}
	kept, err := d.js.Stream(d.t.Context(), "driftscope_local_"+d.stream)
	if err != nil {
		d.t.Error(err)
		return
	}
	config := kept.CachedInfo().Config
	config.Duplicates = forgetful
	if _, err := d.js.UpdateStream(d.t.Context(), config); err != nil {
		d.t.Error(err)
	}
}

// hurt damages bytes in one of several ways. For a segment it knows the records.
func (d *damaged) hurt(kind string, text []byte, records []piece) []byte {
	text = slices.Clone(text)
	if len(text) < 4 {
		return nil
	}
	at := d.rng.IntN(len(text))
	n := 1 + d.rng.IntN(max((len(text)-at)/2, 1))
	switch kind {
	case "flip":
		for range 1 + d.rng.IntN(8) {
			text[d.rng.IntN(len(text))] ^= 1 << d.rng.IntN(8)
		}
	case "cut":
		return text[:at]
	case "zero":
		clear(text[at : at+n])
	case "swap": // of bytes, or of whole records
		from, to := at, d.rng.IntN(len(text)-n+1)
		if len(records) > 0 && d.rng.IntN(2) == 0 {
			one, other := records[d.rng.IntN(len(records))], records[d.rng.IntN(len(records))]
			if one.to-one.from == other.to-other.from {
				from, to, n = one.from, other.from, one.to-one.from
			}
		}
		one, other := slices.Clone(text[from:from+n]), slices.Clone(text[to:to+n])
		copy(text[from:], other)
		copy(text[to:], one)
	}
	return text
}

// deliver runs the stream again.
func (d *damaged) deliver() {
	s, b, err := d.open("left", slog.New(slog.NewTextHandler(&d.log, nil)))
	if err != nil {
		d.t.Error(err)
		return
	}
	for i := range uint64(newFrames) {
		if err := s.Write(d.t.Context(), sinktest.Estimate(newSeq+i, 1)); err != nil {
			d.t.Error(err)
		}
	}
	emptied(s) // on a busy machine Close would give up too early
	sinktest.Close(d.t, s)
	loses(b)
}

// emptied waits until everything is delivered. A record that is not delivered by then counts as missing in the stream.
func emptied(s *Sink) {
	for end := time.Now().Add(20 * time.Second); !s.durable.spool.Empty() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// loses ends a connection at once, because b.Close would wait for a server that may be busy.
func loses(b *bus.Conn) {
	b.NATS().Close()
	for b.Connected() {
		time.Sleep(time.Millisecond)
	}
}

// kept returns the identities in the stream, and the sequence numbers of the second run's frames.
func (d *damaged) kept() (ids []string) {
	ctx, done := context.WithTimeout(d.t.Context(), 20*time.Second)
	defer done()
	consumer, err := d.js.OrderedConsumer(ctx, "driftscope_local_"+d.stream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		d.t.Error(err)
		return nil
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		d.t.Error(err)
		return nil
	}
	for range info.NumPending {
		m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			d.t.Error(err)
			return ids
		}
		ids = append(ids, m.Headers().Get(jetstream.MsgIDHeader))
	}
	return ids
}

// check compares the stored records with the expected ones.
func (d *damaged) check() {
	found, want := d.kept(), slices.Concat(d.delivered, d.waiting)
	times, last := map[string]int{}, -1
	for _, id := range found {
		if times[id]++; times[id] > 1 {
			d.count.doubled++
			continue
		}
		switch at := slices.Index(want, id); {
		case at >= 0 && at < last:
			d.count.unordered++
		case at >= 0:
			last = at
		case last < len(want)-1:
			d.count.unordered++ // a record of the second run comes before a waiting one
		}
	}
	for _, id := range want {
		if times[id] == 0 {
			d.count.lost++
		}
	}
	if made := len(times) - len(want) + d.count.lost; made != newFrames+1 { // and one law
		d.t.Errorf("%s, %s, late %t: %d new messages are kept, expected %d", d.stream, d.what, d.late, made, newFrames+1)
	}
	d.count.lines = d.log.most()
	if c := d.count; c.lost+c.doubled+c.unordered > 0 || c.lines > 10 {
		d.t.Logf("%s, %s, late %t: %+v", d.stream, d.what, d.late, c)
	}
	if err := d.js.DeleteStream(d.t.Context(), "driftscope_local_"+d.stream); err != nil {
		d.t.Error(err)
	}
}

// timedLog records the times of log lines.
type timedLog struct {
	mu    sync.Mutex
	times []time.Time
}

func (l *timedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times = append(l.times, time.Now())
	return len(p), nil
}

// most returns the largest number of lines within one second.
func (l *timedLog) most() (n int) {
	for i, from := 0, 0; i < len(l.times); i++ {
		for l.times[i].Sub(l.times[from]) >= time.Second {
			from++
		}
		n = max(n, i-from+1)
	}
	return n
}
