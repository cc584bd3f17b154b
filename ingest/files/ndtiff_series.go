package files

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"driftscope/ingest/format"
	"driftscope/ingest/tiff"
)

const (
	timeAxis  = "time" // the axis of the frames
	maxValues = 16     // values per axis kept for messages
)

// series picks the images of one channel, position and slice of an NDTiff, in the order of the time axis.
type series struct {
	chosen  map[string]string   // axes that the user named
	fixed   map[string]string   // all axes but time, after the first pick
	values  map[string][]string // a few values seen along each axis
	several bool                // images differ in more than time
	picked  []frameImage        // not taken yet
	last    int                 // time step of the image taken last
}

// frameImage is an image of the series.
type frameImage struct {
	entry tiff.NDEntry
	step  int // along the time axis
}

func newSeries(axes map[string]any) (*series, error) {
	s := &series{chosen: map[string]string{}, values: map[string][]string{}, last: math.MinInt}
	for name, value := range axes {
		switch v := value.(type) {
		case string, int, int64, uint64:
			s.chosen[name] = fmt.Sprint(v)
		default:
			return nil, fmt.Errorf("axes: %s is %v, a whole number or a name expected", name, value)
		}
		if name == timeAxis {
			return nil, fmt.Errorf("axes: %s is the axis of the frames: leave it out", timeAxis)
		}
	}
	return s, nil
}

// add picks the image if it belongs to the series.
func (s *series) add(e tiff.NDEntry) error {
	s.note(e.Axes)
	for name, value := range s.chosen {
		found, there := e.Axes[name]
		if !there {
			return fmt.Errorf("axes: there is no axis %s, the recording has %s: choose from these", name, s)
		}
		if found != value {
			return nil
		}
	}
	step := 0
	if text, timed := e.Axes[timeAxis]; timed {
		var err error
		if step, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("the time axis has the value %.40q, expected a whole number: export the recording as TIFF", text)
		}
	}
	delete(e.Axes, timeAxis)
	if s.fixed == nil {
		s.fixed = e.Axes
	}
	if s.several = s.several || !maps.Equal(s.fixed, e.Axes); s.several {
		return nil
	}
	e.Axes = nil // all images have the same axes
	if n := len(s.picked); n > 0 && s.picked[n-1].entry.File == e.File {
		e.File = s.picked[n-1].entry.File // share one string
	}
	s.picked = append(s.picked, frameImage{e, step})
	return nil
}

// settle sorts the picked images. It returns an error that names the axis if images differ in more than time.
func (s *series) settle() error {
	if s.several {
		return fmt.Errorf("each time has several images, along %s: choose one with axes: {%s}, or on the command line with ndtiff:FOLDER?%s", s, s.example(": ", ", "), s.example("=", "&"))
	}
	if len(s.picked) > tiff.MaxPages {
		return fmt.Errorf("the recording has %d images, at most %d expected: split it", len(s.picked), tiff.MaxPages)
	}
	slices.SortStableFunc(s.picked, func(a, b frameImage) int { return cmp.Compare(a.step, b.step) })
	return nil
}

// take removes the first image. late is true if an image of the same or a later time was taken before.
func (s *series) take() (i frameImage, late bool) {
	i = s.picked[0]
	s.picked = s.picked[1:]
	late = i.step <= s.last
	s.last = max(s.last, i.step)
	return i, late
}

// note adds the image's values to the few that values keeps per axis.
func (s *series) note(axes map[string]string) {
	for name, value := range axes {
		seen := s.values[name]
		if len(seen) <= maxValues && !slices.Contains(seen, value) && (len(s.values) < maxValues || seen != nil) {
			s.values[name] = append(seen, value)
		}
	}
}

// names returns the axes other than time, sorted.
func (s *series) names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.values)), func(name string) bool { return name == timeAxis })
}

// String lists the axes other than time and the values seen, such as channel (DAPI, FITC), z (0, 1, 2).
func (s *series) String() string {
	var axes []string
	for _, name := range s.names() {
		values := slices.SortedFunc(slices.Values(s.values[name]), format.Naturally)
		if len(values) > maxValues {
			values = append(values[:maxValues], "...")
		}
		axes = append(axes, fmt.Sprintf("%.64s (%.256s)", name, strings.Join(values, ", ")))
	}
	if len(axes) == 0 {
		return "no axis"
	}
	return strings.Join(axes, ", ")
}

// example returns a valid choice of axes, as in channel: DAPI, z: 3 or channel=DAPI&z=3.
func (s *series) example(is, and string) string {
	var axes []string
	for _, name := range s.names() {
		axes = append(axes, fmt.Sprintf("%.64s%s%.64s", name, is, s.values[name][0]))
	}
	return strings.Join(axes, and)
}

// NDTiffOptions parses a folder name with options, such as FOLDER?channel=DAPI&z=3.
func NDTiffOptions(text string) (options map[string]any, err error) {
	folder, query, _ := strings.Cut(text, "?")
	chosen, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("ndtiff:%s: %w: give ndtiff:FOLDER?channel=DAPI&z=3", text, err)
	}
	axes := map[string]any{}
	for name, values := range chosen {
		axes[name] = values[0]
	}
	return map[string]any{"path": folder, "axes": axes}, nil
}
