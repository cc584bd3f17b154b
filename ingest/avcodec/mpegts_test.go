package avcodec_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"driftscope/ingest/avcodec"
)

// pes returns a PES with n bytes after its header, in transport packets of one PID. If says is true, it states its length.
func pes(pid uint16, n int, says bool) (all []byte) {
	data := append([]byte{0, 0, 1, 0xe0, 0, 0, 0x80, 0, 0}, bytes.Repeat([]byte{0x47}, n)...)
	if says {
		binary.BigEndian.PutUint16(data[4:], uint16(len(data)-6))
	}
	for begins := byte(0x40); len(data) > 0; begins = 0 {
		p := make([]byte, 4, avcodec.PacketSize)
		p[0], p[1], p[2], p[3] = 0x47, begins|byte(pid>>8), byte(pid), 0x10
		if fill := avcodec.PacketSize - 4 - len(data); fill > 0 {
			p[3] = 0x30
			p = append(p, byte(fill-1))
			if fill > 1 {
				p = append(p, 0)
				p = append(p, bytes.Repeat([]byte{0xff}, fill-2)...)
			}
		}
		take := avcodec.PacketSize - len(p)
		p = append(p, data[:take]...)
		data = data[take:]
		all = append(all, p...)
	}
	return all
}

// TestWriter: from a stream that is cut anywhere, all whole pictures are forwarded: at once when the next picture begins, and the last one at the end if it is
// known to be whole.
func TestWriter(t *testing.T) {
	const exact = 3*184 - 9 // fills its packets exactly, so without a stated length its end is unknown
	for name, c := range map[string]struct {
		sizes []int
		says  bool
	}{
		"stuffed":             {[]int{1000, 20, 184, 400}, false},
		"of known length":     {[]int{1000, exact, 20}, true},
		"filling its packets": {[]int{1000, exact}, false},
		"one byte short":      {[]int{1000, exact - 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sound := pes(300, 50, true)
			sound[7] = 0xc0 // its stream ID is not a picture's, and its header follows any stuffing
			table := append([]byte{0x47, 0x40, 0, 0x10}, make([]byte, 184)...)
			stream := append([]byte{}, table...)
			ends := []int{len(stream)} // offsets up to which all pictures are known to be whole
			for _, n := range c.sizes {
				stream = append(stream, pes(256, n, c.says)...)
				ends = append(ends, len(stream))
			}
			for cut := range len(stream) + 1 {
				if within := cut % avcodec.PacketSize; within > 1 && within%31 != 0 && cut < len(stream)-1 {
					continue
				}
				var out bytes.Buffer
				w := avcodec.NewTransportWriter(&out)
				for rest := stream[:cut]; len(rest) > 0; rest = rest[min(len(rest), 100):] {
					if _, err := w.Write(rest[:min(len(rest), 100)]); err != nil {
						t.Fatal(err)
					}
				}
				torn, err := w.End()
				if err != nil {
					t.Fatal(err)
				}
				want, at := 0, cut/avcodec.PacketSize*avcodec.PacketSize
				for i, end := range ends {
					shows := i == 0 || c.says || (c.sizes[i-1]+9)%184 != 0
					if end <= at && (shows || end < at) {
						want = end
					}
				}
				if out.Len() != want || !bytes.Equal(out.Bytes(), stream[:want]) {
					t.Fatalf("cut at %d: %d bytes passed on, %d expected", cut, out.Len(), want)
				}
				// If a file ends within a packet, this does not affect a picture whose end was known before.
				if end, err := avcodec.WholeTransport(bytes.NewReader(stream[:cut]), int64(cut)); err != nil || end != int64(want) && !(end == int64(cut) && want == at) {
					t.Fatalf("cut at %d: whole to %d, %v; %d expected", cut, end, err, want)
				}
				if wantTorn := want != cut; torn != wantTorn {
					t.Fatalf("cut at %d, %d whole: torn %v", cut, want, torn)
				}
			}
		})
	}
}

// TestWriterPasses: data that are not a transport stream, and packets between pictures, are forwarded.
func TestWriterPasses(t *testing.T) {
	sound := bytes.Replace(pes(300, 50, true), []byte{0, 0, 1, 0xe0}, []byte{0, 0, 1, 0xc0}, 1)
	for name, data := range map[string][]byte{
		"no stream":             bytes.Repeat([]byte("no transport stream "), 50),
		"sound alone":           bytes.Repeat(sound, 4),
		"sound between":         append(append(append(pes(256, 300, false), sound...), pes(256, 20, false)...), sound...),
		"garbage behind":        append(pes(256, 300, false), bytes.Repeat([]byte{1, 2, 3}, 200)...),
		"a field that is wrong": {0x47: 0},
	} {
		var out bytes.Buffer
		w := avcodec.NewTransportWriter(&out)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if _, err := w.End(); err != nil {
			t.Fatal(err)
		}
		if n := len(data) / avcodec.PacketSize * avcodec.PacketSize; out.Len() < n && name != "a field that is wrong" {
			t.Errorf("%s: %d bytes of %d", name, out.Len(), len(data))
		}
	}
	if avcodec.IsTransportStream([]byte{0x47}) || !avcodec.IsTransportStream(pes(256, 400, false)) {
		t.Error("what begins a transport stream is not told from what does not")
	}
}

// FuzzWriter: for any data, the forwarded bytes are a beginning of the data.
func FuzzWriter(f *testing.F) {
	f.Add(pes(256, 1000, false), 100)
	f.Add(append(pes(256, 100, true), pes(256, 500, false)...), 7)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		if step < 1 || step > 1000 || len(data) > 1<<16 {
			return
		}
		var out bytes.Buffer
		w := avcodec.NewTransportWriter(&out)
		for rest := data; len(rest) > 0; rest = rest[min(len(rest), step):] {
			if _, err := w.Write(rest[:min(len(rest), step)]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.End(); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, out.Bytes()) {
			t.Fatal("what is passed on is not what came")
		}
	})
}
