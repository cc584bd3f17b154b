package zarr

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// LevelName is the array that a Writer writes, in its store.
const LevelName = "0"

// part is what a file is called beside its place until it is whole.
const part = ".part"

// Writer writes a picture frame by frame, as Zarr v2 with NGFF 0.4: axes t, c, z, y and x, and a chunk a frame, as it is. A chunk is renamed into its
// place when it is whole, and the array becomes longer by it afterwards: wherever writing is cut off, the store has the frames before. Not safe for
// concurrent use.
type Writer struct {
	folder string
	frames int
	size   int64

	width, height, channels int // of the first frame
	depth                   tiff.Depth
	planes                  []byte // of colours
}

// NewWriter begins a store in a folder that is there. Nothing is written before the first frame.
func NewWriter(folder string) *Writer { return &Writer{folder: folder} }

// Frames is how many were written.
func (w *Writer) Frames() int { return w.frames }

// Size is how many bytes the whole frames have.
func (w *Writer) Size() int64 { return w.size }

// Stored is how many bytes Append adds for img, at most.
func Stored(img *tiff.Image) int64 {
	const metadata = 4096
	return int64(len(img.Pix)) + metadata
}

// Append writes a frame. After an error the store has the frames before.
func (w *Writer) Append(img *tiff.Image) error {
	if w.frames == 0 {
		w.width, w.height, w.channels, w.depth = img.Width, img.Height, img.Channels, img.Depth
		if err := w.Describe(0); err != nil {
			return err
		}
	}
	if img.Width != w.width || img.Height != w.height || img.Channels != w.channels || img.Depth != w.depth {
		return fmt.Errorf("a frame of %dx%d pixels of %d channels of %d bytes, %dx%d of %d of %d expected as the first was: record to a folder of TIFFs",
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

// place writes a file beside its place and renames it into it.
func place(path string, data []byte) error {
	if err := os.WriteFile(path+part, data, 0o644); err != nil {
		os.Remove(path + part)
		return err
	}
	return os.Rename(path+part, path)
}

// dtypes are what v2 calls the depths.
var dtypes = map[tiff.Depth]string{tiff.Uint8: "|u1", tiff.Uint16: "<u2", tiff.Float32: "<f4"}

// lengthen writes the array's metadata for so many frames.
func (w *Writer) lengthen(frames int) error {
	text, err := json.MarshalIndent(map[string]any{
		"zarr_format": 2, "shape": []int{frames, w.channels, 1, w.height, w.width}, "chunks": []int{1, w.channels, 1, w.height, w.width},
		"dtype": dtypes[w.depth], "compressor": nil, "filters": nil, "fill_value": 0, "order": "C", "dimension_separator": "/",
	}, "", "  ")
	if err != nil {
		return err
	}
	return place(filepath.Join(w.folder, LevelName, v2Name), text)
}

// Describe writes what NGFF wants of a picture, with the time from frame to frame in seconds where it is known.
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
	for name, v := range map[string]any{v2Group: map[string]any{"zarr_format": 2}, v2Attributes: attributes} {
		text, err := json.MarshalIndent(v, "", "  ")
		if err == nil {
			err = place(filepath.Join(w.folder, name), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// colours are red, green and blue for viewers, which ask for the range of the values.
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

// apart lays the samples of a picture's channels in planes, one behind the other.
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

// ReadColours reads the three channels of a time as one picture in colours, as a Writer was given it; of one channel, as Read does. A chunk
// that is missing is an error.
func (i *Image) ReadColours(dst *tiff.Image, time int) error {
	var plane tiff.Image
	if i.Channels != 1 && i.Channels != 3 {
		return fmt.Errorf("%d channels, 1 or 3 expected", i.Channels)
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
