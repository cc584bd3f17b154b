package rtsp

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bluenviron/gortsplib/v5/pkg/format"
	"github.com/bluenviron/gortsplib/v5/pkg/liberrors"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

// stream has the packets of units of one codec, and the units.
type stream struct {
	codec   Codec
	packets []*rtp.Packet
	of      []int // index of each packet's unit
	units   [][]byte
}

// nal returns a NAL unit of n bytes that begins with header.
func nal(n int, header ...byte) []byte {
	return append(header, bytes.Repeat([]byte{0xa5}, n)...)
}

// sent packs units of a codec with a library's packer. The first and the fourth unit are key frames. Each unit has several NAL units.
func sent(t *testing.T, codec Codec, marked bool) stream {
	t.Helper()
	s := stream{codec: codec}
	h264, err := (&format.H264{PayloadTyp: 96, PacketizationMode: 1}).CreateEncoder()
	if err != nil {
		t.Fatal(err)
	}
	h265, err := (&format.H265{PayloadTyp: 96}).CreateEncoder()
	if err != nil {
		t.Fatal(err)
	}
	h264.PayloadMaxSize, h265.PayloadMaxSize = 100, 100
	for i := range 6 {
		nals := [][]byte{nal(60, 1, 0x80), nal(250, 1, 0x20)} // two slices
		if i%3 == 0 {
			nals = [][]byte{nal(10, 7), nal(5, 8), nal(400, 5, 0x80)}
		}
		pack := h264.Encode
		if codec == H265 {
			nals, pack = [][]byte{nal(60, 1<<1, 1, 0x80), nal(250, 1<<1, 1, 0x20)}, h265.Encode
			if i%3 == 0 {
				nals = [][]byte{nal(10, 32<<1, 1), nal(10, 33<<1, 1), nal(5, 34<<1, 1), nal(400, 19<<1, 1, 0x80)}
			}
		}
		packets, err := pack(nals)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range packets {
			p.Timestamp = uint32(0xffffe000 + 3600*i)
			p.Marker = p.Marker && marked
			s.packets, s.of = append(s.packets, p), append(s.of, i)
		}
		s.units = append(s.units, annexB(nals...))
	}
	return s
}

// TestUnits: whichever packet is lost, exactly the whole units are returned, and the stamps of the missing ones are reported.
func TestUnits(t *testing.T) {
	for _, codec := range []Codec{H264, H265} {
		for _, marked := range []bool{true, false} {
			s := sent(t, codec, marked)
			units := len(s.units)
			if !marked {
				units-- // the end of the last unit is unknown
			}
			for lost := -1; lost < len(s.packets); lost++ {
				// The lost packet had only the first parameter sets, or would have shown that the previous unit is complete.
				if lost == 0 || lost > 0 && !marked && s.of[lost] != s.of[lost-1] {
					continue
				}
				a := newAssembly(codec, 90000)
				var got []Unit
				for i, p := range s.packets {
					if i == lost {
						continue
					}
					got = append(got, a.add(p, time.Now())...)
					if i%7 == 3 {
						got = append(got, a.add(p, time.Now())...) // the packet arrives twice
					}
				}
				n := 0
				for i := range units {
					if lost >= 0 && s.of[lost] == i {
						continue
					}
					// If no packet is marked and the last one of a unit is lost, the first packet of the next unit might be missing, too; the unit's beginning
					// shows that it is not.
					if n >= len(got) || !bytes.Equal(got[n].Data, s.units[i]) || got[n].Key != (i%3 == 0) {
						t.Fatalf("codec %d, marked %v, packet %d lost: unit %d of %d did not come", codec, marked, lost, i, len(s.units))
					}
					if want := time.Duration(i) * 40 * time.Millisecond; lost >= 0 && s.of[lost] == 0 {
						if got[n].Stamp > want {
							t.Fatalf("unit %d has the stamp %v", i, got[n].Stamp)
						}
					} else if got[n].Stamp != want {
						t.Fatalf("unit %d has the stamp %v, %v expected", i, got[n].Stamp, want)
					}
					gap := lost >= 0 && i == s.of[lost]+1
					if missing := slices.Contains(got[n].Lost, time.Duration(i-1)*40*time.Millisecond); got[n].Gap != gap && i > 1 || missing != gap && i > 1 {
						t.Fatalf("codec %d, marked %v, packet %d lost: before unit %d a gap %v, missing %v", codec, marked, lost, i, got[n].Gap, got[n].Lost)
					}
					n++
				}
				if n != len(got) {
					t.Fatalf("codec %d, packet %d lost: %d units, %d expected", codec, lost, len(got), n)
				}
			}
		}
	}
}

