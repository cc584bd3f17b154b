package zarr

import (
	"encoding/json"
	"errors"
	"slices"

	"driftscope/ingest/tiff"
)

// The files of a v2 store.
const (
	v2Name       = ".zarray"
	v2Group      = ".zgroup"
	v2Attributes = ".zattrs"
)

// arrayV2 is the content of .zarray.
type arrayV2 struct {
	Format     int             `json:"zarr_format"`
	Shape      []int           `json:"shape"`
	Chunks     []int           `json:"chunks"`
	Type       json.RawMessage `json:"dtype"`
	Compressor *struct {
		ID string `json:"id"`
	} `json:"compressor"`
	Filters []struct {
		ID string `json:"id"`
	} `json:"filters"`
	Fill      json.RawMessage `json:"fill_value"`
	Order     string          `json:"order"`
	Separator string          `json:"dimension_separator"`
}

func (a *array) parseV2(text []byte) error {
	m := arrayV2{Order: "C"}
	if err := parse(text, &m); err != nil {
		return err
	}
	if m.Format != 2 {
		return tiff.Unread("zarr_format is %d, 2 expected: convert the store", m.Format)
	}
	var dtype string
	if err := json.Unmarshal(m.Type, &dtype); err != nil {
		return unread(string(m.Type))
	}
	var err error
	if a.samples, err = codedSamples(dtype); err != nil {
		return err
	}
	if a.filled, err = fill(a.samples, m.Fill); err != nil {
		return err
	}
	if len(m.Filters) > 0 {
		return tiff.Unread("the array has the filter %.40q, none expected: write the store without filters", m.Filters[0].ID)
	}
	if m.Compressor != nil {
		if !slices.Contains(compressors, m.Compressor.ID) {
			return known("compressor", m.Compressor.ID, compressors)
		}
		a.packed.compressor = m.Compressor.ID
	}
	if m.Separator == "" {
		m.Separator, a.guessed = ".", true
	}
	if err := a.separated(m.Separator); err != nil {
		return err
	}
	a.shape, a.chunk = m.Shape, m.Chunks
	order := natural(len(a.shape))
	switch m.Order {
	case "C":
	case "F":
		slices.Reverse(order)
	default:
		return errors.New("order is neither C nor F: the metadata are damaged")
	}
	return a.check(order)
}
