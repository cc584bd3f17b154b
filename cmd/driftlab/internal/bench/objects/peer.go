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

// errNoTrackpy is why no film at all is compared.
var errNoTrackpy = errors.New("python3 needs trackpy: pip install trackpy numba")

// peerLimit is the time that trackpy has for a film with all its settings: 500 objects in 100 frames of 512x512 take it about one minute, so five; what
// has more objects, pixels or frames has as many times as long.
func peerLimit(o field.Options) time.Duration {
	frames, objects, pixels := float64(o.Frames)/100, float64(o.Density)/500, float64(o.Width*o.Height)/(512*512)
	return time.Duration(max(1, frames*max(objects, pixels)) * float64(5*time.Minute))
}

// setting is one of trackpy's grid.
type setting struct {
	Percentile float64 `json:"percentile"`   // of masses, below which features are left out
	Reach      float64 `json:"search_range"` // px
	Predict    bool    `json:"predict"`      // each is expected where the velocity of its nearest takes it
}

// peer is the most that trackpy reaches on films of one kind. Figures are medians over them; the setting is that of the film in the middle by beta.
type peer struct {
	measures
	RMSE   float64 `json:"rmse_px"`   // of isolated spots, an axis
	Locate float64 `json:"locate_ms"` // mean of a frame
	Link   float64 `json:"link_ms"`
	FPS    float64 `json:"fps"`   // frames a second of both
	Times  float64 `json:"times"` // how many times as long both take as ours
	setting
}

// peerFilm is its best on one film.
type peerFilm struct {
	score        tracking.Score
	rmse         float64
	locate, link float64 // ms a frame
	setting      setting
	version      string
}

// measurePeer is trackpy on the films of a kind, nil where it is not asked for or one of them goes wrong. That ends its part, not ours.
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

// trackpy runs it on the film that follow draws of the same options, in the python3 of the path, with every setting, and keeps the best.
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
	if o.Scenario == field.Directed || o.Scenario == field.Receptor { // only these have a velocity to predict from
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

// brightest is the percentile that a feature is brighter than: spots are a larger share of a picture the more there are.
func brightest(o field.Options) int {
	const many = 300.0 / (512 * 512) // objects a pixel
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

// linked is a film with one setting.
type linked struct {
	setting
	Link   float64        `json:"link_ms"`
	Tracks [][][3]float64 `json:"tracks"` // frame, x, y
}

// judgeLinks reads the tracks of all settings and judges them as ours are judged.
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

// isolatedRMSE is that of tracks, as follow takes its own.
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

// printPeer writes the comparison as far as there is one, and why there is no more.
func (f *findings) printPeer(w io.Writer) {
	compared := slices.DeleteFunc(slices.Clone(f.Fields), func(r row) bool { return r.Peer == nil })
	if len(compared) > 0 {
		fmt.Fprintf(w, "\nThe same films by trackpy %s, with the best setting of each, chosen on the truth: no user reaches more with these settings, who does not know it. Ours is by the defaults.\n\n", f.Version)
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
