package online

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/internal/latent"
)

// A checkpoint is magic, version (uint32), length of the payload (uint64), the payload, and the SHA-256 of all before it; numbers
// are little-endian. It holds everything that Update depends on, so that a restored estimator goes on exactly as the saved one.
const (
	checkpointMagic   = "driftscope law\n"
	checkpointVersion = 4
	checkpointHeader  = len(checkpointMagic) + 4 + 8
	maxCheckpoint     = 1 << 27 // bytes; the largest replay, network and dimension that Config allows make 1.1e8
)

// ErrCheckpoint is what Restore returns for bytes that are not a whole checkpoint of an estimator like this one.
var ErrCheckpoint = errors.New("unusable checkpoint")

// Save writes the state after the last Update. A slice of refinement that is out is kept as what it was given, and not waited for.
func (e *Estimator) Save(w io.Writer) error {
	a := archive{writing: true, buf: append([]byte(checkpointMagic), make([]byte, 12)...)}
	binary.LittleEndian.PutUint32(a.buf[len(checkpointMagic):], checkpointVersion)
	e.config.archive(&a)
	e.law.archive(&a)
	learner := *e.refiner.learner // a slice may be reading it
	learner.archive(&a)
	binary.LittleEndian.PutUint64(a.buf[len(checkpointMagic)+4:], uint64(len(a.buf)-checkpointHeader))
	digest := sha256.Sum256(a.buf)
	if _, err := w.Write(append(a.buf, digest[:]...)); err != nil {
		return fmt.Errorf("checkpoint: %w: free some space or choose another path", err)
	}
	return nil
}

// Restore replaces the state by a saved one, made with the same Dim, Prior, Exposure, RefineLag, Refresh, Forget and Replay.
// It returns ErrCheckpoint, having changed nothing, when r holds anything else. Freeze is not part of the state. What alarms that begins or
// ends, events tell with the next Update. The slice that was out when it was saved is begun again; one that is under way now is not waited
// for but dropped.
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
	a.require(!l.inFlight || l.due <= l.frame+e.config.RefineLag, "a slice to be used at frame %d, begun before frame %d", l.due, l.frame+1)
	if a.err == nil && len(a.buf) > 0 {
		a.fail("%d bytes too many", len(a.buf))
	}
	if a.err != nil {
		return a.err
	}
	l.describe()
	l.units.describe(&l.sde.Units)
	l.tell()
	l.alarms.told = e.alarms.told
	e.law = l
	e.refiner.replace(learner)
	if e.inFlight {
		e.lend()
	}
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
	body, err := readAll(r, int(size)+sha256.Size)
	if err != nil {
		return nil, err
	}
	payload, stored := body[:size], body[size:]
	digest := sha256.New()
	digest.Write(header)
	digest.Write(payload)
	if !bytes.Equal(digest.Sum(nil), stored) {
		return nil, fmt.Errorf("%w: its digest does not match its content: it is damaged, use an older one", ErrCheckpoint)
	}
	return payload, nil
}

// readAll reads size bytes. Its memory doubles with what arrives, up to what the header claims.
func readAll(r io.Reader, size int) (body []byte, err error) {
	const first = 1 << 20
	for n := 0; n < size; {
		grown := make([]byte, min(size, max(first, 2*n)))
		copy(grown, body)
		body = grown
		more, err := io.ReadFull(r, body[n:])
		if n += more; err != nil {
			return nil, fmt.Errorf("%w: torn after %d bytes of %d: use an older one", ErrCheckpoint, n, size)
		}
	}
	return body, nil
}

// archive writes or checks what a state may only be restored under.
func (c *Config) archive(a *archive) {
	a.expect("dimension", uint64(c.Dim))
	a.expect("refresh", c.Refresh)
	a.expect("refine lag", c.RefineLag)
	a.expect("replay", uint64(c.Replay))
	a.same("forget", c.Forget)
	a.same("exposure", c.Exposure.Seconds())
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
	a.uint(&l.trajectory)
	a.time(&l.time)
	for _, b := range l.banks {
		b.archive(a)
	}
	archiveFound(a, l.found, l.sde.Activity)
	a.magnitudes(&l.n, &l.seconds)
	a.uint(&l.sde.Revision)
	a.uint(&l.sde.Held)
	a.floats(l.linearise)
	a.floats(l.mu)
	a.floats(l.jac)
	a.uint(&l.turned)
	l.filter.archive(a)
	l.alarms.archive(a)
	l.units.archive(a)
	l.field.added = l.field.added.archive(a)
	l.sde.Field = a.archiveField(l.sde.Field, len(l.found))
	for _, count := range []*uint64{&l.refinement.Revision, &l.refinement.Frame, &l.refinement.Changes, &l.refinement.Failed, &l.refinement.Unused} {
		a.uint(count)
	}
	l.pending.archive(a)
	a.bool(&l.broken)
	a.bool(&l.inFlight)
	a.uint(&l.due)
	if l.inFlight {
		l.lent.archive(a)
		a.require(l.lent.len() > 0, "a slice of no latents")
		archiveFound(a, l.lentFound, l.lentActive)
	}
}

