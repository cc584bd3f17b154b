package zarr

import (
	"bytes"
	"errors"
	"time"

	"driftscope/ingest/ndarray"
	"driftscope/ingest/tiff"
)

// Place is one picture of an Image; all count from 0.
type Place = ndarray.Place

// State is what can be known of a picture without reading it. Two that differ say that something was written.
type State struct {
	Present  int // chunks that are there, be it in part
	bytes    int64
	modified time.Time // of the file that was written last
}

// State says what of a picture is there.
func (i *Image) State(p Place) (s State, err error) {
	i.pictures.First(p)
	for n := range i.Tiles() {
		at, err := i.chunks.locate(i.pictures.Tile(n))
		if err == nil {
			err = i.chunks.present(&at)
		}
		switch {
		case errors.Is(err, errMissing):
			continue
		case err != nil:
			return s, err
		}
		s.Present++
		s.bytes += at.state.size
		if at.state.modified.After(s.modified) {
			s.modified = at.state.modified
		}
	}
	return s, nil
}

// Read reads a picture. What missing chunks would have has the fill value; doubtful says that a chunk could still lack its end, where a writer gives
// files their length before their content.
func (i *Image) Read(dst *tiff.Image, p Place) (missing int, doubtful bool, err error) {
	i.chunks.unsure = false
	missing, err = i.pictures.Read(dst, p)
	if err != nil {
		return missing, false, err
	}
	if missing > 0 || i.chunks.unsure {
		i.Forget()
	}
	return missing, i.chunks.unsure, nil
}

// Forget reads chunks again that the next picture shares with the last one.
func (i *Image) Forget() { i.pictures.Forget() }

// blank says that every pixel has the fill value, as those have that nobody wrote.
func (i *Image) blank(picture *tiff.Image) bool {
	size := len(i.array.filled)
	return bytes.Equal(picture.Pix[:size], i.array.filled) && bytes.Equal(picture.Pix[size:], picture.Pix[:len(picture.Pix)-size])
}
