package zarr

import (
	"bytes"
	"errors"
	"time"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// Place is the position of a picture in an Image; all values count from 0.
type Place = bounded.Place

// State holds the properties of a picture that are known without reading it. A changed State means that something was written.
type State struct {
	Present  int // chunks that exist, at least in part
	bytes    int64
	modified time.Time // of the newest file
}

// State returns the number of existing chunks of a picture and the time of the newest.
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

// Read reads a picture. Missing chunks have the fill value. doubtful reports that a chunk may be incomplete, because some
// writers give files their length before their content.
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

// Forget drops shared chunks, so that Read loads them again.
func (i *Image) Forget() { i.pictures.Forget() }

// blank reports that every pixel has the fill value, as in an unwritten picture.
func (i *Image) blank(picture *tiff.Image) bool {
	size := len(i.array.filled)
	return bytes.Equal(picture.Pix[:size], i.array.filled) && bytes.Equal(picture.Pix[size:], picture.Pix[:len(picture.Pix)-size])
}
