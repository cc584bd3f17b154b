package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
)

// ndEntry writes one entry of an index.
func ndEntry(axes, name string, numbers ...uint32) (b []byte) {
	le := binary.LittleEndian
	for _, s := range []string{axes, name} {
		b = append(le.AppendUint32(b, uint32(len(s))), s...)
	}
	for _, n := range numbers {
		b = le.AppendUint32(b, n)
	}
	return b
}

func TestIndex(t *testing.T) {
	file := ndEntry(`{"channel":"DAPI","z":3,"time":0}`, "a_NDTiffStack.tif", 508, 2, 3, 4, 0, 520, 9, 0)
	first := len(file)
	file = append(file, ndEntry(`{"channel":"DAPI","z":3,"time":1}`, "a_NDTiffStack_1.tif", 8, 2, 3, 2, 0, 26, 9, 0)...)
	whole := len(file)
	file = append(file, make([]byte, 100)...)
	want := []NDEntry{
		{Axes: map[string]string{"channel": "DAPI", "z": "3", "time": "0"}, File: "a_NDTiffStack.tif", Width: 2, Height: 3, offset: 508, metadata: 520, metadataBytes: 9, kind: twelveBits},
		{Axes: map[string]string{"channel": "DAPI", "z": "3", "time": "1"}, File: "a_NDTiffStack_1.tif", Width: 2, Height: 3, offset: 8, metadata: 26, metadataBytes: 9, kind: ndRGB},
	}
	// For any length of the index, entries are whole or missing. If zeros follow, an entry may lack only zeros.
	for n := range whole + 1 {
		for _, size := range []int{n, len(file)} {
			there := make([]byte, size)
			copy(there, file[:n])
			index := NewNDIndex(bytes.NewReader(there))
			var got []NDEntry
			e, err := index.Next()
			for ; err == nil; e, err = index.Next() {
				got = append(got, e)
			}
			complete := 0
			if n >= first {
				complete++
			}
			if n == whole {
				complete++
			}
			if size == n && len(got) != complete || len(got) < complete || !reflect.DeepEqual(got, want[:len(got)]) && len(got) > 0 {
				t.Errorf("with %d bytes of %d: %+v, %d entries expected", n, size, got, complete)
			}
			if err != io.EOF && !errors.Is(err, ErrTornFolder) {
				t.Errorf("with %d bytes of %d: %v, the end or a tear expected", n, size, err)
			}
		}
	}
}

func TestIndexRefused(t *testing.T) {
	good := []uint32{508, 2, 3, 1, 0, 520, 9, 0}
	with := func(i int, v uint32) []uint32 {
		numbers := append([]uint32(nil), good...)
		numbers[i] = v
		return numbers
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"axes too long":  {binary.LittleEndian.AppendUint32(nil, 1<<30), "axes: 1073741824 bytes, at most"},
		"axes no JSON":   {ndEntry(`channel=3`, "a.tif", good...), "a JSON object"},
		"axes nested":    {ndEntry(`{"channel":[1]}`, "a.tif", good...), "a number or text expected"},
		"many axes":      {ndEntry(`{`+strings.Repeat(`"a":1,"b":2,`, 1)+ndAxes(40)+`}`, "a.tif", good...), "a JSON object of at most 32"},
		"name too long":  {ndEntry(`{}`, strings.Repeat("a", 2000), good...), "name: 2000 bytes"},
		"other folder":   {ndEntry(`{}`, "../a.tif", good...), "a file beside the index expected"},
		"absolute":       {ndEntry(`{}`, "/etc/passwd", good...), "a file beside the index expected"},
		"pixel type":     {ndEntry(`{}`, "a.tif", with(3, 7)...), "the pixel type is 7, 0 to 6 expected"},
		"compressed":     {ndEntry(`{}`, "a.tif", with(4, 1)...), "the compression is 1, none (0) expected"},
		"huge":           {ndEntry(`{}`, "a.tif", with(1, math.MaxUint32)...), "4294967295x3 pixels"},
		"huge metadata":  {ndEntry(`{}`, "a.tif", with(6, math.MaxUint32)...), "metadata have 4294967295 bytes"},
		"no size":        {ndEntry(`{}`, "a.tif", with(2, 0)...), "torn"},
		"name with zero": {ndEntry(`{}`, "a\x00.tif", good...), "torn"},
	} {
		_, err := NewNDIndex(bytes.NewReader(c.file)).Next()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "entry 1 at byte 0: ") || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v, one line with %q expected", name, err, c.want)
		}
	}
}

