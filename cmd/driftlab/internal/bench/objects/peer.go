package objects

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/ingest/sim/field"
	"driftscope/internal/job/evaluation/tracking"
	"driftscope/internal/kit/console"
)

//go:embed peers/trackpy_film.py
var trackpyFilm string

// errNoTrackpy is the reason if no film is compared.
var errNoTrackpy = errors.New("python3 needs trackpy: pip install trackpy numba")

// peerLimit is trackpy's time limit for a film with all its settings. 500 objects in 100 frames of 512x512 take about one
// minute, so the limit is five; it grows in proportion to objects, pixels and frames.
func peerLimit(o field.Options) time.Duration {
	frames, objects, pixels := float64(o.Frames)/100, float64(o.Density)/500, float64(o.Width*o.Height)/(512*512)
	return time.Duration(max(1, frames*max(objects, pixels)) * float64(5*time.Minute))
}

// setting is one point of trackpy's parameter grid.
type setting struct {
	Percentile float64 `json:"percentile"`   // of masses; fainter features are dropped
	Reach      float64 `json:"search_range"` // px
	Predict    bool    `json:"predict"`      // predict positions with the nearest neighbour's velocity
}

// peer is trackpy's best result on films of one kind. Figures are medians over films; the setting comes from the film with
// the median beta.
type peer struct {
	measures
	RMSE   float64 `json:"rmse_px"`   // isolated spots, per axis
	Locate float64 `json:"locate_ms"` // mean per frame
	Link   float64 `json:"link_ms"`
	FPS    float64 `json:"fps"`   // frames per second of both
	Times  float64 `json:"times"` // ratio of both times to ours
	setting
}

// peerFilm is trackpy's best result on one film.
type peerFilm struct {
	score        tracking.Score
	rmse         float64
	locate, link float64 // ms per frame
	setting      setting
	version      string
}

// measurePeer measures trackpy on the films of a kind. It returns nil if not requested or if a film fails, which ends only
// its part.
func (c *Command) measurePeer(ctx context.Context, found *findings, o field.Options) (*peer, error) {
	if !c.Peer || found.Missing != "" {
		return nil, nil
	}
	var films []peerFilm
	for seed := range c.Seeds {
		o.Seed = uint64(seed + 1)
		film, err := trackpy(ctx, o, peerLimit(o))
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errNoTrackpy):
			found.Missing = err.Error()
			console.Warn("no comparison: %v", err)
			return nil, nil
		case err != nil:
			console.Warn("%s, %d objects, SNR %g, seed %d: no figures of trackpy: %v", o.Scenario, o.Density, o.SNR, o.Seed, err)
			return nil, nil
		}
		films, found.Version = append(films, film), film.version
	}
	return overFilms(films), nil
}

func overFilms(films []peerFilm) *peer {
	of := func(value func(peerFilm) float64) float64 {
		v := make([]float64, len(films))
		for i, f := range films {
			v[i] = value(f)
		}
		return bench.Median(v)
	}
	scores := make([]tracking.Score, len(films))
	for i, f := range films {
		scores[i] = f.score
	}
	byBeta := slices.SortedFunc(slices.Values(films), func(a, b peerFilm) int { return cmp.Compare(a.score.Beta, b.score.Beta) })
	return &peer{
		measures: medians(scores), setting: byBeta[(len(byBeta)-1)/2].setting,
		RMSE:   of(func(f peerFilm) float64 { return f.rmse }),
		Locate: of(func(f peerFilm) float64 { return f.locate }),
		Link:   of(func(f peerFilm) float64 { return f.link }),
		FPS:    of(func(f peerFilm) float64 { return 1e3 / (f.locate + f.link) }),
	}
}

// trackpy runs trackpy with every setting on the film that follow draws for these options, in the python3 of the path, and
// keeps the best.
func trackpy(ctx context.Context, o field.Options, limit time.Duration) (best peerFilm, err error) {
	f, err := field.New(o)
	if err != nil {
		return best, err
	}
	folder, err := os.MkdirTemp("", "driftscope-film-*")
	if err != nil {
		return best, err
	}
	defer os.RemoveAll(folder)
	film, links := filepath.Join(folder, "film.raw"), filepath.Join(folder, "links.jsonl")
	if err := record(f, o, film); err != nil {
		return best, err
	}
	predict := "0"
	if o.Scenario == field.Directed || o.Scenario == field.Receptor { // only these have a predictable velocity
		predict = "1"
	}
	p := bench.Contender{Program: "python3", Script: trackpyFilm, Threads: 1, Limit: limit, Args: []string{"-", film, strconv.Itoa(o.Width), strconv.Itoa(brightest(o)), predict, links}}
	var told struct {
		Version string  `json:"version"`
		Locate  float64 `json:"locate_ms"`
	}
	err = p.Run(ctx, &told)
	switch {
	case err != nil && (errors.Is(err, exec.ErrNotFound) || strings.Contains(err.Error(), "No module named")):
		return best, fmt.Errorf("%w: %w", errNoTrackpy, err)
	case err != nil:
		return best, err
	case !(told.Locate > 0):
		return best, fmt.Errorf("python3 printed %+v, expected positive figures", told)
	}
	best, err = judgeLinks(f, o, links)
	best.locate, best.version = told.Locate, told.Version
	return best, err
}

