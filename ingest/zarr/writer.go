package zarr

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// LevelName is the name of the array that a Writer writes.
const LevelName = "0"

// part is the suffix of a file until it is whole.
const part = ".part"

// Writer writes a picture frame by frame, as Zarr v2 with NGFF 0.4: axes t, c, z, y and x, one uncompressed chunk per frame. It writes a chunk under a
// temporary name, renames it, and then extends the array, so a store cut off at any point has all earlier frames. Not safe for concurrent use.
type Writer struct {
	folder string
	frames int
	size   int64

	width, height, channels int // of the first frame
	depth                   tiff.Depth
	planes                  []byte // planes of a colour frame
}

// NewWriter starts a store in an existing folder. It writes nothing before the first frame.
func NewWriter(folder string) *Writer { return &Writer{folder: folder} }

// Frames returns the number of frames written.
func (w *Writer) Frames() int { return w.frames }

// Size returns the bytes of the whole frames.
func (w *Writer) Size() int64 { return w.size }

// Stored returns the largest number of bytes that Append adds for img.
func Stored(img *tiff.Image) int64 {
	const metadata = 4096
	return int64(len(img.Pix)) + metadata
}

// Append writes a frame. After an error the store still has all earlier frames.
func (w *Writer) Append(img *tiff.Image) error {
	if w.frames == 0 {
		w.width, w.height, w.channels, w.depth = img.Width, img.Height, img.Channels, img.Depth
		if err := w.Describe(0); err != nil {
			return err
		}
	}
	if img.Width != w.width || img.Height != w.height || img.Channels != w.channels || img.Depth != w.depth {
		return fmt.Errorf("the frame has %dx%d pixels of %d channels of %d bytes, but the first had %dx%d of %d of %d: record to a folder of TIFFs",
			img.Width, img.Height, img.Channels, img.Depth.Bytes(), w.width, w.height, w.channels, w.depth.Bytes())
	}
	pix := img.Pix
	if w.channels > 1 {
		w.planes = apart(w.planes, img)
		pix = w.planes
	}
	folder := filepath.Join(w.folder, LevelName, strconv.Itoa(w.frames), "0", "0", "0")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := place(filepath.Join(folder, "0"), pix); err != nil {
		return err
	}
	if err := w.lengthen(w.frames + 1); err != nil {
		return err
	}
	w.frames++
	w.size += int64(len(pix))
	return nil
}

// place writes a temporary file and renames it to path.
func place(path string, data []byte) error {
	if err := os.WriteFile(path+part, data, 0o644); err != nil {
		os.Remove(path + part)
		return err
	}
	return os.Rename(path+part, path)
}

// dtypes are v2's names of the depths.
var dtypes = map[tiff.Depth]string{tiff.Uint8: "|u1", tiff.Uint16: "<u2", tiff.Float32: "<f4"}

// lengthen writes the array's metadata for the given number of frames.
func (w *Writer) lengthen(frames int) error {
	return document(filepath.Join(w.folder, LevelName, v2Name), v2([]int{frames, w.channels, 1, w.height, w.width}, []int{1, w.channels, 1, w.height, w.width}, dtypes[w.depth], "/"))
}

// Describe writes NGFF metadata, with the frame interval in seconds if it is known.
func (w *Writer) Describe(interval float64) error {
	time := map[string]any{"name": "t", "type": "time"}
	if interval > 0 {
		time["unit"] = "second"
	} else {
		interval = 1
	}
	space := func(name string) map[string]any { return map[string]any{"name": name, "type": "space"} }
	attributes := map[string]any{"multiscales": []any{map[string]any{
		"version": "0.4",
		"axes":    []any{time, map[string]any{"name": "c", "type": "channel"}, space("z"), space("y"), space("x")},
		"datasets": []any{map[string]any{
			"path": LevelName, "coordinateTransformations": []any{map[string]any{"type": "scale", "scale": []float64{interval, 1, 1, 1, 1}}},
		}},
	}}}
	if w.channels == 3 {
		attributes["omero"] = map[string]any{"channels": w.colours()}
	}
	if err := os.MkdirAll(filepath.Join(w.folder, LevelName), 0o755); err != nil {
		return err
	}
	return Group(w.folder, attributes)
}

// colours describes red, green and blue for viewers, with the range of values that viewers need.
func (w *Writer) colours() (channels []any) {
	most := map[tiff.Depth]float64{tiff.Uint8: 1<<8 - 1, tiff.Uint16: 1<<16 - 1, tiff.Float32: 1}[w.depth]
	for i, colour := range []string{"FF0000", "00FF00", "0000FF"} {
		channels = append(channels, map[string]any{
			"label": []string{"red", "green", "blue"}[i], "color": colour, "active": true,
			"window": map[string]float64{"min": 0, "max": most, "start": 0, "end": most},
		})
	}
	return channels
}

// apart copies the channels of a picture to separate planes.
func apart(dst []byte, img *tiff.Image) []byte {
	size := img.Depth.Bytes()
	pixels := img.Width * img.Height
	dst = bounded.Resized(dst, len(img.Pix))
	for c := range img.Channels {
		for p := range pixels {
			copy(dst[(c*pixels+p)*size:][:size], img.Pix[(p*img.Channels+c)*size:])
		}
	}
	return dst
}

// ReadColours reads the three channels of a time as one colour picture, the one that a Writer received. For one channel it works like Read. A missing chunk is
// an error.
func (i *Image) ReadColours(dst *tiff.Image, time int) error {
	var plane tiff.Image
	if i.Channels != 1 && i.Channels != 3 {
		return fmt.Errorf("the store has %d channels, 1 or 3 expected", i.Channels)
	}
	for c := range i.Channels {
		missing, _, err := i.Read(&plane, Place{Time: time, Channel: c})
		if err == nil && missing > 0 {
			err = errMissing
		}
		if err != nil {
			return err
		}
		size := plane.Depth.Bytes()
		if c == 0 {
			dst.Width, dst.Height, dst.Channels, dst.Depth = plane.Width, plane.Height, i.Channels, plane.Depth
			dst.Pix = bounded.Resized(dst.Pix, len(plane.Pix)*i.Channels)
		}
		for p := range plane.Width * plane.Height {
			copy(dst.Pix[(p*i.Channels+c)*size:][:size], plane.Pix[p*size:])
		}
	}
	return nil
}
