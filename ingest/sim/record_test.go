package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"driftscope/ingest/tiff"
	"driftscope/internal/suite"
)

func record(t *testing.T, name string, o Options) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	if err := mustNew(t, name, o).Record(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func decodePNG(t *testing.T, path string) image.Image {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func TestRecordTwiceIsByteIdentical(t *testing.T) {
	suite.Calculation(t)
	for _, name := range Names() {
		o := Options{Frames: 4, Seed: 9}
		a, b := record(t, name, o), record(t, name, o)
		entries, err := os.ReadDir(a)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) != 4+2 {
			t.Fatalf("%s: %d files; want 4 pictures and 2 tables", name, len(entries))
		}
		for _, entry := range entries {
			one, errOne := os.ReadFile(filepath.Join(a, entry.Name()))
			two, errTwo := os.ReadFile(filepath.Join(b, entry.Name()))
			if err := errors.Join(errOne, errTwo); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(one, two) {
				t.Errorf("%s: %s differs between two runs", name, entry.Name())
			}
		}
	}
}

// The tables read back to the same bits as from Next, and the pictures to the same values.
func TestRecordTellsTheTruth(t *testing.T) {
	suite.Calculation(t)
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			o := Options{Frames: 3, Seed: 5}
			dir := record(t, name, o)
			frames, truths := readTable(t, filepath.Join(dir, "frames.csv")), readTable(t, filepath.Join(dir, "truth.csv"))
			if got := strings.Join(frames[0], ","); got != "file,t,trajectory" {
				t.Errorf("frames.csv begins %q", got)
			}
			s := mustNew(t, name, o)
			header := map[int]string{1: "t,z1,mu1", 2: "t,z1,z2,mu1,mu2", 3: "t,z1,z2,z3,mu1,mu2,mu3", 4: "t,z1,z2,z3,z4,mu1,mu2,mu3,mu4",
				10: "t,z1,z2,z3,z4,z5,z6,z7,z8,z9,z10,mu1,mu2,mu3,mu4,mu5,mu6,mu7,mu8,mu9,mu10"}[s.Dim()]
			if got := strings.Join(truths[0], ","); got != header {
				t.Errorf("truth.csv begins %q; want %q", got, header)
			}
			var p Picture
			for row := 1; ; row++ {
				truth, err := s.Next(&p)
				if err == io.EOF {
					if len(frames) != row || len(truths) != row {
						t.Errorf("%d and %d rows; want %d", len(frames), len(truths), row)
					}
					break
				}
				want := append(append([]float64{truth.T}, truth.Z...), truth.Mu...)
				for column, text := range truths[row] {
					if got, err := strconv.ParseFloat(text, 64); err != nil || got != want[column] {
						t.Fatalf("row %d column %d: %q reads %v; want %v", row, column, text, got, want[column])
					}
				}
				if frames[row][1] != truths[row][0] || frames[row][2] != "0" {
					t.Fatalf("row %d of frames.csv is %v; its t should be %s", row, frames[row], truths[row][0])
				}
				path := filepath.Join(dir, frames[row][0])
				if p.Depth == Real {
					sameFloats(t, path, &p)
				} else {
					samePicture(t, decodePNG(t, path), &p)
				}
			}
		})
	}
}

func samePicture(t *testing.T, got image.Image, want *Picture) {
	t.Helper()
	if got.Bounds() != image.Rect(0, 0, want.Width, want.Height) {
		t.Fatalf("picture is %v; want %dx%d", got.Bounds(), want.Width, want.Height)
	}
	for j := range want.Height {
		for i := range want.Width {
			r, g, b, _ := got.At(i, j).RGBA()
			at := (j*want.Width + i) * want.Channels
			if want.Depth == Counts {
				if r != uint32(want.U16[at]) {
					t.Fatalf("pixel (%d, %d) is %d; want %d", i, j, r, want.U16[at])
				}
				continue
			}
			for c, v := range []uint32{b, g, r} {
				// 8 bits: half a step of 1/255.
				if math.Abs(float64(v)/65535-float64(want.F32[at+c])) > 0.5/255+1e-6 {
					t.Fatalf("pixel (%d, %d) channel %d is %g; want %g", i, j, c, float64(v)/65535, want.F32[at+c])
				}
			}
		}
	}
}

