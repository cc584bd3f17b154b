package evaluation

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/flow/frame"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// Truth holds the true values of the latents, one row per frame that the model encoded. Mu is nil if the truth has no drift.
type Truth struct{ Z, Mu *mat.Dense }

// ReadTruth returns the truth of the frames in seen.
func (c *Options) ReadTruth(ctx context.Context, rec *recording.Recording, seen *Encoded) (*Truth, error) {
	if c.Truth == "centroid" {
		return centroids(ctx, rec, seen)
	}
	file, err := os.Open(c.Truth)
	if err != nil {
		return nil, console.Usage(fmt.Errorf("--truth: %w; give truth.csv or the word centroid", err))
	}
	defer file.Close()
	t, err := ParseTruth(file)
	if err != nil {
		return nil, console.Usage(fmt.Errorf("%s: %w", c.Truth, err))
	}
	rows, _ := t.Z.Dims()
	picked := make([]int, len(seen.Seq))
	for i, k := range seen.Seq {
		if k >= uint64(rows) {
			return nil, console.Usage(fmt.Errorf("%s has %d rows, but %s has a frame %d: they do not belong together", c.Truth, rows, c.Video, k))
		}
		picked[i] = int(k)
	}
	out := &Truth{Z: PickRows(t.Z, picked)}
	if t.Mu != nil {
		out.Mu = PickRows(t.Mu, picked)
	}
	return out, nil
}

// maxTruth is the largest number of rows in a truth file.
const maxTruth = 10_000_000

// ParseTruth reads the columns t, z1..zd and, if present, mu1..mud; one row per frame, in order.
func ParseTruth(r io.Reader) (*Truth, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("no header line (%w): expected t,z1..zd,mu1..mud", err)
	}
	d, k := columns(head, "z"), columns(head, "mu")
	if len(d) == 0 || (len(k) != 0 && len(k) != len(d)) {
		return nil, fmt.Errorf("the header has %d z columns and %d mu columns: expected t,z1..zd and the same number of mu columns or none", len(d), len(k))
	}
	var z, mu []float64
	for line := 2; ; line++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if line > maxTruth {
			return nil, fmt.Errorf("more than %d rows", maxTruth)
		}
		if z, err = appendFields(z, record, d); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if mu, err = appendFields(mu, record, k); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if len(z) == 0 {
		return nil, errors.New("no rows after the header")
	}
	t := &Truth{Z: mat.NewDense(len(z)/len(d), len(d), z)}
	if len(mu) > 0 {
		t.Mu = mat.NewDense(len(mu)/len(k), len(k), mu)
	}
	return t, nil
}

// columns finds name1, name2, ... in a header, in order.
func columns(head []string, name string) []int {
	var at []int
	for i := range head {
		for j, h := range head {
			if strings.TrimSpace(h) == name+strconv.Itoa(i+1) {
				at = append(at, j)
			}
		}
	}
	return at
}

func appendFields(dst []float64, record []string, at []int) ([]float64, error) {
	for _, j := range at {
		v, err := strconv.ParseFloat(strings.TrimSpace(record[j]), 64)
		if err != nil {
			return dst, fmt.Errorf("found %q, expected a number", record[j])
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// centroids returns the object's intensity centroid in pixels of the raw frames, found by a two-pass search in each trajectory.
func centroids(ctx context.Context, rec *recording.Recording, seen *Encoded) (*Truth, error) {
	var pictures [][]float32
	var width, height int
	if _, err := rec.Each(ctx, nil, func(f *frame.Frame) error {
		if err := frame.Centroids.Check(f.Mat().Cols(), f.Mat().Rows()); err != nil {
			return fmt.Errorf("%s: %w", rec.Arg, err)
		}
		g, err := recording.Grey(f)
		pictures, width, height = append(pictures, g.Pixels), g.Width, g.Height
		return err
	}); err != nil {
		return nil, err
	}
	if len(pictures) != len(seen.Seq) {
		return nil, fmt.Errorf("%s had %d frames, then %d: it changed while it was read", rec.Arg, len(seen.Seq), len(pictures))
	}
	t := &Truth{Z: mat.NewDense(len(pictures), 2, nil)}
	for _, film := range Films(seen.Trajectory) {
		from := film[0]
		places, err := recording.Track(pictures[from:from+len(film)], width, height)
		if err != nil {
			return nil, fmt.Errorf("%s, from frame %d: %w", rec.Arg, seen.Seq[from], err)
		}
		for i, p := range places {
			t.Z.SetRow(from+i, []float64{p.X, p.Y})
		}
	}
	return t, nil
}
