package archive

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

var errUnusable = errors.New("unusable")

var format = Format{Magic: "some kind\n", Version: 7, Limit: 1 << 20, Unusable: errUnusable}

// state has a field of every kind.
type state struct {
	count   uint64
	size    int
	on      bool
	any     float64
	list    []float64
	single  []float32
	finite  float64
	sums    [2]float64
	blob    []byte
	when    time.Time
	source  *rand.PCG
	version uint64
	share   float64
}

func (s *state) archive(c *Codec) {
	c.Uint(&s.count)
	c.Count(&s.size, 9)
	c.Bool(&s.on)
	c.Bits(&s.any)
	c.BitsList(s.list)
	c.Singles(s.single)
	c.Float(&s.finite)
	c.Magnitudes(&s.sums[0], &s.sums[1])
	c.Blob(&s.blob, 16)
	c.Time(&s.when)
	c.Random(s.source)
	c.Expect("version", s.version)
	c.ExpectFloat("share", s.share)
}

func filled() *state {
	return &state{count: 1 << 60, size: 9, on: true, any: math.Inf(-1), list: []float64{1, math.Copysign(0, -1)}, single: []float32{0.1, -3},
		finite: -1e100, sums: [2]float64{0, 5}, blob: []byte("bytes"), when: time.Unix(5, 7).UTC(), source: rand.NewPCG(1, 2), version: 3, share: 0.5}
}

func empty() *state {
	return &state{list: make([]float64, 2), single: make([]float32, 2), source: rand.NewPCG(0, 0), version: 3, share: 0.5}
}

func sealed(t *testing.T) []byte {
	t.Helper()
	c := format.Writer()
	filled().archive(c)
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	return format.Seal(c)
}

func TestFieldsComeBack(t *testing.T) {
	data := sealed(t)
	for name, open := range map[string]func() (*Codec, error){
		"opened": func() (*Codec, error) { return format.Open(data) },
		"read":   func() (*Codec, error) { return format.Read(bytes.NewReader(data)) },
		"slowly": func() (*Codec, error) { return format.Read(iotest.OneByteReader(bytes.NewReader(data))) },
	} {
		c, err := open()
		if err != nil {
			t.Fatal(name, err)
		}
		got := empty()
		got.archive(c)
		if err := c.End(); err != nil || !reflect.DeepEqual(got, filled()) {
			t.Errorf("%s: %v, found %+v, expected %+v", name, err, got, filled())
		}
	}
}

// For any truncated or changed checkpoint, the error wraps the format's error, and unread fields remain unchanged.
func TestDamageIsRefused(t *testing.T) {
	data := sealed(t)
	for at := range data {
		b := bytes.Clone(data)
		b[at] ^= 1
		if _, err := format.Open(b); !errors.Is(err, errUnusable) {
			t.Errorf("byte %d changed: %v", at, err)
		}
		if _, err := format.Read(bytes.NewReader(data[:at])); !errors.Is(err, errUnusable) {
			t.Errorf("cut at byte %d: %v", at, err)
		}
		if _, err := format.Open(data[:at]); !errors.Is(err, errUnusable) {
			t.Errorf("opened, cut at byte %d: %v", at, err)
		}
	}
	payload := data[format.HeaderSize() : len(data)-32]
	for n := range payload {
		c := NewReader(payload[:n:n], errUnusable)
		if empty().archive(c); !errors.Is(c.End(), errUnusable) {
			t.Errorf("%d bytes of %d: %v", n, len(payload), c.End())
		}
	}
	c, v := NewReader([]byte{2, 0, 0, 0, 0, 0, 0, 0}, errUnusable), true
	if c.Bool(&v); c.Err() == nil || !v {
		t.Errorf("a flag of 2: %v, %v", v, c.Err())
	}
	c = NewReader(append(bytes.Clone(payload), 0), errUnusable)
	if empty().archive(c); c.End() == nil || !strings.Contains(c.End().Error(), "too many") {
		t.Errorf("a byte too many: %v", c.End())
	}
}

// The error about a checkpoint with other settings names the setting.
func TestOtherSettings(t *testing.T) {
	for name, other := range map[string]*state{"version": {version: 4, share: 0.5}, "share": {version: 3, share: 1}} {
		c, err := format.Open(sealed(t))
		if err != nil {
			t.Fatal(err)
		}
		other.list, other.single, other.source = make([]float64, 2), make([]float32, 2), rand.NewPCG(0, 0)
		if other.archive(c); !errors.Is(c.Err(), errUnusable) || !strings.Contains(c.Err().Error(), "its "+name+" is") {
			t.Errorf("another %s: %v", name, c.Err())
		}
	}
}
