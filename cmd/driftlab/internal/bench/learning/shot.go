package learning

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"gocv.io/x/gocv"

	"driftscope/ingest/sim"
	"driftscope/internal/flow/frame"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/recording"
)

// shot is a film with known truth, and the settings for its training and judging.
type shot struct {
	film   sim.Film
	frames int    // of the whole film
	latent string // pretrain's --latent
	train  string // pretrain's --train-frames
	judged evaluation.Options
}

// clean returns the cell's film without a nuisance.
func (c *Command) clean(ctx context.Context, k *cell) (*shot, error) {
	if k.Scene == trapped {
		return c.bead(ctx)
	}
	scene, err := sim.New(k.Scene, sim.Options{Frames: k.Frames, Seed: k.Seed})
	if err != nil {
		return nil, err
	}
	return &shot{film: scene, frames: k.Frames, latent: strconv.Itoa(scene.Dim()), judged: evaluation.Options{Align: "isometry"}}, nil
}

// trapped is the recording of an optically trapped bead (Helgadottir, Argun and Volpe, Optica 6, 506, 2019). Its latents are x, y and focus.
const trapped = "trapped"

// bead reads the recording; the truth is the bead's intensity centroid, px. The frames that fit an affine map never judge it.
func (c *Command) bead(ctx context.Context) (*shot, error) {
	path := filepath.Join(c.Data, "deeptrack-trap-good", "trap-good.mp4")
	film, err := readColour(ctx, path)
	if err != nil {
		return nil, err
	}
	n := len(film.pictures)
	if n <= short {
		return nil, fmt.Errorf("%s: found %d frames, expected %d for training and more for judging: download it again", path, n, short)
	}
	return &shot{film: film, frames: n, latent: "3", train: fmt.Sprintf("0:%d", short),
		judged: evaluation.Options{Align: "affine", FitFrames: fmt.Sprintf("0:%d", short), Frames: fmt.Sprintf("%d:%d", short, n)}}, nil
}

// colourFilm is an 8-bit recording in memory, with an object's centroid as truth.
type colourFilm struct {
	width, height int
	pictures      [][]byte // blue, green, red
	truths        []sim.Truth
	next          int
}

func readColour(ctx context.Context, path string) (*colourFilm, error) {
	rec, err := recording.Open(path, 0, 0, "", recording.Whole)
	if err != nil {
		return nil, err
	}
	f := &colourFilm{}
	var greys [][]float32
	_, err = rec.Each(ctx, nil, func(read *frame.Frame) error {
		m := read.Mat()
		if m.Type() != gocv.MatTypeCV8UC3 {
			return fmt.Errorf("%s, frame %d: the pixels are not 8-bit colours: download it again", path, read.Seq)
		}
		f.width, f.height = m.Cols(), m.Rows()
		f.pictures = append(f.pictures, m.ToBytes())
		f.truths = append(f.truths, sim.Truth{T: recording.Seconds(read), Inside: true})
		grey, err := recording.Grey(read)
		greys = append(greys, grey.Pixels)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(greys) == 0 {
		return nil, fmt.Errorf("%s gave no frame: download it anew", path)
	}
	places, err := recording.Track(greys, f.width, f.height)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, at := range places {
		f.truths[i].Z = []float64{at.X, at.Y}
	}
	return f, nil
}

// Next returns the next frame as recorded.
func (f *colourFilm) Next(dst *sim.Picture) (sim.Truth, error) {
	if f.next == len(f.pictures) {
		return sim.Truth{}, io.EOF
	}
	dst.Format = sim.Format{Width: f.width, Height: f.height, Channels: 3, Depth: sim.Unit}
	dst.F32 = dst.F32[:0]
	for _, v := range f.pictures[f.next] {
		dst.F32 = append(dst.F32, float32(v)/255)
	}
	f.next++
	return f.truths[f.next-1], nil
}
