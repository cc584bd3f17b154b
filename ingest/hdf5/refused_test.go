package hdf5

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// TestRefused: the error for an unsupported feature is one line that names it.
func TestRefused(t *testing.T) {
	b := unzipped()
	for _, c := range []struct {
		name, file, dataset, axes, want string
	}{
		{"half floats", "latest.h5", "half", "", "its samples are floating point of 16 bits in 2 bytes, whole numbers of 8, 16 or 32 bits or floats of 32 or 64 expected"},
		{"truth values", "latest.h5", "truth", "", "class 8, enumeration"},
		{"another filter", "latest.h5", "scaled", "", "filter 6 (scale-offset), which is not supported"},
		{"a dataset that can grow along two axes", "latest.h5", "growsall", "", "indexed by a B-tree of version 2, as libver='latest' does"},
		{"a dataset that can grow along its last axis", "latest.h5", "growslast", "", "it can grow along other axes than its first: let only time"},
		{"a text", "latest.h5", "name", "", "of variable length"},
		{"a picture", "latest.h5", "picture", "", "the names of its axes [5 7] are not known: give them, as axes=tyx"},
		{"too many letters", "latest.h5", "plain", "tczyx", "axes is tczyx, 3 letters expected for the shape [5 11 13]"},
		{"a letter twice", "latest.h5", "plain", "tyy", "each of t, c, z, y and x at most once expected"},
		{"another letter", "latest.h5", "plain", "syx", "each of t, c, z, y and x at most once expected"},
		{"no y", "latest.h5", "plain", "tcx", "axes is tcx, which lacks y or x"},
	} {
		file := b[c.file]
		_, err := Open(bytes.NewReader(file), int64(len(file)), found(t, file, c.dataset), c.axes)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') || !strings.Contains(err.Error(), c.dataset) {
			t.Errorf("%s: %v; one line with the dataset and %q expected", c.name, err, c.want)
		}
		if asked := c.axes != "" || c.name == "a picture"; err != nil && asked == strings.HasSuffix(err.Error(), "("+tiff.Page+")") {
			t.Errorf("%s: %v; the page at its end expected where the dataset is not read, and not where axes are wrong", c.name, err)
		}
	}
}

// TestChoice: the largest of several films is chosen, and a warning names the others. If no film is the largest, or there is none, the error lists the
// datasets.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		name, file, dataset, want string
	}{
		{"none of that path", "user.h5", "/film", "no dataset /film, the file has /data [5 11 13]: give one"},
		{"several of one size", "dense.h5", "", "several datasets may be the film, /data0 [2 3 4], /data1 [2 3 4], /data10 [2 3 4]"},
		{"no film", "picture", "", "no HDF5 signature"},
	} {
		file := unzipped()[c.file]
		_, err := Open(bytes.NewReader(file), int64(len(file)), c.dataset, "")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v; one line with %q expected", c.name, err, c.want)
		}
	}
	file := unzipped()["latest.h5"]
	_, err := Open(bytes.NewReader(file), int64(len(file)), "", "")
	if err == nil || !strings.Contains(err.Error(), "several datasets may be the film") || !strings.Contains(err.Error(), "/growsgaps [3000 2 3]") {
		t.Errorf("%v; a list of films expected", err)
	}
	s := search{found: []*dataset{{path: "/a", shape: []int{2, 3, 4}}, {path: "/b", shape: []int{2, 3, 5}}, {path: "/c", shape: []int{9, 9}}, {path: "/d", shape: []int{2, 3, 9}, unread: errLZF}}}
	d, others, err := s.choose("")
	if err != nil || d.path != "/b" || strings.Join(others, ";") != "/a [2 3 4]" {
		t.Errorf("%v, %v, %v; /b and /a expected", d, others, err)
	}
	s.found = s.found[2:]
	if _, _, err := s.choose(""); !errors.Is(err, errLZF) {
		t.Errorf("%v; why /d is not read expected", err)
	}
	s.found = s.found[:1]
	if _, _, err := s.choose(""); err == nil || !strings.Contains(err.Error(), "no dataset of 3 to 5 axes, the file has /c [9 9]") {
		t.Errorf("%v", err)
	}
}

// readAll reads a few pictures of a film in any file.
func readAll(t *testing.T, file []byte, path string) error {
	image, err := Open(bytes.NewReader(file), int64(len(file)), path, "")
	if err != nil {
		if strings.ContainsRune(err.Error(), '\n') {
			t.Fatalf("not one line: %q", err)
		}
		return err
	}
	if err := tiff.CheckSize(image.Width, image.Height, image.dataset.samples.Depth().Bytes()); err != nil || image.chunks.bytes > bounded.MaxChunk || image.Tiles() > bounded.MaxTiles || image.Written() > image.Times {
		t.Fatalf("%+v (%v)", image, err)
	}
	if image.Width*image.Height > 1<<18 || image.Tiles() > 1<<10 || image.chunks.bytes > 1<<20 {
		return nil // slow, not wrong
	}
	var picture tiff.Image
	for n := range min(image.Times, 6) {
		missing, readErr := image.Read(&picture, n, image.Channels-1, 0)
		if readErr != nil {
			err = readErr
		} else if missing > image.Tiles() || len(picture.Pix) != image.Width*image.Height*picture.Depth.Bytes() {
			t.Fatalf("%d missing, %d bytes of %+v", missing, len(picture.Pix), image)
		}
	}
	return err
}