// brightest returns the percentile below the features: more spots cover a larger fraction of a picture.
func brightest(o field.Options) int {
	const many = 300.0 / (512 * 512) // objects per pixel
	if float64(o.Density) < many*float64(o.Width*o.Height) {
		return 98
	}
	return 94
}

// record writes a field's frames, counts of 16 bits, little-endian.
func record(f *field.Field, o field.Options, path string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w, counts := bufio.NewWriter(file), make([]uint16, o.Width*o.Height)
	for frame := range o.Frames {
		f.Draw(frame, counts)
		if err := binary.Write(w, binary.LittleEndian, counts); err != nil {
			return err
		}
	}
	return w.Flush()
}

// linked is the result for one setting on a film.
type linked struct {
	setting
	Link   float64        `json:"link_ms"`
	Tracks [][][3]float64 `json:"tracks"` // frame, x, y
}

// judgeLinks reads the tracks of all settings and judges them by our own rules.
func judgeLinks(f *field.Field, o field.Options, path string) (best peerFilm, err error) {
	file, err := os.Open(path)
	if err != nil {
		return best, err
	}
	defer file.Close()
	truth, some := truths(f), false
	for lines := json.NewDecoder(bufio.NewReader(file)); ; {
		var l linked
		if err := lines.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return best, fmt.Errorf("trackpy's tracks: %w", err)
		}
		found, err := l.tracks(o.Frames)
		if err != nil {
			return best, err
		}
		if score := tracking.Judge(truth, found); !some || score.Beta > best.score.Beta {
			some, best = true, peerFilm{score: score, rmse: isolatedRMSE(f, o.Frames, found), link: l.Link, setting: l.setting}
		}
	}
	if !some {
		return best, errors.New("trackpy linked it with none of its settings: give fewer objects, with --density")
	}
	return best, nil
}

func (l *linked) tracks(frames int) ([][]tracking.Point, error) {
	all := make([][]tracking.Point, len(l.Tracks))
	for i, track := range l.Tracks {
		for _, p := range track {
			if !(p[0] >= 0 && p[0] < float64(frames)) || p[0] != math.Trunc(p[0]) {
				return nil, fmt.Errorf("trackpy's tracks: found frame %g, expected one of %d", p[0], frames)
			}
			all[i] = append(all[i], tracking.Point{Frame: int(p[0]), X: p[1], Y: p[2]})
		}
	}
	return all, nil
}

// isolatedRMSE returns the error of isolated spots in tracks, as follow computes it.
func isolatedRMSE(f *field.Field, frames int, found [][]tracking.Point) float64 {
	at := make([][]tracking.Point, frames)
	for _, track := range found {
		for _, p := range track {
			at[p.Frame] = append(at[p.Frame], p)
		}
	}
	var errs isolated
	for frame, places := range at {
		errs.add(lit(f.At(frame)), places)
	}
	return errs.rmse()
}

// printPeer prints the comparison, or why it is missing.
func (f *findings) printPeer(w io.Writer) {
	compared := slices.DeleteFunc(slices.Clone(f.Fields), func(r row) bool { return r.Peer == nil })
	if len(compared) > 0 {
		fmt.Fprintf(w, "\nThe same films by trackpy %s, with the best setting of each, chosen with the truth: users without the truth reach less. Ours uses the defaults.\n\n", f.Version)
		fmt.Fprintln(w, "| scenario | size | objects | SNR | our beta | its beta | alpha | JSC | JSCT | RMSE, px | locate, ms | link, ms | frames/s | times our locate + track | mass percentile | range, px | predicts |")
		fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	}
	for _, r := range compared {
		p, predicts := r.Peer, "no"
		if p.Predict {
			predicts = "yes"
		}
		fmt.Fprintf(w, "| %s | %d | %d | %g | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.2f | %.2f | %.0f | %.1f | %g | %g | %s |\n", r.Scenario, r.Size, r.Density, r.SNR, r.Beta, p.Beta, p.Alpha, p.JSC, p.JSCT,
			p.RMSE, p.Locate, p.Link, p.FPS, p.Times, p.Percentile, p.Reach, predicts)
	}
	if f.Missing != "" {
		fmt.Fprintf(w, "\nNo comparison with trackpy: %s.\n", f.Missing)
	}
}