// TestUnitsAhead: parameter sets with their own time belong to the next unit.
func TestUnitsAhead(t *testing.T) {
	a := newAssembly(H264, 90000)
	packet := func(n uint16, stamp uint32, payload []byte) []Unit {
		return a.add(&rtp.Packet{Header: rtp.Header{SequenceNumber: n, Timestamp: stamp, Marker: true}, Payload: payload}, time.Now())
	}
	sps, slice := nal(10, 7), nal(100, 5, 0x80)
	if got := packet(1, 0, sps); len(got) != 0 {
		t.Errorf("parameter sets alone gave %d units", len(got))
	}
	got := packet(2, 3600, slice)
	if len(got) != 1 || !bytes.Equal(got[0].Data, annexB(sps, slice)) || got[0].Gap || !got[0].Key {
		t.Errorf("%d units: %+v", len(got), got)
	}
}

// TestStreamOver: packets after the camera's BYE, or from another source, do not belong to the stream. Earlier units are returned.
func TestStreamOver(t *testing.T) {
	packet := func(source uint32, n uint16) *rtp.Packet {
		return &rtp.Packet{Header: rtp.Header{SSRC: source, SequenceNumber: n, Marker: true}, Payload: nal(100, 5, 0x80)}
	}
	for name, end := range map[string]func(*Stream){
		"goodbye": func(s *Stream) { s.leave([]uint32{8, 7}) },
		"another": func(s *Stream) { s.packet(packet(9, 2)); s.packet(packet(9, 3)) },
	} {
		s := &Stream{assembly: newAssembly(H264, 90000), came: make(chan struct{}, 1), over: make(chan struct{})}
		s.leave([]uint32{0}) // before the first packet, from an unknown source
		s.packet(packet(7, 1))
		s.leave([]uint32{8})
		end(s)
		if _, err := s.Next(t.Context()); err != nil {
			t.Errorf("%s: %v before what came", name, err)
		}
		if _, err := s.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "ended its stream") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStreamSilent: the error about a silent camera depends on whether it has sent anything before.
func TestStreamSilent(t *testing.T) {
	s := &Stream{assembly: newAssembly(H264, 90000)}
	for _, begun := range []bool{false, true} {
		s.assembly.begun = begun
		for _, c := range []struct {
			err         error
			want, later string
		}{
			{liberrors.ErrClientUDPTimeout{}, "a firewall", "has sent nothing"}, {liberrors.ErrClientTCPTimeout{}, "has sent nothing", "has sent nothing"}, {io.EOF, "ended the connection", "ended the connection"},
		} {
			want := c.want
			if begun {
				want = c.later
			}
			if err := s.ending(c.err); !strings.Contains(err.Error(), want) {
				t.Errorf("%v, %q expected", err, want)
			}
		}
	}
}

// TestUnitsRefused: invalid packets spoil only their unit.
func TestUnitsRefused(t *testing.T) {
	for name, payload := range map[string][]byte{
		"empty":             {},
		"a header alone":    {5},
		"of no known type":  {30, 1, 2},
		"a part's end":      {28, 0x41, 1},
		"too long a length": {24, 0xff, 0xff, 1},
	} {
		a := newAssembly(H264, 90000)
		var got []Unit
		for i, p := range [][]byte{nal(9, 5, 0x80), payload, nal(9, 1, 0x80)} {
			got = append(got, a.add(&rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(i), Timestamp: uint32(i), Marker: true}, Payload: p}, time.Now())...)
		}
		if (&Stream{assembly: a}).Refused() == nil {
			t.Errorf("%s: no reason", name)
		}
		if len(got) != 2 || !got[1].Gap || len(got[1].Lost) != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	u := nalUnit{}
	for err := error(nil); err == nil; err = u.add(nal(8<<20, 1, 0x80)) {
		if len(u.data) > maxUnit {
			t.Fatalf("a unit of %d bytes", len(u.data))
		}
	}
}