// TestTorn: a file that was cut off anywhere gives an error, and is never read as a shorter film.
func TestTorn(t *testing.T) {
	for _, name := range []string{"user.h5", "compact.h5", "implicit.h5"} {
		file := unzipped()[name]
		for n := 0; n < len(file); n += 1 + len(file)/400 {
			if err := readAll(t, file[:n], ""); err == nil {
				t.Fatalf("%s of %d of %d bytes is read", name, n, len(file))
			}
		}
	}
}

// TestDamaged: a packed chunk with a changed byte gives an error.
func TestDamaged(t *testing.T) {
	image := opened(t, "earliest.h5", "fletcherodd", "")
	at, found := image.chunks.locate(make([]int, 3))
	if !found {
		t.Fatal("no first chunk")
	}
	file := bytes.Clone(unzipped()["earliest.h5"])
	file[at.at+5] ^= 4
	damaged, err := Open(bytes.NewReader(file), int64(len(file)), image.Dataset, "")
	if err != nil {
		t.Fatal(err)
	}
	var picture tiff.Image
	if _, err := damaged.Read(&picture, 0, 0, 0); err == nil || !strings.Contains(err.Error(), "the checksum of 143 bytes is") {
		t.Errorf("%v; a checksum expected", err)
	}
	if _, err := damaged.Read(&picture, 1, 0, 0); err != nil {
		t.Errorf("the next picture: %v", err)
	}
}

// TestCircle: nodes that refer to each other give an error.
func TestCircle(t *testing.T) {
	image := opened(t, "earliest.h5", "manyzip", "")
	file := bytes.Clone(unzipped()["earliest.h5"])
	at := image.dataset.layout.at
	const key = 8 + 8*4
	copy(file[at+24+key:], file[at+24+key+8+key:][:8]) // the second child also becomes the first
	_, err := Open(bytes.NewReader(file), int64(len(file)), image.Dataset, "")
	if err == nil || !strings.Contains(err.Error(), "occurs twice") {
		t.Errorf("%v; a node that occurs twice expected", err)
	}
}

// TestPrintable: an error with a name that contains a line break is still one line.
func TestPrintable(t *testing.T) {
	file := bytes.ReplaceAll(unzipped()["names.h5"], []byte("film\x00"), []byte("a\nb\x1b\x00"))
	_, err := Open(bytes.NewReader(file), int64(len(file)), "none\n", "t\ny")
	if err == nil || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.Contains(err.Error(), "/none\ufffd") || !strings.Contains(err.Error(), "/a\ufffdb\ufffd [5 11 13]") {
		t.Errorf("%q; one line expected", err)
	}
}

// TestLZF: any invalid LZF gives an error.
func TestLZF(t *testing.T) {
	for name, packed := range map[string][]byte{
		"literals that are not there": {5, 'a'}, "more than there is room for": {31, 1, 2, 3}, "a distance before the beginning": {0, 'a', 0x20, 9},
		"no distance": {0, 'a', 0x20}, "no length": {0xe0}, "no distance behind a length": {0, 'a', 0xe0, 1}, "too long": {0, 'a', 0xe0, 255, 0},
	} {
		if got, err := expandLZF(make([]byte, 16), packed); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	got, err := expandLZF(make([]byte, 16), []byte{1, 'a', 'b', 0x60, 1, 0xe0, 0, 0})
	if want := "ab" + "ababa" + strings.Repeat("a", 9); err != nil || string(got) != want {
		t.Errorf("%q, %v; %q expected", got, err, want)
	}
}

// FuzzOpen: for any bytes, Open returns an error of one line, or pictures are within their bounds.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"compact.h5", "implicit.h5", "user.h5", "dense.h5"} {
		f.Add(unzipped()[name], "")
	}
	f.Add(unzipped()["names.h5"], "/film")
	for _, p := range packings {
		f.Add(written16(2, 4, p.big, p.filters, p.pack), "")
	}
	f.Fuzz(func(t *testing.T, file []byte, path string) { _ = readAll(t, file, path) })
}

// FuzzChange changes a few bytes anywhere in files of all forms.
func FuzzChange(f *testing.F) {
	paths := []string{"plain", "chunks", "gzip", "shuffle", "fletcher", "lzf", "many", "manyzip", "bounded", "deep", "grows", "growszip"}
	f.Add(uint8(0), uint32(40), uint64(0xff))
	f.Add(uint8(3), uint32(800), uint64(1))
	f.Fuzz(func(t *testing.T, which uint8, at uint32, change uint64) {
		name := []string{"earliest.h5", "latest.h5"}[which%2]
		path := found(t, unzipped()[name], paths[int(which/2)%len(paths)])
		file := bytes.Clone(unzipped()[name])
		for i := range 8 {
			file[(int(at)+i)%len(file)] ^= byte(change >> (8 * i))
		}
		_ = readAll(t, file, path)
	})
}
