package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/ingest/tiff"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// mostMemory is the largest resident memory of a run, for any pictures.
const mostMemory = 1 << 30

// driveMeasured is like drive and also returns the command's peak resident memory in bytes.
func driveMeasured(t *testing.T, folder string, args ...string) (o outcome, peak int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "peak")
	t.Setenv(peakFile, file)
	begun := time.Now()
	o = drive(t, folder, args...)
	text, err := os.ReadFile(file)
	if err == nil {
		peak, err = strconv.Atoi(string(text))
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, o.errors)
	}
	t.Logf("%s: %d MiB, %.1f s, %.1f s of work", strings.Join(args, " "), peak>>20, time.Since(begun).Seconds(), o.worked.Seconds())
	return o, peak
}

// blackPNG returns a valid PNG of a few hundred kB for any size, because every byte of a black picture is 0.
func blackPNG(width, height uint32, depth, colour byte, pixelBytes int) []byte {
	const run = 1 << 20
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	w.Write(make([]byte, run))
	w.Flush() // at a byte boundary, so that the output can be repeated
	zeros := int(height) * (1 + int(width)*pixelBytes)
	data := []byte{0x78, 0xda}
	for range zeros / run {
		data = append(data, packed.Bytes()...)
	}
	packed.Reset()
	w, _ = flate.NewWriter(&packed, flate.BestCompression)
	w.Write(make([]byte, zeros%run))
	w.Close()
	data = append(data, packed.Bytes()...)
	data = binary.BigEndian.AppendUint32(data, uint32(zeros%65521)<<16|1) // Adler-32 of zeros
	png := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, body []byte) {
		png = binary.BigEndian.AppendUint32(png, uint32(len(body)))
		png = append(append(png, kind...), body...)
		png = binary.BigEndian.AppendUint32(png, crc32.ChecksumIEEE(png[len(png)-len(body)-4:]))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(head, depth, colour, 0, 0, 0))
	chunk("IDAT", data)
	chunk("IEND", nil)
	return png
}

// hugeFITS writes a cube of one picture of doubles as a sparse file: only the header uses disk space.
func hugeFITS(t *testing.T, path string) {
	var header strings.Builder
	for _, card := range []string{"SIMPLE  = T", "BITPIX  = -64", "NAXIS   = 2", "NAXIS1  = 11500", "NAXIS2  = 11500", "END"} {
		header.WriteString(card + strings.Repeat(" ", 80-len(card)))
	}
	header.WriteString(strings.Repeat(" ", 2880-header.Len()))
	err := os.WriteFile(path, []byte(header.String()), 0o600)
	if err == nil {
		err = os.Truncate(path, 2880+11500*11500*8+2880)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLargePictures: a picture above the limit is refused by its header, in one line. The largest allowed pictures are tracked within the memory
// limit, including all copies.
func TestLargePictures(t *testing.T) {
	suite.Long(t)
	run := []string{"--model", "embedded:molecule", "--dt", "1", "--nats", "off", "--dashboard", "off", "--no-status"}
	t.Run("refused", func(t *testing.T) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "huge.png"), blackPNG(11500, 11500, 16, 2, 6), 0o600); err != nil {
			t.Fatal(err)
		}
		hugeFITS(t, filepath.Join(folder, "huge.fits"))
		for source, want := range map[string]string{".": "of 6 bytes", "*.png": "of 6 bytes", "huge.fits": "of 4 bytes"} {
			o, peak := driveMeasured(t, folder, append([]string{"run", source}, run...)...)
			if said := o.out + o.errors; strings.Count(said, "the picture has 11500x11500 pixels "+want) != 1 || strings.Contains(said, "goroutine ") {
				t.Errorf("%s: status %d, expected that the picture is too large, once:\n%s", source, o.status, said)
			}
			if peak > mostMemory/4 { // nothing was decoded
				t.Errorf("%s: %d MiB were resident, at most %d expected", source, peak>>20, mostMemory>>22)
			}
		}
	})
	for name, page := range map[string]tiff.Image{
		"8 bits":         {Width: 8192, Height: 8192, Channels: 1, Depth: tiff.Uint8},
		"16 bits":        {Width: 8192, Height: 4096, Channels: 1, Depth: tiff.Uint16},
		"RGB of 16 bits": {Width: 3344, Height: 3344, Channels: 3, Depth: tiff.Uint16},
		"RGB of floats":  {Width: 2364, Height: 2364, Channels: 3, Depth: tiff.Float32},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			largest(t, folder, page)
			o, peak := driveMeasured(t, folder, append([]string{"run", "film.tif"}, run...)...)
			if o.status != 0 || !strings.Contains(o.out, "frames in 4, tracked 4") {
				t.Errorf("status %d: %s%s", o.status, o.out, o.errors)
			}
			if peak > mostMemory {
				t.Errorf("%d MiB were resident, at most %d expected", peak>>20, mostMemory>>20)
			}
		})
	}
	t.Run("NATS", func(t *testing.T) { largestOverNATS(t, run) })
}

