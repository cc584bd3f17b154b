package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"

	"driftscope/ingest/tiff"
)

// maxLevels bounds the resolution levels.
const maxLevels = 64

// metadata is the NGFF content of a group, and the keys by which other kinds of groups are recognised.
type metadata struct {
	Multiscales []multiscale `json:"multiscales"`
	Omero       struct {
		Channels []struct {
			Label string `json:"label"`
		} `json:"channels"`
	} `json:"omero"`
	Plate  json.RawMessage `json:"plate"`
	Well   json.RawMessage `json:"well"`
	Layout json.RawMessage `json:"bioformats2raw.layout"`
	Names  []string        `json:"_ARRAY_DIMENSIONS"` // written by xarray
}

// multiscale is one picture at several resolutions.
type multiscale struct {
	Axes     axes `json:"axes"`
	Datasets []struct {
		Path       string     `json:"path"`
		Transforms transforms `json:"coordinateTransformations"`
	} `json:"datasets"`
	Transforms transforms `json:"coordinateTransformations"`
}

// axis is one of a picture's axes.
type axis struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Unit string `json:"unit"`
}

// UnmarshalJSON accepts a name, as in NGFF 0.3, or an object.
func (a *axis) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &a.Name) == nil {
		return nil
	}
	type plain axis
	return json.Unmarshal(text, (*plain)(a))
}

type axes []axis

type transforms []struct {
	Type  string          `json:"type"`
	Scale json.RawMessage `json:"scale"`
}

// scale returns, for each of n axes, the product of its scales. said is false if there are no scales.
func (t transforms) scale(n int) (scale []float64, said bool) {
	scale = make([]float64, n)
	for i := range scale {
		scale[i] = 1
	}
	for _, one := range t {
		var by []float64
		if one.Type != "scale" || json.Unmarshal(one.Scale, &by) != nil || len(by) != n {
			continue
		}
		for i, v := range by {
			scale[i] *= v
		}
		said = true
	}
	return scale, said
}

// unknownAxes are the default axes by number of axes. NGFF 0.1 and 0.2 have five, a plain film three.
var unknownAxes = map[int]string{2: "yx", 3: "tyx", 5: "tczyx"}

// namedAxes maps axis names to axes.
func namedAxes(names []string) (a axes) {
	for _, name := range names {
		a = append(a, axis{Name: name})
	}
	return a
}

// groupV3 is zarr.json of a group, or the group part of an array's.
type groupV3 struct {
	Node       string `json:"node_type"`
	Attributes struct {
		metadata
		OME metadata `json:"ome"` // since NGFF 0.5
	} `json:"attributes"`
}

// group reads the metadata of the store's root. array is true if the root is an array.
func group(store fs.FS) (m metadata, array bool, err error) {
	text, err := load(store, v3Name)
	switch {
	case err == nil:
		var g groupV3
		if err = parse(text, &g); err != nil {
			return m, false, fmt.Errorf("%s: %w", v3Name, err)
		}
		if m = g.Attributes.OME; len(m.Multiscales) == 0 && m.Plate == nil && m.Well == nil && m.Layout == nil {
			m = g.Attributes.metadata
		}
		return m, g.Node == "array", nil
	case !errors.Is(err, fs.ErrNotExist):
		return m, false, fmt.Errorf("%s: %w", v3Name, err)
	}
	if text, err = load(store, v2Attributes); err == nil {
		err = parse(text, &m)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return m, false, fmt.Errorf("%s: %w", v2Attributes, err)
	}
	if _, err = fs.Stat(store, v2Name); err == nil {
		return m, true, nil
	}
	if len(m.Multiscales) == 0 && !m.elsewhere() {
		return m, false, fmt.Errorf("the folder has no %s, %s or %s with multiscales: %w", v3Name, v2Name, v2Attributes, fs.ErrNotExist)
	}
	return m, false, nil
}

// elsewhere reports that the group contains no picture itself, only subgroups with pictures.
func (m *metadata) elsewhere() bool { return m.Plate != nil || m.Well != nil || m.Layout != nil }

// level returns the array of a resolution level and the names and scales of its axes. Level 0 is the finest.
func (m *metadata) level(store fs.FS, number int) (a *array, named axes, scale []float64, err error) {
	if len(m.Multiscales) == 0 {
		return nil, nil, nil, m.nothing()
	}
	s := &m.Multiscales[0]
	if n := len(s.Datasets); n == 0 || n > maxLevels || number >= n {
		return nil, nil, nil, fmt.Errorf("level is %d and the store has %d levels, a level below that number and at most %d levels expected", number, n, maxLevels)
	}
	data := &s.Datasets[number]
	if a, err = openArray(store, path.Clean(data.Path)); err != nil {
		return nil, nil, nil, err
	}
	scale, said := data.Transforms.scale(len(a.shape))
	whole, saidOfAll := s.Transforms.scale(len(a.shape))
	for i := range scale {
		if scale[i] *= whole[i]; !said && !saidOfAll || !(scale[i] > 0) || math.IsInf(scale[i], 0) {
			scale[i] = 0
		}
	}
	return a, s.Axes, scale, nil
}

// nothing returns an error that says which folder may have a picture.
func (m *metadata) nothing() error {
	switch {
	case m.Plate != nil:
		return tiff.Unread("the store is a plate, a field of one of its wells expected: give STORE/A/1/0")
	case m.Well != nil:
		return tiff.Unread("the store is a well, one of its fields expected: give STORE/0")
	case m.Layout != nil:
		return tiff.Unread("the store has several pictures, one expected: give STORE/0")
	}
	return fmt.Errorf("the folder is a group without multiscales, a picture expected: give a subfolder that has a picture: %w", fs.ErrNotExist)
}
