package sdevae

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// archive writes values to buf, or reads them off it, in the order in which it is shown them: one list of fields serves both
// ways. The lengths of lists are known to both sides. It keeps the first error, after which it changes nothing.
type archive struct {
	writing bool
	buf     []byte // written so far, or left to read
	err     error
}

// require fails unless ok.
func (a *archive) require(ok bool, format string, args ...any) {
	if !ok && a.err == nil {
		a.err = fmt.Errorf("%w: it is damaged: %s", ErrCheckpoint, fmt.Sprintf(format, args...))
	}
}

// take reads the next n bytes, nil after an error.
func (a *archive) take(n int) []byte {
	if a.require(len(a.buf) >= n, "its content ends early"); a.err != nil {
		return nil
	}
	b := a.buf[:n:n]
	a.buf = a.buf[n:]
	return b
}

// uint passes on eight bytes.
func (a *archive) uint(v *uint64) {
	if a.writing {
		a.buf = binary.LittleEndian.AppendUint64(a.buf, *v)
	} else if b := a.take(8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

// count passes on a number from 0 to limit.
func (a *archive) count(v *int, limit int) {
	n := uint64(*v)
	a.uint(&n)
	if a.require(n <= uint64(limit), "found %d, expected at most %d", n, limit); a.err == nil {
		*v = int(n)
	}
}

// flag passes on true or false.
func (a *archive) flag(v *bool) {
	bit := 0
	if *v {
		bit = 1
	}
	a.count(&bit, 1)
	*v = bit == 1
}

// float passes on a number bit for bit.
func (a *archive) float(v *float64) {
	bits := math.Float64bits(*v)
	a.uint(&bits)
	*v = math.Float64frombits(bits)
}

// doubles and floats pass on lists bit for bit.
func (a *archive) doubles(v []float64) {
	for i := range v {
		a.float(&v[i])
	}
}

func (a *archive) floats(v []float32) {
	if a.writing {
		for _, x := range v {
			a.buf = binary.LittleEndian.AppendUint32(a.buf, math.Float32bits(x))
		}
	} else if b := a.take(4 * len(v)); b != nil {
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
}

// bytes passes on at most limit bytes.
func (a *archive) bytes(v *[]byte, limit int) {
	n := len(*v)
	if a.count(&n, limit); a.writing {
		a.buf = append(a.buf, *v...)
	} else {
		*v = a.take(n)
	}
}

// random passes on the state of a random source.
func (a *archive) random(v *rand.PCG) {
	const size = 20
	state, err := v.MarshalBinary()
	a.require(err == nil && len(state) == size, "random source: %v", err)
	if a.writing {
		a.buf = append(a.buf, state...)
	} else if state = a.take(size); state != nil {
		err = v.UnmarshalBinary(state)
		a.require(err == nil, "random source: %v", err)
	}
}
