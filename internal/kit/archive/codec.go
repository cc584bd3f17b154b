package archive

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Largest is the largest magnitude of a number that Float accepts. The product of two such numbers does not overflow.
const Largest = 1e100

// Codec either appends values to its bytes or sets values from its bytes, in the order of the calls. A writing Codec changes no values, so other goroutines may
// read them meanwhile.
type Codec struct {
	writing  bool
	buf      []byte // bytes written so far, or still to be read
	err      error
	unusable error
}

// NewWriter returns a Codec that writes a part of a checkpoint, without an envelope. Its errors wrap unusable.
func NewWriter(unusable error) *Codec { return &Codec{writing: true, unusable: unusable} }

// NewReader returns a Codec that reads data, the bytes of another Codec. It keeps a reference to data. Its errors wrap unusable.
func NewReader(data []byte, unusable error) *Codec { return &Codec{buf: data, unusable: unusable} }

// Writing reports whether the Codec writes.
func (c *Codec) Writing() bool { return c.writing }

// Reading reports whether the Codec reads and has met no error.
func (c *Codec) Reading() bool { return !c.writing && c.err == nil }

// Err returns the first error.
func (c *Codec) Err() error { return c.err }

// Bytes returns the written bytes, or the unread ones. They are the Codec's own memory.
func (c *Codec) Bytes() []byte { return c.buf }

// End returns the first error, or an error about unread bytes.
func (c *Codec) End() error {
	c.Require(c.writing || len(c.buf) == 0, "%d bytes too many", len(c.buf))
	return c.err
}

// Fail records err, unless there was an earlier error. err may concern something other than damage.
func (c *Codec) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Require records an error about a damaged checkpoint unless ok is true.
func (c *Codec) Require(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf("%w: %s: it is damaged", c.unusable, fmt.Sprintf(format, args...))
	}
}

// take reads the next n bytes, or returns nil after an error.
func (c *Codec) take(n int) []byte {
	if c.Require(len(c.buf) >= n, "its content ends early"); c.err != nil {
		return nil
	}
	b := c.buf[:n:n]
	c.buf = c.buf[n:]
	return b
}

// Uint reads or writes an integer in eight bytes.
func (c *Codec) Uint(v *uint64) {
	if c.writing {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, *v)
	} else if b := c.take(8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

// Count reads or writes a number from 0 to limit.
func (c *Codec) Count(v *int, limit int) {
	n := uint64(*v)
	c.Uint(&n)
	if c.Require(n <= uint64(limit), "found %d, expected at most %d", n, limit); c.Reading() {
		*v = int(n)
	}
}

// Bool reads or writes a flag.
func (c *Codec) Bool(v *bool) {
	var bit uint64
	if *v {
		bit = 1
	}
	c.Uint(&bit)
	if c.Require(bit <= 1, "a flag is %d", bit); c.Reading() {
		*v = bit == 1
	}
}

// Bits reads or writes any 64-bit number bit for bit, including NaN and infinities.
func (c *Codec) Bits(v *float64) {
	bits := math.Float64bits(*v)
	if c.Uint(&bits); !c.writing {
		*v = math.Float64frombits(bits)
	}
}

// BitsList reads or writes any 64-bit numbers bit for bit.
func (c *Codec) BitsList(v []float64) {
	for i := range v {
		c.Bits(&v[i])
	}
}

// Singles reads or writes any 32-bit numbers bit for bit.
func (c *Codec) Singles(v []float32) {
	if c.writing {
		for _, x := range v {
			c.buf = binary.LittleEndian.AppendUint32(c.buf, math.Float32bits(x))
		}
	} else if b := c.take(4 * len(v)); b != nil {
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
}

// Float reads or writes a number; a number that is read must be within ±Largest.
func (c *Codec) Float(v *float64) {
	bits := math.Float64bits(*v)
	c.Uint(&bits)
	x := math.Float64frombits(bits)
	if c.Require(c.writing || math.Abs(x) <= Largest, "a number is %g", x); c.Reading() {
		*v = x
	}
}

// Floats reads or writes the numbers of v, each as Float does.
func (c *Codec) Floats(v []float64) {
	for i := range v {
		c.Float(&v[i])
	}
}

// Magnitudes reads or writes numbers like Float, and refuses negative ones.
func (c *Codec) Magnitudes(v ...*float64) {
	for _, p := range v {
		c.Float(p)
		c.Require(*p >= 0, "a magnitude is %g", *p)
	}
}

// Blob reads or writes at most limit bytes. A blob that was read shares the Codec's memory.
func (c *Codec) Blob(v *[]byte, limit int) {
	n := len(*v)
	if c.Count(&n, limit); c.writing {
		c.buf = append(c.buf, *v...)
	} else {
		*v = c.take(n)
	}
}

// Time reads or writes an instant, without its zone and monotonic reading.
func (c *Codec) Time(v *time.Time) {
	seconds, nanos := uint64(v.Unix()), uint64(v.Nanosecond())
	c.Uint(&seconds)
	c.Uint(&nanos)
	if c.Require(nanos < 1e9, "a time has %d ns", nanos); c.Reading() {
		*v = time.Unix(int64(seconds), int64(nanos)).UTC()
	}
}

// Random reads or writes the state of a random source.
func (c *Codec) Random(v *rand.PCG) {
	const size = 20
	state, err := v.MarshalBinary()
	c.Require(err == nil && len(state) == size, "random source: %v", err)
	if c.writing {
		c.buf = append(c.buf, state...)
	} else if state = c.take(size); state != nil {
		err = v.UnmarshalBinary(state)
		c.Require(err == nil, "random source: %v", err)
	}
}

// Expect writes v, or reads a number and fails unless it equals v. It serves for values that must agree between saved and restored state.
func (c *Codec) Expect(what string, v uint64) {
	found := v
	if c.Uint(&found); found != v {
		c.Fail(fmt.Errorf("%w: its %s is %d, expected %d", c.unusable, what, found, v))
	}
}

// ExpectFloat is Expect for floating-point numbers.
func (c *Codec) ExpectFloat(what string, v float64) {
	found := v
	if c.Float(&found); found != v {
		c.Fail(fmt.Errorf("%w: its %s is %g, expected %g", c.unusable, what, found, v))
	}
}
