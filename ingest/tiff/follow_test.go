package tiff

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// pages reads all pages of a complete file.
func pages(t *testing.T, file []byte) (all []Image) {
	t.Helper()
	f, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for {
		var img Image
		if err := f.Next(&img); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, img)
	}
}

// TestFollowByBytes grows files of every kind byte by byte. Each page is returned once, in order and whole, without errors.
func TestFollowByBytes(t *testing.T) {
	for i, file := range seeds(t) {
		want := pages(t, file)
		for _, allocated := range []bool{false, true} { // true: the file has its full length before its content
			written := make([]byte, 0, len(file))
			f := Follow(readerAt(func(p []byte, off int64) (int, error) {
				return bytes.NewReader(written[:len(file)]).ReadAt(p, off)
			}), func() (int64, error) {
				if allocated {
					return int64(len(file)), nil
				}
				return int64(len(written)), nil
			})
			var got []Image
			for n := range len(file) + 1 {
				copy(written[:n], file)
				written = written[:n]
				for {
					var img Image
					err := f.Next(&img)
					if err == ErrPending {
						break
					}
					if err != nil {
						t.Fatalf("file %d, allocated %v, with %d of %d bytes: %v", i, allocated, n, len(file), err)
					}
					got = append(got, img)
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("file %d, allocated %v: %d pages that are not the %d of the whole file", i, allocated, len(got), len(want))
			}
			f.Finish()
			var img Image
			if err := f.Next(&img); err != io.EOF {
				t.Errorf("file %d, allocated %v: %v at the end, io.EOF expected", i, allocated, err)
			}
		}
	}
}

type readerAt func(p []byte, off int64) (int, error)

func (r readerAt) ReadAt(p []byte, off int64) (int, error) { return r(p, off) }

// TestFinish: after Finish, missing parts give one error.
func TestFinish(t *testing.T) {
	page := grey16(0)
	two := build(t, binary.LittleEndian, false, page, page)
	one := len(build(t, binary.LittleEndian, false, page))
	for _, c := range []struct {
		name  string
		file  []byte
		pages int
		want  string // empty: nothing is missing
	}{
		{"nothing", nil, 0, "the file is empty"},
		{"half a header", two[:5], 0, "cut after 5 bytes"},
		{"a header", two[:8], 0, "the file is torn"},
		{"zeros", make([]byte, 100), 0, "not a TIFF file"},
		{"one page", two[:one], 1, ""}, // its link leads to an offset where nothing is written yet
		{"pixels of the second", two[:one+7], 1, ""},
		{"half the second directory", two[:len(two)-30], 1, "the file is torn"},
		{"both", two, 2, ""},
	} {
		f := Follow(bytes.NewReader(c.file), func() (int64, error) { return int64(len(c.file)), nil })
		var img Image
		n := 0
		err := f.Next(&img)
		for ; err == nil; err = f.Next(&img) {
			n++
		}
		if err != ErrPending || n != c.pages {
			t.Errorf("%s: %d pages and then %v, %d and ErrPending expected", c.name, n, err, c.pages)
		}
		f.Finish()
		var missing *PageError
		if err := f.Next(&img); c.want != "" && (!errors.As(err, &missing) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, %q expected", c.name, err, c.want)
		} else if c.want == "" && err != io.EOF {
			t.Errorf("%s: %v, io.EOF expected", c.name, err)
		}
		if err := f.Next(&img); err != io.EOF {
			t.Errorf("%s: then %v, io.EOF expected", c.name, err)
		}
	}
}

// TestFollowAnew: a file that becomes shorter than the part already read was replaced, which is an error. Cutting off unused space is not.
func TestFollowAnew(t *testing.T) {
	for i, file := range seeds(t) {
		whole := len(file)
		file = append(file, make([]byte, 100)...)
		length := int64(len(file))
		f := Follow(bytes.NewReader(file), func() (int64, error) { return length, nil })
		next := func() (err error) {
			var img Image
			for err == nil {
				err = f.Next(&img)
			}
			return err
		}
		if err := next(); err != ErrPending {
			t.Fatalf("file %d: %v, ErrPending expected", i, err)
		}
		if length = int64(whole); next() != ErrPending {
			t.Errorf("file %d: %v where its room is cut off, ErrPending expected", i, next())
		}
		if length = f.given - 1; next() == ErrPending || !strings.Contains(next().Error(), "start the run again") {
			t.Errorf("file %d: %v where it ends in what was read, start the run again expected", i, next())
		}
	}
}

// TestFollowHeader: a header that is written during the check is pending, not an error.
func TestFollowHeader(t *testing.T) {
	file := build(t, binary.LittleEndian, false, grey16(0))
	for before := range 4 { // number of checks that find zeros
		looks := 0
		f := Follow(readerAt(func(p []byte, off int64) (int, error) {
			if looks++; looks <= before {
				clear(p)
				return len(p), nil
			}
			return bytes.NewReader(file).ReadAt(p, off)
		}), func() (int64, error) { return int64(len(file)), nil })
		var img Image
		err := f.Next(&img)
		for range 4 {
			if err == ErrPending {
				err = f.Next(&img)
			}
		}
		if err != nil {
			t.Errorf("after %d looks: %v, the page expected", before, err)
		}
	}
}

// TestFollowRefused: a file that can never be read gives an error or a doubt, not only a wait.
func TestFollowRefused(t *testing.T) {
	coded := grey16(0)
	file := build(t, binary.LittleEndian, false, coded)
	at := bytes.Index(file, []byte{3, 1, 3, 0, 1, 0, 0, 0, 1}) // tag 259, compression
	jpeg := bytes.Clone(file)
	jpeg[at+8] = 7
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"text": {[]byte("this is no picture at all"), "not a TIFF file"},
		"jpeg": {jpeg, "compression JPEG is not supported"},
	} {
		f := Follow(bytes.NewReader(c.file), func() (int64, error) { return int64(len(c.file)), nil })
		var img Image
		err := f.Next(&img)
		if err == ErrPending {
			err = f.Doubt()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %q expected", name, err, c.want)
		}
	}
}
