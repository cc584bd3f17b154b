package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// at reads sample c of pixel (x, y).
func (img *Image) at(x, y, c int) float64 {
	size := img.Depth.Bytes()
	b := img.Pix[((y*img.Width+x)*img.Channels+c)*size:]
	switch img.Depth {
	case Uint8:
		return float64(b[0])
	case Uint16:
		return float64(binary.LittleEndian.Uint16(b))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

// expect checks the shape of a page and compares every sample. Values are small whole numbers, so they must agree exactly.
func expect(t *testing.T, img *Image, shape Image, want func(x, y, c int) float64) {
	t.Helper()
	if img.Width != shape.Width || img.Height != shape.Height || img.Channels != shape.Channels || img.Depth != shape.Depth {
		t.Fatalf("a page of %dx%d, %d channels, depth %d; %dx%d, %d, %d expected",
			img.Width, img.Height, img.Channels, img.Depth, shape.Width, shape.Height, shape.Channels, shape.Depth)
	}
	for y := range shape.Height {
		for x := range shape.Width {
			for c := range shape.Channels {
				if got := img.at(x, y, c); got != want(x, y, c) {
					t.Fatalf("pixel (%d, %d) channel %d is %v, %v expected", x, y, c, got, want(x, y, c))
				}
			}
		}
	}
}

func open(t *testing.T, file []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func masked(bits int) func(x, y, c int) float64 {
	return func(x, y, c int) float64 { return float64(int(ramp(x, y, c)) & (1<<bits - 1)) }
}

func negative(x, y, c int) float64 { return ramp(x, y, c) - 100 }

func TestPages(t *testing.T) {
	suite.Calculation(t)
	colours := make([]uint64, 3*16)
	for i := range colours {
		colours[i] = uint64(i*5) << 8
	}
	for _, c := range []struct {
		name  string
		page  recipe
		depth Depth
		want  func(x, y, c int) float64
	}{
		{"grey 8", recipe{samples: 1, bits: 8, value: masked(8)}, Uint8, masked(8)},
		{"grey 16", recipe{samples: 1, bits: 16, value: ramp}, Uint16, ramp},
		{"grey and alpha", recipe{samples: 2, bits: 16, value: ramp}, Uint16, ramp},
		{"RGB 8", recipe{samples: 3, bits: 8, photometric: rgb, value: masked(8)}, Uint8, masked(8)},
		{"RGB 16", recipe{samples: 3, bits: 16, photometric: rgb, value: ramp}, Uint16, ramp},
		{"RGBA 8", recipe{samples: 4, bits: 8, photometric: rgb, value: masked(8)}, Uint8, masked(8)},
		{"unsigned 32", recipe{samples: 1, bits: 32, value: ramp}, Float32, ramp},
		{"signed 8", recipe{samples: 1, bits: 8, format: formatInt, value: func(x, y, _ int) float64 { return float64(x - 2*y) }}, Float32, func(x, y, _ int) float64 { return float64(x - 2*y) }},
		{"signed 16", recipe{samples: 1, bits: 16, format: formatInt, value: negative}, Float32, negative},
		{"signed 32", recipe{samples: 3, bits: 32, format: formatInt, photometric: rgb, value: negative}, Float32, negative},
		{"float 32", recipe{samples: 1, bits: 32, format: formatFloat, value: negative}, Float32, negative},
		{"float 64", recipe{samples: 1, bits: 64, format: formatFloat, value: negative}, Float32, negative},
		{"one bit", recipe{samples: 1, bits: 1, value: masked(1)}, Uint8, func(x, y, c int) float64 { return 255 * masked(1)(x, y, c) }},
		{"one bit, white is zero", recipe{samples: 1, bits: 1, photometric: whiteIsZero, value: masked(1)}, Uint8, func(x, y, c int) float64 { return 255 - 255*masked(1)(x, y, c) }},
		{"4 bits", recipe{samples: 1, bits: 4, value: masked(4)}, Uint8, masked(4)},
		{"12 bits", recipe{samples: 1, bits: 12, value: ramp}, Uint16, ramp},
		{"12 bits, white is zero", recipe{samples: 1, bits: 12, photometric: whiteIsZero, value: ramp}, Uint16, func(x, y, c int) float64 { return 4095 - ramp(x, y, c) }},
		{"16 bits, white is zero", recipe{samples: 1, bits: 16, photometric: whiteIsZero, value: ramp}, Uint16, func(x, y, c int) float64 { return 65535 - ramp(x, y, c) }},
		{"palette", recipe{samples: 1, bits: 4, photometric: palette, colours: colours, value: masked(4)}, Uint8, func(x, y, c int) float64 { return 5 * (16*float64(c) + masked(4)(x, y, 0)) }},
	} {
		for _, coding := range []struct {
			name                   string
			compression, predictor uint64
		}{{"none", uncompressed, 1}, {"LZW", lzwCoded, 1}, {"Deflate", deflated, 1}, {"old Deflate", deflatedOld, 2}, {"PackBits", packBits, 1}, {"LZW", lzwCoded, 2}, {"Deflate", deflated, 3}} {
			for _, layout := range []struct {
				name       string
				rows, tile int
				separate   bool
			}{{"one strip", 0, 0, false}, {"strips", 3, 0, false}, {"tiles", 0, 16, false}, {"planes", 3, 0, true}, {"planes of tiles", 0, 16, true}} {
				page := c.page
				page.width, page.height = 21, 17
				page.compression, page.predictor = coding.compression, coding.predictor
				page.rows, page.tile, page.separate = layout.rows, layout.tile, layout.separate
				if page.format == 0 {
					page.format = formatUint
				}
				if page.photometric == 0 && !strings.Contains(c.name, "white") {
					page.photometric = blackIsZero
				}
				if page.predictor == 2 && page.bits != 8 && page.bits != 16 && page.bits != 32 || page.predictor == 3 && page.format != formatFloat {
					continue
				}
				channels := 1
				if page.samples >= 3 || page.photometric == palette {
					channels = 3
				}
				t.Run(fmt.Sprintf("%s/%s predictor %d/%s", c.name, coding.name, coding.predictor, layout.name), func(t *testing.T) {
					for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
						for _, big := range []bool{false, true} {
							f := open(t, build(t, order, big, page))
							var img Image
							if err := f.Next(&img); err != nil {
								t.Fatalf("%v, BigTIFF %v: %v", order, big, err)
							}
							expect(t, &img, Image{Width: 21, Height: 17, Channels: channels, Depth: c.depth}, c.want)
							if err := f.Next(&img); err != io.EOF {
								t.Fatalf("after the last page: %v, io.EOF expected", err)
							}
						}
					}
				})
			}
		}
	}
}

// grey16 describes a small 16-bit page whose values depend on number.
func grey16(number int) recipe {
	return recipe{width: 8, height: 6, samples: 1, bits: 16, format: formatUint, photometric: blackIsZero, compression: uncompressed,
		value: func(x, y, c int) float64 { return ramp(x, y, c) + 1000*float64(number) }}
}

func TestManyPages(t *testing.T) {
	f := open(t, build(t, binary.BigEndian, false, grey16(0), grey16(1), grey16(2)))
	if f.Pages() != 3 {
		t.Fatalf("%d pages, 3 expected", f.Pages())
	}
	var img Image
	for i := range 3 {
		if err := f.Next(&img); err != nil {
			t.Fatal(err)
		}
		expect(t, &img, Image{Width: 8, Height: 6, Channels: 1, Depth: Uint16}, grey16(i).value)
	}
	if err := f.Next(&img); err != io.EOF {
		t.Fatalf("%v, io.EOF expected", err)
	}
}

// TestTorn cuts a file of three pages at every byte. The whole pages are returned, then one error about the tear, then the end.
func TestTorn(t *testing.T) {
	whole := build(t, binary.LittleEndian, false, grey16(0), grey16(1), grey16(2))
	for cut := range len(whole) {
		file := whole[:cut]
		f, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			continue // TestRefused tests these errors
		}
		var img Image
		pages, tears := 0, 0
		for {
			err := f.Next(&img)
			if err == io.EOF {
				break
			}
			var page *PageError
			switch {
			case err == nil:
				expect(t, &img, Image{Width: 8, Height: 6, Channels: 1, Depth: Uint16}, grey16(pages).value)
				pages++
			case errors.As(err, &page) && errors.Is(err, ErrTorn) && page.Page == pages+1:
				tears++
			default:
				t.Fatalf("cut at %d: %v, a torn page %d expected", cut, err, pages+1)
			}
		}
		if tears != 1 || pages > 2 {
			t.Fatalf("cut at %d: %d pages and %d tears, at most 2 and exactly 1 expected", cut, pages, tears)
		}
	}
}

func TestImageJStack(t *testing.T) {
	const pages, size = 5, 8 * 6 * 2
	first := grey16(0)
	first.description = "ImageJ=1.53t\nimages=5\nslices=5\n"
	file := build(t, binary.LittleEndian, false, first)
	strip := bytes.Index(file, []byte{tagStripOffsets & 0xff, tagStripOffsets >> 8, 4, 0, 1, 0, 0, 0})
	binary.LittleEndian.PutUint32(file[strip+8:], uint32(len(file))) // ImageJ's pixels follow the directory
	for i := range pages {
		file = append(file, grey16(i).chunks(t, binary.LittleEndian)[0]...)
	}

	f := open(t, file)
	if f.Pages() != pages {
		t.Fatalf("%d pages, %d expected", f.Pages(), pages)
	}
	var img Image
	for i := range pages {
		if err := f.Next(&img); err != nil {
			t.Fatal(err)
		}
		expect(t, &img, Image{Width: 8, Height: 6, Channels: 1, Depth: Uint16}, grey16(i).value)
	}
	if err := f.Next(&img); err != io.EOF {
		t.Fatalf("%v, io.EOF expected", err)
	}

	f = open(t, file[:len(file)-size/2])
	if f.Pages() != pages-1 {
		t.Fatalf("%d pages held, %d expected", f.Pages(), pages-1)
	}
	for range pages - 1 {
		if err := f.Next(&img); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Next(&img); !errors.Is(err, ErrTorn) {
		t.Fatalf("%v, ErrTorn expected", err)
	}
	if err := f.Next(&img); err != io.EOF {
		t.Fatalf("%v, io.EOF expected", err)
	}
}

// TestSinglePageKeepsDescription: a page that was copied from a stack together with the stack's description is one page, not a torn stack.
func TestSinglePageKeepsDescription(t *testing.T) {
	page := grey16(0)
	page.description = "ImageJ=1.53t\nimages=500\n"
	f := open(t, build(t, binary.LittleEndian, false, page))
	var img Image
	if err := f.Next(&img); err != nil || f.Pages() != 1 {
		t.Fatalf("%d pages, %v; 1 expected", f.Pages(), err)
	}
	if err := f.Next(&img); err != io.EOF {
		t.Fatalf("%v, io.EOF expected", err)
	}
}

func TestRefused(t *testing.T) {
	with := func(change func(*recipe)) []byte {
		r := grey16(0)
		change(&r)
		return build(t, binary.LittleEndian, false, r)
	}
	huge := with(func(r *recipe) {})
	for _, tag := range []byte{0, 1} { // width and height
		at := bytes.Index(huge, []byte{tag, 1, 4, 0, 1, 0, 0, 0})
		binary.LittleEndian.PutUint32(huge[at+8:], 40000)
	}
	circle := build(t, binary.LittleEndian, false, grey16(0))
	copy(circle[len(circle)-4:], circle[4:8])
	bomb := with(func(r *recipe) { r.compression = deflated })
	for _, tag := range []byte{0, 1, 0x16} { // width, height and rows of a strip
		at := bytes.Index(bomb, []byte{tag, 1, 4, 0, 1, 0, 0, 0})
		binary.LittleEndian.PutUint32(bomb[at+8:], 10000)
	}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"text", []byte("Copyright (c)"), `begins with "Copy"`},
		{"short", []byte("II*\x00"), "cut after 4 bytes"},
		{"version", []byte("II\x2b\x01abcdabcdabcd"), "version 299"},
		{"no directory", []byte("II*\x00\x00\x00\x00\x00"), "no page"},
		{"directory beyond the end", []byte("II*\x00\x00\x01\x00\x00"), "byte 256, beyond its end at 8"},
		{"huge", huge, "40000x40000 pixels"},
		{"bomb", bomb, "bytes, at least"},
		{"JPEG", with(func(r *recipe) { r.compression = 7 }), "compression JPEG is not supported"},
		{"Zstandard", with(func(r *recipe) { r.compression = 50000 }), "compression Zstandard"},
		{"CMYK", with(func(r *recipe) { r.samples, r.photometric = 4, 5 }), "CMYK"},
		{"5 samples", with(func(r *recipe) { r.samples, r.photometric = 5, rgb; r.separate = true }), "pixels have 5 samples"},
		{"24 bits", with(func(r *recipe) { r.bits = 24 }), "24 bits"},
		{"half floats", with(func(r *recipe) { r.format = formatFloat }), "16 bits in sample format 3"},
		{"complex", with(func(r *recipe) { r.bits, r.format = 64, 6 }), "sample format 6"},
		{"palette too short", with(func(r *recipe) { r.bits, r.photometric, r.colours = 8, palette, make([]uint64, 30) }), "palette has 30 values, 768 expected"},
		{"lowest bit first", with(func(r *recipe) { r.fill = 2 }), "fill order 2"},
		{"predictor without compression", with(func(r *recipe) { r.predictor = 2 }), "predictor 2 with compression none"},
		{"float predictor on integers", with(func(r *recipe) { r.compression, r.predictor = deflated, 3 }), "predictor 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(bytes.NewReader(c.file), int64(len(c.file)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, an error with %q expected", err, c.want)
			}
			if strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("the error is not one line: %q", err)
			}
		})
	}
	t.Run("circle", func(t *testing.T) {
		f := open(t, circle)
		var img Image
		if err := f.Next(&img); err != nil {
			t.Fatal(err)
		}
		if err := f.Next(&img); err == nil || !strings.Contains(err.Error(), "circular") {
			t.Fatalf("%v, a circle expected", err)
		}
		if err := f.Next(&img); err != io.EOF {
			t.Fatalf("%v, io.EOF expected", err)
		}
	})
}

