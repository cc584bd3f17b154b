//go:build cgo

package ingest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"gocv.io/x/gocv"

	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/wire"
)

// BenchmarkCompression measures the bytes and the processor time of frames raw, as PNG and as Zstandard, on one core. Run it with -cpu 1 and DRIFTSCOPE_DATA.
// It also reports the size of the difference to the previous frame. Driftscope does not offer that encoding, because one lost frame would make all frames up to
// the next whole one unreadable.
func BenchmarkCompression(b *testing.B) {
	for _, film := range []string{
		"deeptrack-trap-good/trap-good.mp4", "mosaic-nuclei/Test_cell.tif", "mosaic-virus", "trackpy-bulk-water/*.png", "pims-stuck-16bit/stuck.tif",
		"sim:molecule", "sim:vesicle?realtime=false", "sim:vesicle?realtime=false&width=2048&height=2048&density=1600",
	} {
		pages := someFrames(b, film)
		for name, c := range map[string]codec{"png": &asPNG{}, "zstd": newZstd(b)} {
			b.Run(strings.NewReplacer("/", "-", "?", "-", "&", "-").Replace(film)+"/"+name, func(b *testing.B) { c.measure(b, pages) })
		}
		b.Run(strings.NewReplacer("/", "-", "?", "-", "&", "-").Replace(film)+"/frame-before", func(b *testing.B) { beside(b, pages) })
	}
}

// someFrames returns up to 16 frames of a film.
func someFrames(b *testing.B, film string) (pages []tiff.Image) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" && !strings.HasPrefix(film, "sim:") {
		b.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	if !strings.HasPrefix(film, "sim:") {
		film = filepath.Join(data, film)
	}
	kind, options, err := Guess(film)
	if err != nil {
		b.Fatal(err)
	}
	text, err := yaml.Marshal(options)
	if err != nil {
		b.Fatal(err)
	}
	source, err := New(kind, func(dst any) error { return yaml.Unmarshal(text, dst) })
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	if err := source.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	for len(pages) < 16 {
		f, err := source.Read(b.Context())
		if err != nil {
			break
		}
		var page tiff.Image
		if err := picture.ToPage(&page, f.Mat()); err != nil {
			b.Fatal(err)
		}
		f.Close()
		pages = append(pages, page)
	}
	if len(pages) < 2 {
		b.Fatalf("%s: %d frames", film, len(pages))
	}
	return pages
}

// codec compresses a page and decompresses it again.
type codec interface {
	measure(b *testing.B, pages []tiff.Image)
}

// spent returns the processor time of this process.
func spent(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// measured compresses and decompresses all pages once per iteration of the benchmark.
func measured(b *testing.B, pages []tiff.Image, encode func(p *tiff.Image) int, decode func()) {
	var bytes, frames int
	var encoding, decoding time.Duration
	for b.Loop() {
		for i := range pages {
			start := spent(b)
			bytes += encode(&pages[i])
			middle := spent(b)
			decode()
			encoding, decoding, frames = encoding+middle-start, decoding+spent(b)-middle, frames+1
		}
	}
	b.ReportMetric(float64(bytes)/float64(frames), "bytes/frame")
	b.ReportMetric(float64(bytes)/float64(frames)/float64(len(pages[0].Pix)), "of-raw")
	b.ReportMetric(encoding.Seconds()*1e3/float64(frames), "encode-ms")
	b.ReportMetric(decoding.Seconds()*1e3/float64(frames), "decode-ms")
}

type asPNG struct{ file []byte }

func (c *asPNG) measure(b *testing.B, pages []tiff.Image) {
	measured(b, pages, func(p *tiff.Image) int {
		mat, err := picture.ToMat(p)
		if err != nil {
			b.Fatal(err)
		}
		defer mat.Close()
		file, err := gocv.IMEncode(gocv.PNGFileExt, mat)
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		c.file = append(c.file[:0], file.GetBytes()...)
		return len(c.file)
	}, func() {
		mat, err := picture.Decode(c.file)
		if err != nil {
			b.Fatal(err)
		}
		mat.Close()
	})
}

type asZstd struct {
	packer   *wire.Packer
	unpacker wire.Unpacker
	frame    wire.Frame
}

func newZstd(b *testing.B) *asZstd {
	packer, err := wire.NewPacker()
	if err != nil {
		b.Fatal(err)
	}
	return &asZstd{packer: packer}
}

func (c *asZstd) measure(b *testing.B, pages []tiff.Image) {
	measured(b, pages, func(p *tiff.Image) int {
		c.frame.Header = wire.Header{Session: "s", Width: p.Width, Height: p.Height, Channels: p.Channels, Depth: p.Depth}
		var err error
		if c.frame.Bytes, err = c.packer.Pack(&c.frame.Header, p.Pix); err != nil {
			b.Fatal(err)
		}
		return len(c.frame.Bytes)
	}, func() {
		if _, err := c.unpacker.Unpack(&c.frame); err != nil {
			b.Fatal(err)
		}
	})
}

// beside reports the size of the difference to the previous frame, after the best filter.
func beside(b *testing.B, pages []tiff.Image) {
	packer := newZstd(b).packer
	var bytes, n int
	for b.Loop() {
		bytes, n = 0, 0
		for i := 1; i < len(pages); i++ {
			p := pages[i]
			difference := make([]byte, len(p.Pix))
			for k := 0; k < len(p.Pix); k += p.Depth.Bytes() {
				if p.Depth == tiff.Uint8 {
					d := int8(p.Pix[k] - pages[i-1].Pix[k])
					difference[k] = byte(d<<1) ^ byte(d>>7)
					continue
				}
				d := int16(binary.LittleEndian.Uint16(p.Pix[k:]) - binary.LittleEndian.Uint16(pages[i-1].Pix[k:]))
				binary.LittleEndian.PutUint16(difference[k:], uint16(d<<1)^uint16(d>>15))
			}
			h := wire.Header{Session: "s", Width: p.Width, Height: p.Height, Channels: p.Channels, Depth: p.Depth}
			packed, err := packer.Pack(&h, difference)
			if err != nil {
				b.Fatal(err)
			}
			bytes, n = bytes+len(packed), n+1
		}
	}
	b.ReportMetric(float64(bytes)/float64(n)/float64(len(pages[0].Pix)), "of-raw")
}
