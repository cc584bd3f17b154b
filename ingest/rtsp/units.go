package rtsp

import (
	"errors"
	"time"

	"github.com/bluenviron/gortsplib/v5/pkg/format/rtpmjpeg"
	"github.com/pion/rtp"
)

// Codec is how a camera codes its pictures.
type Codec int

// The codecs that are received.
const (
	H264 Codec = iota + 1
	H265
	MJPEG
)

// Unit is a picture as the camera coded it, whole.
type Unit struct {
	Data    []byte          // its NAL units behind start codes, or a JPEG file
	Key     bool            // nothing before it is needed;
	Refresh int             // of a key: so many units after it are needed, for it refreshes a part of the picture, and they the others
	Gap     bool            // something is missing between the unit before and this one,
	Lost    []time.Duration // of which these stamps are known
	Stamp   time.Duration   // of the camera's clock, since its first packet; later units may have earlier ones
	Zero    time.Time       // of the camera's wall clock when its clock was at 0, by its last sender report; zero: none came
	Arrived time.Time       // of its last packet, here
}

// assembly makes units of packets, which it is given in the order in which they came.
type assembly struct {
	codec   Codec
	hertz   float64 // of the stamps
	nals    nalUnit
	jpeg    jpegUnit
	picture []byte // a JPEG that is complete
	ahead   []byte // parameter sets that came in packets of their own time

	begun bool   // a packet came
	next  uint16 // number of the next one
	stamp uint32 // of the last one, and
	ticks int64  // since the first

	open   bool // a unit's packets are coming
	torn   bool // and one is known to be missing
	unsure bool // or may be, at its beginning
	sets   bool // key units come with their parameter sets

	gap  bool
	lost []time.Duration

	refused error // why the last unit whose packets could not be read was not
}

// maxLost bounds the list of lost units: hours of them.
const maxLost = 1 << 20

func newAssembly(codec Codec, hertz int) *assembly {
	return &assembly{codec: codec, hertz: float64(hertz), nals: nalUnit{h265: codec == H265}}
}

// add takes a packet and returns the units that end with it: the one before, where nothing had said that it was complete, and its own.
func (a *assembly) add(p *rtp.Packet, arrived time.Time) (units []Unit) {
	missing := int16(p.SequenceNumber - a.next)
	switch {
	case !a.begun:
		a.begun, a.stamp, a.unsure = true, p.Timestamp, true
	case missing < 0: // it came twice, or too late
		return nil
	case missing > 0:
		a.gap, a.torn, a.unsure = true, a.open, true
	}
	a.next = p.SequenceNumber + 1
	if a.open && p.Timestamp != a.stamp {
		units = a.finish(units, arrived)
		a.unsure = a.unsure || missing > 0
	}
	a.ticks += int64(int32(p.Timestamp - a.stamp))
	a.stamp = p.Timestamp
	if !a.open {
		a.begin()
	}
	if err := a.payload(p); err != nil {
		a.torn, a.refused = true, err
	}
	if p.Marker {
		units = a.finish(units, arrived)
	}
	return units
}

func (a *assembly) begin() {
	a.open, a.torn, a.picture = true, false, nil
	a.nals.reset()
	a.jpeg.reset()
}

func (a *assembly) payload(p *rtp.Packet) (err error) {
	if a.torn {
		return nil
	}
	if a.codec != MJPEG {
		return a.nals.add(p.Payload)
	}
	a.picture, err = a.jpeg.add(p)
	if errors.Is(err, rtpmjpeg.ErrMorePacketsNeeded) {
		return nil
	}
	return err
}

// finish ends the unit whose packets came, and appends it where it is whole.
func (a *assembly) finish(units []Unit, arrived time.Time) []Unit {
	whole, alone := !a.torn && a.nals.begun == 0, false
	data, key := a.nals.data, a.nals.key
	if a.codec == MJPEG {
		data, key, whole = a.picture, true, !a.torn && a.picture != nil
	} else {
		alone = whole && !a.nals.pictures
		whole = whole && (!a.unsure || a.nals.begins && (a.nals.sets || !key || !a.sets))
		a.sets = a.sets || a.nals.sets && key
	}
	a.open, a.unsure = false, false
	switch {
	case alone: // parameter sets: of the next unit
		if len(a.ahead)+len(data) <= maxUnit {
			a.ahead = append(a.ahead, data...)
		}
		return units
	case !whole:
		a.lose(a.time())
		return units
	}
	if len(a.ahead) > 0 {
		data, a.ahead = append(a.ahead, data...), nil
	}
	units = append(units, Unit{
		Data: data, Key: key, Refresh: a.nals.refresh, Gap: a.gap, Lost: a.lost, Arrived: arrived, Stamp: a.time(),
	})
	a.gap, a.lost = false, nil
	return units
}

// time is the stamp of the unit whose packets come.
func (a *assembly) time() time.Duration {
	return time.Duration(float64(a.ticks) / a.hertz * float64(time.Second))
}

// lose notes units that are not given.
func (a *assembly) lose(stamps ...time.Duration) {
	a.gap = true
	if len(a.lost)+len(stamps) <= maxLost {
		a.lost = append(a.lost, stamps...)
	}
}