// TestOldLZW: LZW from before TIFF 6.0, with codes packed from the low bit, is rejected.
func TestOldLZW(t *testing.T) {
	r := grey16(0)
	r.compression = lzwCoded
	file := build(t, binary.LittleEndian, false, r)
	copy(file[8:], []byte{0, 1})
	var img Image
	if err := open(t, file).Next(&img); err == nil || !strings.Contains(err.Error(), "LZW with the low bit first") {
		t.Fatalf("%v, old-style LZW named expected", err)
	}
}

// TestDamagedPage: reading continues after a page whose pixels cannot be decompressed.
func TestDamagedPage(t *testing.T) {
	a, b := grey16(0), grey16(1)
	a.compression, b.compression = deflated, deflated
	file := build(t, binary.LittleEndian, false, a, b)
	file[12] ^= 0xff // within the first page's stream
	f := open(t, file)
	var img Image
	var page *PageError
	if err := f.Next(&img); !errors.As(err, &page) || page.Page != 1 || errors.Is(err, ErrTorn) {
		t.Fatalf("%v, damage to page 1 expected", err)
	}
	if err := f.Next(&img); err != nil {
		t.Fatal(err)
	}
	expect(t, &img, Image{Width: 8, Height: 6, Channels: 1, Depth: Uint16}, b.value)
}

