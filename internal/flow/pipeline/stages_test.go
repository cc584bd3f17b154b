package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// epoch is the acquisition time of the first frame of every test.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// source returns n frames (n < 0: without end), one per interval. errs makes the Read of a frame fail; lost is the number of frames that the producer lost
// before a frame; warns are the events of every frame.
type source struct {
	n        int
	live     bool
	public   bool
	interval time.Duration
	errs     map[int]error
	lost     map[int]uint64
	warns    func(i int) (code, text string)
	openErr  error
	closeErr error
	hang     chan struct{} // Read ignores its context until this is closed

	next          int
	seq           uint64
	opens, closes int
}

func (s *source) Open(context.Context) error { s.opens++; return s.openErr }
func (s *source) Info() Info                 { return Info{Live: s.live, Public: s.public} }
func (s *source) Close() error               { s.closes++; return s.closeErr }

func (s *source) Read(ctx context.Context) (*frame.Frame, error) {
	if s.hang != nil {
		<-s.hang
	}
	if s.interval > 0 {
		select {
		case <-time.After(s.interval):
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.n >= 0 && s.next >= s.n {
		return nil, io.EOF
	}
	i := s.next
	s.next++
	s.seq += s.lost[i]
	seq := s.seq
	s.seq++
	if err := s.errs[i]; err != nil {
		return nil, err
	}
	m := frame.Meta{Dropped: s.lost[i]}
	m.Place = 3 * (seq + 1) // as if each frame took three messages
	f := frame.New(seq, epoch.Add(time.Duration(seq)*time.Millisecond), m, gocv.NewMatWithSize(2, 2, gocv.MatTypeCV8U))
	if s.warns != nil {
		code, text := s.warns(i)
		f.Notice(true, code, text)
	}
	return f, nil
}

// step adds an event to some frames, and fails on the frames in errs.
type step struct {
	notice map[uint64]string
	errs   map[uint64]error
	closes int
}

func (s *step) Apply(_ context.Context, f *frame.Frame) error {
	if code := s.notice[f.Seq]; code != "" {
		f.Notice(true, code, "seen by a step")
	}
	return s.errs[f.Seq]
}
func (s *step) Can() Abilities { return Abilities{} }
func (s *step) Close() error   { s.closes++; return nil }

// encoder returns z = [Seq] after a delay.
type encoder struct {
	delay  time.Duration
	errs   map[uint64]error
	closes int
}

func (e *encoder) Dim() int                 { return 1 }
func (e *encoder) Sees() latent.Observation { return latent.Observation{Latent: &latent.Latent{}} }
func (e *encoder) Encode(ctx context.Context, dst latent.Observation, f *frame.Frame) error {
	dst.Latent.Reset(1)
	dst.Latent.Mean[0], dst.Latent.SD[0] = float64(f.Seq), 1
	if e.delay > 0 {
		select {
		case <-time.After(e.delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.errs[f.Seq]
}
func (e *encoder) Close() error { e.closes++; return nil }

// viewer returns the height of the picture as the preview, by which tests identify it.
type viewer struct{ closes int }

func (*viewer) View(dst *latent.View, f *frame.Frame, z *latent.Latent) error {
	dst.Preview = []byte{byte(f.Mat().Rows())}
	if o := f.Meta.Overview; o != nil {
		dst.Region = &latent.Region{}
		if o.Draw {
			dst.Whole = []byte{1}
		}
	}
	return nil
}
func (v *viewer) Close() error { v.closes++; return nil }

// estimator keeps every latent it accepts.
type estimator struct {
	errs   map[uint64]error
	seen   []latent.Latent
	calls  []string
	closes int
}

func (e *estimator) Update(dst *latent.Estimate, seen latent.Observation) (told bool, err error) {
	z := seen.Latent
	if err := e.errs[z.Seq]; err != nil {
		return false, err
	}
	var kept latent.Latent
	kept.Copy(z)
	e.seen = append(e.seen, kept)
	dst.Latent.Copy(z)
	dst.Drift = append(dst.Drift[:0], 0)
	return true, nil
}

func (e *estimator) Freeze(frozen bool) {
	e.calls = append(e.calls, map[bool]string{true: "freeze", false: "unfreeze"}[frozen])
}
func (e *estimator) Reset()                          { e.calls = append(e.calls, "reset") }
func (e *estimator) Follow(uint64) error             { return latent.Refuse(latent.Conflict, "there is one scene") }
func (e *estimator) Alarms() []latent.Event          { return nil }
func (e *estimator) Reports() []latent.Message       { return nil }
func (e *estimator) Last() []latent.Message          { return nil }
func (e *estimator) Finish(*latent.SDE, uint64) bool { return false }
func (e *estimator) Save(io.Writer) error            { return nil }
func (e *estimator) Restore(io.Reader) error         { return nil }
func (e *estimator) Close() error                    { e.closes++; return nil }

// watchful is an estimator with an alarm on each frame whose number it contains.
type watchful struct {
	estimator
	rings map[uint64][]latent.Event
}

func (w *watchful) Alarms() []latent.Event {
	if len(w.seen) == 0 {
		return nil
	}
	return w.rings[w.seen[len(w.seen)-1].Seq]
}

// sink keeps all messages. From the failAt-th Write on, Write returns err; with refuse > 0 it succeeds again after that many attempts. A deaf sink refuses
// Health.
type sink struct {
	delay    time.Duration
	failAt   int
	err      error
	refuse   int
	deaf     bool
	commands chan latent.Command

	mu        sync.Mutex
	writes    int
	estimates []latent.Estimate
	events    []latent.Event
	healths   []latent.Health
	views     []latent.View
	closes    int
	lostAt    int         // number of the Write that reports three lost messages; 0 disables this
	cutAt     int         // number of the Write that reports a cut message; 0 disables this
	wrote     chan uint64 // receives the numbers of written estimates, unless nil
}

func (s *sink) Write(ctx context.Context, m latent.Message) error {
	if s.delay > 0 {
		select {
		case <-time.After(s.delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.failAt > 0 && s.writes >= s.failAt && (s.refuse == 0 || s.writes != s.failAt+s.refuse) {
		return s.err
	}
	switch m := m.(type) {
	case *latent.Estimate:
		var kept latent.Estimate
		kept.Copy(m)
		s.estimates = append(s.estimates, kept)
		if s.wrote != nil {
			s.wrote <- m.Latent.Seq
		}
	case *latent.Event:
		s.events = append(s.events, *m)
	case *latent.Health:
		if s.deaf {
			return latent.Undelivered{Cause: errServerAway}
		}
		s.healths = append(s.healths, *m)
	case *latent.View:
		s.views = append(s.views, *m)
	}
	if s.writes == s.cutAt {
		return latent.CutShort{Places: 1}
	}
	if s.writes == s.lostAt {
		return latent.NotTaken{Count: 3, Cause: errDeviceAway}
	}
	return nil
}

func (s *sink) Close(context.Context) error { s.closes++; return nil }

// count returns the total Count of the events with one code.
func (s *sink) count(code string) (n uint64) {
	for _, e := range s.events {
		if e.Code == code {
			n += e.Count
		}
	}
	return n
}

// The errors with which sinks report a loss.
var errServerAway, errDeviceAway = errors.New("the server is away"), errors.New("the device was away")

// frameDrops returns the number of lost frames; the causes of sinks count messages.
func frameDrops(s Summary) (n uint64) {
	for cause, count := range s.Dropped {
		if !strings.HasPrefix(cause, "sink_") {
			n += count
		}
	}
	return n
}