func TestRecoveryPoint(t *testing.T) {
	for _, c := range []struct {
		sei     []byte
		point   bool
		refresh int
	}{
		{[]byte{6, 1, 0x84, 0x80}, true, 0}, {[]byte{5, 2, 1, 1, 6, 1, 0x84, 0x80}, true, 0}, {[]byte{6, 2, 0x13, 0x10, 0x80}, true, 8}, {[]byte{6, 1, 0x42}, true, 1},
		{[]byte{6, 3, 0, 0x1f, 0xff, 0xff}, true, 4094}, {[]byte{6, 3, 0, 0, 3, 9}, true, 4095}, {[]byte{6, 3, 0, 0x10, 0x00}, true, 2047},
		{[]byte{5, 2, 1, 1, 0x80}, false, 0}, {[]byte{0xff, 0xff, 0xff, 0xff}, false, 0}, {[]byte{5, 200, 1, 6}, false, 0}, {nil, false, 0}, {[]byte{6}, false, 0},
	} {
		if point, refresh := recoveryPoint(c.sei); point != c.point || refresh != c.refresh {
			t.Errorf("% x: %v, %v", c.sei, point, refresh)
		}
	}
}

// TestZero: a report gives the time, and reports of an unset clock are ignored.
func TestZero(t *testing.T) {
	wall := time.Date(2026, 3, 1, 12, 0, 0, 500_000_000, time.UTC)
	ntp := uint64(wall.Unix()-ntpEpoch)<<32 | 1<<31
	if got, ok := zero(&rtcp.SenderReport{NTPTime: ntp}, 45000, 90000); !ok || !got.Equal(wall.Add(-time.Second/2)) {
		t.Errorf("%v, %v", got, ok)
	}
	later := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	if got, ok := zero(&rtcp.SenderReport{NTPTime: uint64(later.Unix()-ntpEpoch-1<<32) << 32}, 0, 90000); !ok || !got.Equal(later) {
		t.Errorf("%v, %v", got, ok)
	}
	for _, ntp := range []uint64{0, 2208988800 << 32, (2208988800 + 86400) << 32} {
		if got, ok := zero(&rtcp.SenderReport{NTPTime: ntp}, 0, 90000); ok {
			t.Errorf("a clock that was never set tells %v", got)
		}
	}
}

// FuzzUnits: for any packets, units are bounded and nothing panics.
func FuzzUnits(f *testing.F) {
	f.Add(byte(1), []byte{5, 0x80, 1, 2, 3})
	f.Add(byte(2), []byte{49 << 1, 1, 0x93, 0x80, 4})
	f.Add(byte(1), []byte{24, 0, 2, 7, 1, 0, 2, 5, 0x80})
	f.Add(byte(3), []byte{0, 0, 0, 0, 1, 80, 20, 12, 0, 0, 0, 128})
	f.Fuzz(func(t *testing.T, codec byte, data []byte) {
		a := newAssembly(Codec(codec%3+1), 90000)
		for i := 0; len(data) > 0; i++ {
			n := min(len(data), 1+int(data[0])%50)
			p := &rtp.Packet{Header: rtp.Header{SequenceNumber: uint16(i) + uint16(data[0]>>6), Timestamp: uint32(i / 3), Marker: data[0]&0x20 != 0}, Payload: data[:n]}
			for _, u := range a.add(p, time.Time{}) {
				if len(u.Data) == 0 {
					t.Fatal("a unit without bytes")
				}
			}
			data = data[n:]
		}
	})
}
