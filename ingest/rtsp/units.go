package rtsp

import (
	"errors"
	"time"

	"github.com/bluenviron/gortsplib/v5/pkg/format/rtpmjpeg"
	"github.com/pion/rtp"
)

// Codec is the coding of a camera's pictures.
type Codec int

// The supported codecs.
const (
	H264 Codec = iota + 1
	H265
	MJPEG
)

// Unit is a whole coded picture.
type Unit struct {
	Data    []byte          // NAL units with start codes, or a JPEG file
	Key     bool            // decoding can begin here
	Refresh int             // for a key unit: number of further units until an intra refresh is complete
	Gap     bool            // units are missing before this one
	Lost    []time.Duration // stamps of the missing units, as far as known
	Stamp   time.Duration   // camera clock since its first packet; later units may have earlier stamps
	Zero    time.Time       // camera wall time at stamp 0, from the last sender report; zero before the first
	Arrived time.Time       // arrival of its last packet
}

// assembly builds units from packets in their order of arrival.
type assembly struct {
	codec   Codec
	hertz   float64 // clock rate of the stamps
	nals    nalUnit
	jpeg    jpegUnit
	picture []byte // a complete JPEG
	ahead   []byte // parameter sets that arrived with their own stamp, for the next unit

	begun bool   // a packet arrived
	next  uint16 // next packet number
	stamp uint32 // stamp of the last packet
	ticks int64  // ticks from the first packet to the last

	open   bool // a unit is under construction
	torn   bool // a packet of the unit is missing
	unsure bool // a packet at the unit's beginning may be missing
	sets   bool // key units contain parameter sets

	gap  bool
	lost []time.Duration

	refused error // reason for rejecting the last unreadable unit
}

// maxLost bounds the list of lost units, which then covers hours.
const maxLost = 1 << 20

func newAssembly(codec Codec, hertz int) *assembly {
	return &assembly{codec: codec, hertz: float64(hertz), nals: nalUnit{h265: codec == H265}}
}

// add takes a packet and returns the units that it completes: the previous unit, if still open, and the packet's own unit.
func (a *assembly) add(p *rtp.Packet, arrived time.Time) (units []Unit) {
	missing := int16(p.SequenceNumber - a.next)
	switch {
	case !a.begun:
		a.begun, a.stamp, a.unsure = true, p.Timestamp, true
	case missing < 0: // repeated or too late
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

// finish ends the unit under construction, and appends it to units if it is whole.
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
	case alone: // these are only parameter sets, for the next unit
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

// time returns the stamp of the unit under construction.
func (a *assembly) time() time.Duration {
	return time.Duration(float64(a.ticks) / a.hertz * float64(time.Second))
}

// lose records dropped units.
func (a *assembly) lose(stamps ...time.Duration) {
	a.gap = true
	if len(a.lost)+len(stamps) <= maxLost {
		a.lost = append(a.lost, stamps...)
	}
}