func TestEncode(t *testing.T) {
	for _, channels := range []int{1, 3} {
		for _, depth := range []Depth{Uint8, Uint16, Float32} {
			img := Image{Width: 5, Height: 3, Channels: channels, Depth: depth}
			img.Pix = make([]byte, 15*channels*depth.Bytes())
			for i := range img.Pix {
				img.Pix[i] = byte(i)
			}
			var b bytes.Buffer
			if err := Encode(&b, &img); err != nil {
				t.Fatal(err)
			}
			var back Image
			if err := open(t, b.Bytes()).Next(&back); err != nil {
				t.Fatal(err)
			}
			if back.Width != 5 || back.Height != 3 || back.Channels != channels || back.Depth != depth || !bytes.Equal(back.Pix, img.Pix) {
				t.Errorf("%d channels of depth %d came back as %+v", channels, depth, back)
			}
		}
	}
	for _, bad := range []Image{{}, {Width: 1, Height: 1, Channels: 2, Pix: make([]byte, 2)}, {Width: 2, Height: 1, Channels: 1, Pix: make([]byte, 1)}, {Width: 1, Height: 1, Channels: 1, Depth: 9, Pix: make([]byte, 1)}} {
		if err := Encode(io.Discard, &bad); err == nil {
			t.Errorf("%+v was written, an error expected", bad)
		}
	}
}

// TestNextReusesMemory: after the first page, reading a plain stack allocates no memory.
func TestNextReusesMemory(t *testing.T) {
	pages := make([]recipe, 200)
	for i := range pages {
		pages[i] = grey16(i % 50)
		pages[i].rows = 2
	}
	f := open(t, build(t, binary.BigEndian, false, pages...))
	var img Image
	got := testing.AllocsPerRun(150, func() {
		if err := f.Next(&img); err != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations a page, none expected", got)
	}
}
