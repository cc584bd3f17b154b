package natsource

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"driftscope/ingest/wire"
	"driftscope/internal/flow/frame"
)

// Bounds on places.
const (
	mostPlaces = 1 << 14   // per frame, as for spots
	mostID     = 1<<53 - 1 // largest whole number in JavaScript
	farthest   = 1e6       // px or µm
)

// columns is one JSON object of a frame, with one entry per object position. A frame has one or more such JSON objects.
type columns struct {
	ID  []uint64  `json:"id"`
	X   []float64 `json:"x_px"`
	Y   []float64 `json:"y_px"`
	SD  []float64 `json:"sd_px"`
	XUM []float64 `json:"x_um"`
	YUM []float64 `json:"y_um"`
	SDU []float64 `json:"sd_um"`
}

// toPlaces decodes the object positions of a complete frame.
func toPlaces(whole *wire.Frame) (*frame.Places, error) {
	p := &frame.Places{Width: whole.Width, Height: whole.Height}
	if bytes.Contains(whole.Bytes, []byte("null")) {
		return nil, errors.New("a position is null, a number expected: leave out this object")
	}
	d := json.NewDecoder(bytes.NewReader(whole.Bytes))
	d.DisallowUnknownFields()
	for {
		var c columns
		switch err := d.Decode(&c); {
		case err == io.EOF:
			return p, checkPlaces(p)
		case err != nil:
			return nil, fmt.Errorf("%.200w: id, x_px, y_px and sd_px, or x_um, y_um and sd_um, without z, expected: correct the publisher", err)
		}
		px, um := len(c.X)+len(c.Y)+len(c.SD) > 0, len(c.XUM)+len(c.YUM)+len(c.SDU) > 0
		if um && (px || len(p.X) > 0 && !p.Micrometres) || px && p.Micrometres {
			return nil, errors.New("some positions are in px and others in µm: use one unit")
		}
		if um {
			c.X, c.Y, c.SD, p.Micrometres = c.XUM, c.YUM, c.SDU, true
		}
		p.ID, p.X, p.Y, p.SD = append(p.ID, c.ID...), append(p.X, c.X...), append(p.Y, c.Y...), append(p.SD, c.SD...)
	}
}

// checkPlaces rejects columns of different lengths and numbers outside their range.
func checkPlaces(p *frame.Places) error {
	n := len(p.X)
	if n > mostPlaces || len(p.Y) != n || len(p.ID)%max(n, 1) != 0 || len(p.SD)%max(n, 1) != 0 || len(p.ID) > n || len(p.SD) > n {
		return fmt.Errorf("the frame has %d x, %d y, %d id and %d sd: expected at most %d positions, with id and sd for all or for none", n, len(p.Y), len(p.ID), len(p.SD), mostPlaces)
	}
	for i := range n {
		if !(math.Abs(p.X[i]) <= farthest && math.Abs(p.Y[i]) <= farthest) {
			return fmt.Errorf("position %d is %g, %g: expected coordinates of at most %g", i, p.X[i], p.Y[i], farthest)
		}
		if len(p.SD) > 0 && !(p.SD[i] > 0 && p.SD[i] <= farthest) {
			return fmt.Errorf("position %d has the standard deviation %g: expected a number above 0 and at most %g", i, p.SD[i], farthest)
		}
	}
	ids := slices.Sorted(slices.Values(p.ID))
	for i, id := range ids {
		if id < 1 || id > mostID || i > 0 && id == ids[i-1] {
			return fmt.Errorf("id is %d: expected numbers from 1 to 2^53 - 1, each once per frame", id)
		}
	}
	return nil
}
