package online

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A checkpoint is magic, version (uint32), length of the payload (uint64), the payload, and the SHA-256 of all before it; numbers
// are little-endian. It holds everything that Update depends on, so that a restored estimator goes on exactly as the saved one.
const (
	checkpointMagic   = "driftscope law\n"
	checkpointVersion = 2
	checkpointHeader  = len(checkpointMagic) + 4 + 8
	maxCheckpoint     = 1 << 28 // bytes; the largest replay, network and dimension that Config allows make 2.4e8
)

// ErrCheckpoint is what Restore returns for bytes that are not a whole checkpoint of an estimator like this one.
var ErrCheckpoint = errors.New("unusable checkpoint")

// Save writes the state after the last Update, waiting for a running slice of refinement to end.
func (e *Estimator) Save(w io.Writer) error {
	e.refiner.idle(true)
	a := archive{writing: true, buf: append([]byte(checkpointMagic), make([]byte, 12)...)}
	binary.LittleEndian.PutUint32(a.buf[len(checkpointMagic):], checkpointVersion)
	e.config.archive(&a)
	e.law.archive(&a)
	e.refiner.learner.archive(&a)
	binary.LittleEndian.PutUint64(a.buf[len(checkpointMagic)+4:], uint64(len(a.buf)-checkpointHeader))
	digest := sha256.Sum256(a.buf)
	if _, err := w.Write(append(a.buf, digest[:]...)); err != nil {
		return fmt.Errorf("checkpoint: %w: free some space or choose another path", err)
	}
	return nil
}

// Restore replaces the state by a saved one, made with the same Dim, Prior, TrainSeconds, RefineLag, Refresh, Forget and Replay.
// It returns ErrCheckpoint, having changed nothing, when r holds anything else. Freeze is not part of the state.
func (e *Estimator) Restore(r io.Reader) error {
	payload, err := readCheckpoint(r)
	if err != nil {
		return err
	}
	a := archive{buf: payload}
	e.config.archive(&a)
	if a.err != nil {
		return a.err
	}
	l, learner := begin(e.config)
	l.archive(&a)
	learner.archive(&a)
	if a.err == nil && len(a.buf) > 0 {
		a.fail("%d bytes too many", len(a.buf))
	}
	if a.err != nil {
		return a.err
	}
	l.describe()
	l.sde.DriftRevision = l.refinement.Revision
	e.refiner.idle(true)
	e.law, e.refiner.learner = l, learner
	return nil
}

// readCheckpoint gives the payload of a whole checkpoint.
func readCheckpoint(r io.Reader) ([]byte, error) {
	header := make([]byte, checkpointHeader)
	if _, err := io.ReadFull(r, header); err != nil || string(header[:len(checkpointMagic)]) != checkpointMagic {
		return nil, fmt.Errorf("%w: it does not begin like one: give a file that Save wrote", ErrCheckpoint)
	}
	if v := binary.LittleEndian.Uint32(header[len(checkpointMagic):]); v != checkpointVersion {
		return nil, fmt.Errorf("%w: version %d, this build reads %d: use the build that wrote it", ErrCheckpoint, v, checkpointVersion)
	}
	size := binary.LittleEndian.Uint64(header[len(checkpointMagic)+4:])
	if size > maxCheckpoint {
		return nil, fmt.Errorf("%w: %d bytes announced, expected at most %d: it is damaged, use an older one", ErrCheckpoint, size, maxCheckpoint)
	}
	var body bytes.Buffer // grows with what arrives, not with what the header claims
	if n, err := io.CopyN(&body, r, int64(size)+sha256.Size); err != nil {
		return nil, fmt.Errorf("%w: torn after %d bytes of %d: use an older one", ErrCheckpoint, n, int64(size)+sha256.Size)
	}
	payload, stored := body.Bytes()[:size], body.Bytes()[size:]
	digest := sha256.New()
	digest.Write(header)
	digest.Write(payload)
	if !bytes.Equal(digest.Sum(nil), stored) {
		return nil, fmt.Errorf("%w: its digest does not match its content: it is damaged, use an older one", ErrCheckpoint)
	}
	return payload, nil
}