// archiveFound goes through what was found of the dimensions, and decided.
func archiveFound(a *archive, found []diffusion, decided []latent.Activity) {
	for i := range found {
		f := &found[i]
		a.magnitudes(&f.v, &f.low, &f.high, &f.noise, &f.spot, &f.ratio)
		a.activity(&decided[i])
		a.require(decided[i] != latent.Active || f.v > 0, "dimension %d moves, and its σ² is %g", i, f.v)
	}
}

func (b *bank) archive(a *archive) {
	a.floats(b.z)
	a.floats(b.l)
	a.floats(b.p[b.sharp:])
	for _, list := range [][]float64{b.p[:b.sharp], b.a} {
		for k := range list {
			a.magnitudes(&list[k])
		}
	}
	for k := range b.s { // beyond archive's largest after very unequal steps
		bits := math.Float64bits(b.s[k])
		a.uint(&bits)
		b.s[k] = math.Float64frombits(bits)
		a.require(b.s[k] > 0 && b.s[k] <= math.MaxFloat64, "a product of variances of %g", b.s[k])
	}
	since := uint64(b.since)
	a.uint(&since)
	a.require(since <= stair, "%d transitions since the last of %d", since, stair)
	b.since = int(since)
	a.magnitudes(&b.n, &b.n2, &b.seconds, &b.dt0)
	a.require(b.n <= 1e15 && b.n2 <= b.n && (b.n == 0 || b.n2 >= 1 && b.seconds > 0 && b.dt0 > 0), "a bank of %g transitions in %g s", b.n, b.seconds)
	if b.dt0 > 0 {
		b.shutter()
	}
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

func (c *calibration) archive(a *archive) {
	a.bool(&c.linked)
	for _, list := range [][]float64{c.last, c.now, c.before, c.same, c.lagged} {
		a.floats(list)
	}
	a.magnitudes(&c.weight, &c.n, &c.n2)
	a.require(c.n <= 1e15 && c.n2 <= c.n && (c.n == 0 || c.n2 >= 1), "a calibration by %g transitions", c.n)
	c.found.archive(a)
}

func (f *calibrated) archive(a *archive) {
	states := []latent.Calibration{"", latent.Brief, latent.Motionless, latent.Unexplained, latent.Calibrated}
	at := uint64(slices.Index(states, f.state))
	a.uint(&at)
	if a.require(at < uint64(len(states)), "calibration %d of %d", at, len(states)); a.err == nil {
		f.state = states[at]
	}
	a.floats(f.r2[:])
	a.floats(f.a)
	a.magnitudes(&f.px.D, &f.px.Low, &f.px.High, &f.px.X, &f.px.Y)
}

// archive gives the network that was read, or n where one is written.
func (n *Network) archive(a *archive) *Network {
	n = n.Clone() // what is published is never written
	a.floats(n.Centre)
	a.float(&n.Scale)
	a.floats(n.Weights)
	a.require(n.Validate() == nil, "a network has a number beyond ±%g, or a scale below %g", maxWeight, 1/maxWeight)
	return n
}

// archive gives the addition that was read, or a where one is written.
func (a *addition) archive(to *archive) *addition {
	a = &addition{a.Network.archive(to), slices.Clone(a.low), slices.Clone(a.high), a.flat}
	bounded := a.low != nil
	if to.bool(&bounded); bounded && a.low == nil {
		a.low, a.high = make([]float64, a.Dim), make([]float64, a.Dim)
	} else if !bounded {
		a.low, a.high = nil, nil
	}
	to.floats(a.low)
	to.floats(a.high)
	to.bool(&a.flat)
	return a
}

func (t *track) archive(a *archive) {
	n := uint64(t.len())
	a.uint(&n)
	a.require(n <= uint64(cap(t.dt)), "%d latents, room for %d", n, cap(t.dt))
	if a.err != nil {
		return
	}
	if a.reads() {
		t.m, t.dt = t.m[:int(n)*t.dim], t.dt[:n]
	}
	a.floats(t.m)
	for k := range t.dt {
		a.magnitudes(&t.dt[k])
	}
}

func (l *learner) archive(a *archive) {
	l.memory.archive(a)
	if l.memory.len() > 0 {
		a.require(l.memory.dt[0] == 0, "a memory that begins %g s after nothing", l.memory.dt[0])
	}
	a.magnitudes(&l.clip)
	l.added = l.added.archive(a)
	l.field = a.archiveField(l.field, l.memory.dim)
	dim := uint64(0)
	if l.bent != nil {
		dim = uint64(l.bent.Dim)
	}
	a.uint(&dim)
	a.require(dim <= uint64(l.memory.dim), "%d bent dimensions of %d", dim, l.memory.dim)
	if dim > 0 && a.err == nil {
		if l.bent == nil {
			l.bent = NewNetwork(int(dim), rand.New(rand.NewPCG(0, 0)))
		}
		l.bent = l.bent.archive(a)
	}
	a.magnitudes(&l.hidden)
	a.uint(&l.seed)
	a.uint(&l.changes)
	a.uint(&l.failed)
}
