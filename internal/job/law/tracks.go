package law

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"driftscope/internal/flow/latent"
	"driftscope/internal/job/evaluation/tracking"
	"driftscope/online/exact"
	"driftscope/online/states"
)

// MaxTracks bounds the tracks used for a law. Their likelihoods over a grid take 150 MB.
const MaxTracks = 100_000

// columns lists optional columns in tables of run: the marks, the detected position, whether there is one, and the probability of the link. In these
// tables x and y are smoothed by tracking, so a D from them would be too small.
var columns = []string{"marks", "x_located", "y_located", "located", "p_link"}

// track holds the positions of one object, with its number in the table.
type track struct {
	number int64
	points []tracking.Point
}

// read returns the tracks of a table, in the order of their numbers. It drops and counts positions that a table of run marks as not detected. If certain is
// above 0, read cuts tracks at less probable links, and counts the cuts.
func read(path string, as map[string]string, certain float64) (tracks []track, left, cuts int, err error) {
	byNumber, cut := map[int64][]tracking.Point{}, map[int64]map[int]bool{}
	err = tracking.RowsWith(path, as, columns, func(particle int64, at tracking.Point, values []string, absent []bool) error {
		detected, err := locate(&at, values, absent)
		if err != nil {
			return err
		}
		if !detected || at.Dark {
			left++
			return nil
		}
		doubtful, err := uncertain(values[4], absent[4], certain)
		if err != nil {
			return err
		}
		if doubtful {
			if cut[particle] == nil {
				cut[particle] = map[int]bool{}
			}
			cut[particle][at.Frame] = true
		}
		byNumber[particle] = append(byNumber[particle], at)
		return nil
	})
	if err != nil {
		return nil, 0, 0, err
	}
	inOrder, err := tracking.InOrder(byNumber)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	for i, number := range slices.Sorted(maps.Keys(byNumber)) {
		parts := track{number, inOrder[i]}.cut(cut[number])
		tracks, cuts = append(tracks, parts...), cuts+len(parts)-1
	}
	return tracks, left, cuts, nil
}

// errNoLinks reports --certain without probabilities.
var errNoLinks = errors.New("--certain: the table has no column p_link: give a table of run --objects, or leave --certain out")

// uncertain reports whether the link to a position is less probable than required. An unknown probability is too low.
func uncertain(value string, absent bool, certain float64) (bool, error) {
	switch {
	case certain == 0:
		return false, nil
	case absent:
		return false, errNoLinks
	case value == "":
		return true, nil
	}
	link, err := strconv.ParseFloat(value, 64)
	if err != nil || !(link >= 0 && link <= 1) {
		return false, fmt.Errorf("p_link is %.40q, expected a probability, 0 to 1, or nothing", value)
	}
	return link < certain, nil
}

// cut splits a track before every frame in before.
func (t track) cut(before map[int]bool) (parts []track) {
	from := 0
	for i := range t.points {
		if i > from && before[t.points[i].Frame] {
			parts, from = append(parts, track{t.number, t.points[from:i]}), i
		}
	}
	return append(parts, track{t.number, t.points[from:]})
}

// locate replaces a position by the detected position if the table has one, and reports whether the object was detected.
func locate(at *tracking.Point, values []string, absent []bool) (detected bool, err error) {
	marks, err := marked(values[0])
	if err != nil || marks&(latent.Predicted|latent.Merged) != 0 || values[3] == "false" {
		return false, err
	}
	for i, to := range []*float64{&at.X, &at.Y} { // earlier versions leave them empty if the object was not detected
		if absent[i+1] {
			continue
		}
		if values[i+1] == "" {
			return false, nil
		}
		if *to, err = tracking.Place(values[i+1]); err != nil {
			return false, fmt.Errorf("%s is %w", columns[i+1], err)
		}
	}
	return true, nil
}

// marked parses the marks of a row.
func marked(value string) (latent.Mark, error) {
	if value == "" {
		return 0, nil
	}
	marks, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("marks is %.40q, expected a whole number", value)
	}
	return latent.Mark(marks), nil
}

// moving returns the tracks of more than one position, and counts the others, which have no step.
func moving(tracks []track) (out []track, single int) {
	for _, t := range tracks {
		if len(t.points) > 1 {
			out = append(out, t)
		}
	}
	return out, len(tracks) - len(out)
}

// segments returns the steps of tracks, one segment per track.
func segments(tracks []track, dt, pixel float64) []states.Segment {
	out := make([]states.Segment, len(tracks))
	for k, t := range tracks {
		s := states.Segment{Weight: 1, Steps: make([]states.Step, 0, len(t.points)-1)}
		for i := 1; i < len(t.points); i++ {
			a, b := &t.points[i-1], &t.points[i]
			s.Steps = append(s.Steps, states.Step{X: pixel * (b.X - a.X), Y: pixel * (b.Y - a.Y), DT: dt * float64(b.Frame-a.Frame)})
		}
		out[k] = s
	}
	return out
}

// exactTracks returns the tracks in use, each relative to its first position, without the common motion.
func (f *film) exactTracks() []exact.Track {
	out := make([]exact.Track, len(f.used))
	for i := range f.used {
		points := f.used[i].points
		t := make(exact.Track, len(points))
		t[0].Frame = points[0].Frame
		for k, s := range f.segments[i].Steps {
			t[k+1] = exact.Place{Frame: points[k+1].Frame, X: t[k].X + s.X, Y: t[k].Y + s.Y}
		}
		out[i] = t
	}
	return out
}

// some returns at most most of all, spread evenly over the table.
func some[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	out := make([]T, 0, most)
	for i := range most {
		out = append(out, all[i*len(all)/most])
	}
	return out
}