// archive writes or checks what a state may only be restored under.
func (c *Config) archive(a *archive) {
	a.expect("dimension", uint64(c.Dim))
	a.expect("refresh", c.Refresh)
	a.expect("refine lag", c.RefineLag)
	a.expect("replay", uint64(c.Replay))
	a.same("forget", c.Forget)
	a.same("training time", c.TrainSeconds)
	if c.Prior == nil {
		a.expect("size of the model's drift network", 0)
		return
	}
	a.expect("size of the model's drift network", uint64(c.Prior.Size()))
	a.same("scale of the model's drift network", c.Prior.Scale)
	for _, list := range [][]float64{c.Prior.Centre, c.Prior.Weights} {
		for _, v := range list {
			a.same("weight of the model's drift network", v)
		}
	}
}

// archive goes through the law's fields, writing or reading.
func (l *law) archive(a *archive) {
	a.uint(&l.frame)
	a.bool(&l.linked)
	a.bool(&l.forecast)
	a.uint(&l.trajectory)
	a.time(&l.time)
	a.floats(l.mean)
	a.floats(l.x)
	for _, b := range l.banks {
		b.archive(a)
	}
	for i := range l.found {
		f := &l.found[i]
		a.magnitudes(&f.v, &f.low, &f.high, &f.noise, &f.ratio)
	}
	a.magnitudes(&l.n, &l.seconds)
	a.uint(&l.sde.Revision)
	a.uint(&l.sde.Held)
	a.floats(l.linearise)
	a.floats(l.mu)
	a.floats(l.jac)
	a.uint(&l.turned)
	l.filter.archive(a)
	l.alarms.archive(a)
	l.field.learnt.archive(a)
	a.magnitudes(&l.field.share, &l.field.size)
	a.float(&l.field.gain)
	a.require(l.field.share <= 1, "share %g", l.field.share)
	a.uint(&l.refinement.Revision)
	a.uint(&l.refinement.Frame)
	a.uint(&l.refinement.Unused)
	l.refinement.Share = l.field.share
	l.pending.archive(a)
	a.bool(&l.inFlight)
	a.uint(&l.due)
}

func (b *bank) archive(a *archive) {
	a.floats(b.z)
	for _, list := range [][]float64{b.p, b.a, b.l} {
		for k := range list {
			a.magnitudes(&list[k])
		}
	}
	a.magnitudes(&b.n, &b.n2, &b.seconds, &b.dt0)
	a.require(b.n <= 1e15 && b.n2 <= b.n && (b.n == 0 || b.n2 >= 1 && b.seconds > 0 && b.dt0 > 0), "a bank of %g transitions in %g s", b.n, b.seconds)
	best := uint64(b.best)
	a.uint(&best)
	a.require(best < uint64(len(b.psi)), "filter %d of %d", best, len(b.psi))
	b.best = int(best)
	a.float(&b.previous)
	a.magnitudes(&b.cve.square, &b.cve.squares, &b.cve.lags)
	a.float(&b.cve.lag)
	a.float(&b.cve.last)
	a.bool(&b.cve.linked)
}

func (n *Network) archive(a *archive) {
	a.floats(n.Centre)
	a.magnitudes(&n.Scale)
	a.require(n.Scale > 0, "a network's scale %g", n.Scale)
	a.floats(n.Weights)
}

func (t *transitions) archive(a *archive) {
	n := uint64(t.len())
	a.uint(&n)
	a.require(n <= uint64(cap(t.dt)), "%d transitions, room for %d", n, cap(t.dt))
	if a.err != nil {
		return
	}
	t.resize(int(n))
	for _, list := range [][]float64{t.x, t.y, t.prior} {
		a.floats(list)
	}
	for k := range t.dt {
		a.magnitudes(&t.dt[k])
	}
}

func (l *learner) archive(a *archive) {
	l.net.archive(a)
	for _, list := range [][]float64{l.anchor, l.average, l.first, l.second} {
		a.floats(list)
	}
	a.uint(&l.steps)
	a.bool(&l.scaled)
	a.uint(&l.replay.seen)
	l.replay.transitions.archive(a)
	a.require(l.replay.seen >= uint64(l.replay.len()), "%d transitions of %d", l.replay.len(), l.replay.seen)
	a.random(l.pcg)
}
