package online

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"driftscope/internal/latent"
)

// archive writes values to buf, or reads them off it, in the order in which it is shown them: one list of fields serves both
// ways. Writing, it changes none of them, for others may be reading some. It keeps the first error, after which it changes nothing.
type archive struct {
	writing bool
	buf     []byte // written so far, or left to read
	err     error
}

// largest bounds every number read, so that no product of two overflows.
const largest = 1e100

// fail keeps what is wrong with the checkpoint.
func (a *archive) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("%w: %s: it is damaged, use an older one", ErrCheckpoint, fmt.Sprintf(format, args...))
	}
}

// require fails unless ok.
func (a *archive) require(ok bool, format string, args ...any) {
	if !ok {
		a.fail(format, args...)
	}
}

// reads says that what was shown is to be changed.
func (a *archive) reads() bool { return !a.writing && a.err == nil }

// uint passes on eight bytes.
func (a *archive) uint(v *uint64) {
	switch {
	case a.writing:
		a.buf = binary.LittleEndian.AppendUint64(a.buf, *v)
	case a.err != nil:
	case len(a.buf) < 8:
		a.fail("its content ends early")
	default:
		*v = binary.LittleEndian.Uint64(a.buf)
		a.buf = a.buf[8:]
	}
}

// float passes on a finite number.
func (a *archive) float(v *float64) {
	bits := math.Float64bits(*v)
	a.uint(&bits)
	x := math.Float64frombits(bits)
	if a.require(a.writing || math.Abs(x) <= largest, "a number is %g", x); a.reads() {
		*v = x
	}
}

// floats passes on a list whose length both sides know.
func (a *archive) floats(v []float64) {
	for k := range v {
		a.float(&v[k])
	}
}

// magnitudes passes on numbers that are never negative.
func (a *archive) magnitudes(v ...*float64) {
	for _, p := range v {
		a.float(p)
		a.require(*p >= 0, "a magnitude is %g", *p)
	}
}

// bool passes on true or false.
func (a *archive) bool(v *bool) {
	var bit uint64
	if *v {
		bit = 1
	}
	a.uint(&bit)
	if a.require(bit <= 1, "a flag is %d", bit); a.reads() {
		*v = bit == 1
	}
}

// activity passes on a decision; none yet is undecided.
func (a *archive) activity(v *latent.Activity) {
	all := [...]latent.Activity{latent.Undecided, latent.Inactive, latent.Active}
	code := uint64(max(0, slices.Index(all[:], *v)))
	a.uint(&code)
	if a.require(code < uint64(len(all)), "a decision is %d", code); a.reads() {
		*v = all[code]
	}
}

// time passes on an instant; its zone and monotonic reading are not part of it.
func (a *archive) time(v *time.Time) {
	seconds, nanos := uint64(v.Unix()), uint64(v.Nanosecond())
	a.uint(&seconds)
	a.uint(&nanos)
	if a.require(nanos < 1e9, "a time has %d ns", nanos); a.reads() {
		*v = time.Unix(int64(seconds), int64(nanos)).UTC()
	}
}

// expect writes v, or fails unless it reads v.
func (a *archive) expect(what string, v uint64) {
	found := v
	a.uint(&found)
	if found != v && a.err == nil {
		a.err = fmt.Errorf("%w: its %s is %d, expected %d: restore under the model and configuration it was saved under", ErrCheckpoint, what, found, v)
	}
}

// same is expect for numbers with a fraction.
func (a *archive) same(what string, v float64) {
	found := v
	a.float(&found)
	if found != v && a.err == nil {
		a.err = fmt.Errorf("%w: its %s is %g, expected %g: restore under the model and configuration it was saved under", ErrCheckpoint, what, found, v)
	}
}