// ndAxes returns n axes as JSON, without the braces.
func ndAxes(n int) string {
	var names []string
	for i := range n {
		names = append(names, `"x`+strings.Repeat("y", i)+`":0`)
	}
	return strings.Join(names, ",")
}

func TestImage(t *testing.T) {
	file := []byte("--\x01\x02\x03\x04\x05\x06{\"ElapsedTime-ms\": 12.5}\x00")
	for _, c := range []struct {
		entry NDEntry
		want  Image
		err   string
	}{
		{NDEntry{Width: 3, Height: 1, offset: 2, kind: elevenBits}, Image{Width: 3, Height: 1, Channels: 1, Depth: Uint16, Pix: []byte{1, 2, 3, 4, 5, 6}}, ""},
		{NDEntry{Width: 2, Height: 2, offset: 2, kind: eightBits}, Image{Width: 2, Height: 2, Channels: 1, Depth: Uint8, Pix: []byte{1, 2, 3, 4}}, ""},
		{NDEntry{Width: 2, Height: 1, offset: 2, kind: ndRGB}, Image{Width: 2, Height: 1, Channels: 3, Depth: Uint8, Pix: []byte{1, 2, 3, 4, 5, 6}}, ""},
		{NDEntry{File: "a.tif", Width: 1 << 13, Height: 1 << 13, offset: 2, kind: sixteenBits}, Image{}, "134217728 bytes of pixels at byte 2 of a.tif lie beyond the end of the file"},
	} {
		var img Image
		err := c.entry.Image(&img, bytes.NewReader(file))
		if c.err != "" {
			if !errors.Is(err, ErrTornFolder) || !strings.Contains(err.Error(), c.err) || cap(img.Pix) > 0 {
				t.Errorf("%v with %d bytes taken, %q expected and none", err, cap(img.Pix), c.err)
			}
		} else if err != nil || !reflect.DeepEqual(img, c.want) {
			t.Errorf("%+v, %v; %+v expected", img, err, c.want)
		}
	}
	e := NDEntry{File: "a.tif", metadata: 8, metadataBytes: len(file) - 8}
	if times, err := e.Times(bytes.NewReader(file)); err != nil || times.Elapsed != 0.0125 || !math.IsNaN(times.Received) {
		t.Errorf("%+v, %v; 12.5 ms expected", times, err)
	}
	e.metadataBytes -= 4
	if _, err := e.Times(bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), "metadata at byte 8 of a.tif") {
		t.Errorf("%v, the place of the metadata expected", err)
	}
}

// FuzzIndex: for any bytes, entries are within their bounds, their images and times give values or an error, and the index ends.
func FuzzIndex(f *testing.F) {
	f.Add(ndEntry(`{"channel":"DAPI","z":3,"time":0}`, "a.tif", 5, 2, 3, 1, 0, 20, 9, 0))
	f.Add(append(ndEntry(`{"time":0}`, "a.tif", 0, 1, 1, 0, 0, 1, 2, 0), ndEntry(`{"time":"x"}`, "b.tif", 0, 1, 1, 2, 0, 1, 2, 0)...))
	f.Add(append(ndEntry(`{}`, "a.tif", 1<<31, 1<<13, 1<<13, 6, 0, 1<<31, 1<<24, 0), make([]byte, 64)...))
	f.Fuzz(func(t *testing.T, file []byte) {
		index := NewNDIndex(bytes.NewReader(file))
		var img Image
		for n := 0; ; n++ {
			e, err := index.Next()
			if err != nil {
				return
			}
			if n > len(file)/48 {
				t.Fatalf("%d entries in %d bytes", n, len(file))
			}
			if e.Width < 1 || e.Height < 1 || e.Width*e.Height*e.kind.bytes() > MaxBytes || len(e.Axes) > maxAxes || len(e.File) > maxNameBytes {
				t.Fatalf("entry %d is %+v", n, e)
			}
			if err := e.Image(&img, bytes.NewReader(file)); err == nil && len(img.Pix) != e.Width*e.Height*img.Channels*img.Depth.Bytes() {
				t.Fatalf("%d bytes of pixels for %+v", len(img.Pix), e)
			}
			if _, err := e.Times(bytes.NewReader(file)); err == nil && cap(img.Pix) > len(file) {
				t.Fatalf("%d bytes taken for a file of %d", cap(img.Pix), len(file))
			}
		}
	})
}