// TestHostileText: a megabyte of YAML, or a state that claims the largest size, is refused in a few lines, quickly and in bounded memory.
func TestHostileText(t *testing.T) {
	suite.Long(t)
	const mostLines = 13
	const effort = 15 * time.Second // processor time, three times the promised value, for slow machines; the keys once took 28 s
	folder := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var keys bytes.Buffer
	for i := range 80000 {
		fmt.Fprintf(&keys, "key%06d: 1\n", i)
	}
	write("keys.yaml", keys.Bytes())
	write("nested.yaml", []byte(strings.Repeat(strings.Repeat("- ", 500)+"a\n", 1000)))
	write("entries.yaml", []byte("sinks:\n"+strings.Repeat("  - a\n", 170000)))
	write("brackets.yaml", []byte("sinks: [\n"+strings.Repeat(strings.Repeat("[1],", 250)+"\n", 1000)))
	write("law", claiming("driftscope law\n", 5, 256<<20))
	write("largest", claiming("driftscope law\n", 5, 1<<27))
	training := filepath.Join(folder, "m.onnx.training")
	write("m.onnx.training", claiming("driftscope training\n", 3, 640<<20)[:1<<10])
	if err := os.Truncate(training, 640<<20); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a training":          {[]string{"pretrain", "sim:molecule", "--latent", "2", "--train-frames", "0:20", "--out", "m.onnx"}, "it is torn"},
		"80,000 unknown keys": {[]string{"lint", "keys.yaml"}, "80000 lines, but only the first 8192 were read"},
		"lists in lists":      {[]string{"lint", "nested.yaml"}, "a configuration has at most 65536"},
		"170,000 entries":     {[]string{"lint", "entries.yaml"}, "170001 lines"},
		"brackets":            {[]string{"lint", "brackets.yaml"}, "a configuration has at most 65536"},
		"a state of 256 MiB":  {[]string{"run", "sim:molecule", "--state", "law", "--nats", "off", "--dashboard", "off"}, "268435456 bytes announced"},
		"a state of 128 MiB":  {[]string{"run", "sim:molecule", "--state", "largest", "--nats", "off", "--dashboard", "off"}, "its digest does not match"},
	} {
		o, peak := driveMeasured(t, folder, c.args...)
		if n := strings.Count(o.errors, "\n"); o.status != 2 || !strings.Contains(o.errors, c.want) || n > mostLines {
			t.Errorf("%s: status %d, %d lines: %.2000s", name, o.status, n, o.errors)
		}
		if peak > mostMemory {
			t.Errorf("%s: %d MiB were resident, at most %d expected", name, peak>>20, mostMemory>>20)
		}
		if o.worked > effort {
			t.Errorf("%s: %v of work, at most %v expected", name, o.worked, effort)
		}
	}
}

// claiming returns a file with our header and a size, which is the file's true size, but without valid content.
func claiming(magic string, version uint32, size int) []byte {
	head := binary.LittleEndian.AppendUint32([]byte(magic), version)
	head = binary.LittleEndian.AppendUint64(head, uint64(size))
	return append(head, make([]byte, size+32)...)
}

// largestOverNATS publishes the largest allowed frames, faster than the run can track them, until the run ends.
func largestOverNATS(t *testing.T, run []string) {
	server := bustest.Start(t, "max_payload: 8MB")
	nc := dial(t, server.URL())
	h := wire.Header{Session: "a", Width: 8192, Height: 8192, Channels: 1, Depth: tiff.Uint8}
	pixels := make([]byte, h.Width*h.Height)
	for i := range pixels {
		pixels[i] = byte(i >> 8)
	}
	ended := make(chan struct{})
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for ; ; h.Seq++ {
			h.Time = time.Now()
			err := wire.Split(h, pixels, int(nc.MaxPayload()), func(headers map[string][]string, data []byte) error {
				return nc.PublishMsg(&nats.Msg{Subject: "cam", Header: headers, Data: data})
			})
			select {
			case <-ended:
				return
			case <-time.After(50 * time.Millisecond):
			}
			if err == nil {
				err = nc.Flush()
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	o, peak := driveMeasured(t, t.TempDir(), append([]string{"run", server.URL() + "/cam", "--frames", "20"}, slices.DeleteFunc(slices.Clone(run), func(s string) bool { return s == "--dt" || s == "1" })...)...)
	close(ended)
	publishing.Wait()
	if o.status != 0 || !strings.Contains(o.out, "frames in") {
		t.Errorf("status %d: %s%s", o.status, o.out, o.errors)
	}
	if peak > mostMemory {
		t.Errorf("%d MiB were resident, at most %d expected", peak>>20, mostMemory>>20)
	}
}

// largest writes film.tif with four pages of the format of page, filled with slopes.
func largest(t *testing.T, folder string, page tiff.Image) {
	t.Helper()
	page.Pix = make([]byte, page.Width*page.Height*page.Channels*page.Depth.Bytes())
	for i := range page.Pix {
		if page.Depth != tiff.Float32 {
			page.Pix[i] = byte(i >> 8)
		}
	}
	file, err := os.Create(filepath.Join(folder, "film.tif"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := tiff.NewWriter(file)
	for range 4 {
		if err == nil {
			err = w.Append(&page)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