// sameFloats fails the test unless the file is a float32 TIFF with exactly the picture's values, red first.
func sameFloats(t *testing.T, path string, want *Picture) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := tiff.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var page tiff.Image
	if err := file.Next(&page); err != nil {
		t.Fatal(err)
	}
	if page.Width != want.Width || page.Height != want.Height || page.Channels != want.Channels || page.Depth != tiff.Float32 {
		t.Fatalf("page %dx%d, %d channels, depth %d", page.Width, page.Height, page.Channels, page.Depth)
	}
	for i := range want.F32 {
		mirrored := i/3*3 + 2 - i%3
		if got := math.Float32frombits(binary.LittleEndian.Uint32(page.Pix[4*i:])); got != want.F32[mirrored] {
			t.Fatalf("value %d is %g; want %g", i, got, want.F32[mirrored])
		}
	}
}

// Values that noise moved out of [0, 1] are preserved, red first.
func TestRealPicturesAreFloatTIFF(t *testing.T) {
	p := Picture{}
	p.reset(Format{Width: 2, Height: 1, Channels: 3, Depth: Real})
	copy(p.F32, []float32{-0.25, 0.5, 1.5, 3, 4, 5})
	path := filepath.Join(t.TempDir(), "frame"+extension(Real))
	if err := newPictureEncoder().write(path, &p); err != nil {
		t.Fatal(err)
	}
	sameFloats(t, path, &p)
}

func TestNoFormatIsAnError(t *testing.T) {
	p := Picture{}
	p.reset(Format{Width: 2, Height: 2, Channels: 2, Depth: Unit})
	path := filepath.Join(t.TempDir(), "frame.png")
	if err := newPictureEncoder().write(path, &p); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v; want one that names %s", err, path)
	}
}

func TestBallLooksYellow(t *testing.T) {
	dir := record(t, "balls-ou", Options{Frames: 1, Seed: 1})
	r, g, b, _ := decodePNG(t, filepath.Join(dir, "frame_0000000.png")).At(32, 32).RGBA()
	if r != 0xffff || g != 0xffff || b != 0 {
		t.Errorf("the middle is (%#x, %#x, %#x); want yellow", r, g, b)
	}
}

func TestRecordRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	finite := Options{Frames: 2, Seed: 1}
	for _, c := range []struct {
		what    string
		options Options
		out     string
		want    string
	}{
		{"a full folder", finite, dir, "is not empty (it holds mine.txt): give an empty or a new folder"},
		{"a file", finite, filepath.Join(dir, "mine.txt"), "give an empty or a new folder"},
		{"an endless scene", Options{Seed: 1}, filepath.Join(dir, "new"), "is endless"},
	} {
		err := mustNew(t, "balls-ou", c.options).Record(context.Background(), c.out)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want an error with %q", c.what, err, c.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "mine.txt")); err != nil || string(got) != "keep" {
		t.Errorf("the file that was there: %q, %v", got, err)
	}
}

func TestRecordIntoEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := mustNew(t, "balls-ou", Options{Frames: 2}).Record(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "frame_0000001.png")); err != nil {
		t.Error(err)
	}
}

func TestRecordStopped(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	parent := t.TempDir()
	err := mustNew(t, "balls-ou", Options{Frames: 2}).Record(ctx, filepath.Join(parent, "out"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want context.Canceled", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRecordBesideAnother(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(out+".partial", 0o700); err != nil {
		t.Fatal(err)
	}
	err := mustNew(t, "balls-ou", Options{Frames: 2}).Record(context.Background(), out)
	if err == nil || !strings.Contains(err.Error(), "or remove the folder") {
		t.Errorf("error %v; want one about the .partial folder", err)
	}
	if _, err := os.Stat(out + ".partial"); err != nil {
		t.Errorf("the other run's folder: %v", err)
	}
}

// grey is a film from outside the package: two grey pictures without a drift.
type grey struct{ frame int }

func (g *grey) Next(dst *Picture) (Truth, error) {
	if g.frame == 2 {
		return Truth{}, io.EOF
	}
	g.frame++
	dst.Format = Format{Width: 2, Height: 1, Channels: 1, Depth: Unit}
	dst.F32 = append(dst.F32[:0], 0.2, 1)
	return Truth{T: float64(g.frame), Z: []float64{3, 0.5}}, nil
}

func TestRecordFilm(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := Record(t.Context(), &grey{}, dir); err != nil {
		t.Fatal(err)
	}
	picture, ok := decodePNG(t, filepath.Join(dir, "frame_0000001.png")).(*image.Gray)
	if !ok || !bytes.Equal(picture.Pix, []byte{51, 255}) {
		t.Errorf("found %v, expected 51 and 255 in grey", picture)
	}
	if got := readTable(t, filepath.Join(dir, "truth.csv")); strings.Join(got[0], ",") != "t,z1,z2" || strings.Join(got[2], ",") != "2,3,0.5" || len(got) != 3 {
		t.Errorf("truth.csv has %v", got)
	}
}
