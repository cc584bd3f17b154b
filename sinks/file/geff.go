package file

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"driftscope/ingest/zarr"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/system"
)

// graphOptions holds the option of a sink that writes one graph of tracks.
type graphOptions struct {
	Path string `yaml:"path" reaches:"write"`
}

// check refuses an existing path. It does not delete the folder or file of a killed run, because another run may be writing it.
func (o *graphOptions) check(example string) error {
	if o.Path == "" {
		return fmt.Errorf("path is missing: give the file to write, such as %s", example)
	}
	for path, fix := range map[string]string{o.Path: "give another path", o.Path + partial: "another run is writing it, or was killed while writing it: delete it, or give another path"} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s: exists already: %s", path, fix)
		}
	}
	return nil
}

// GEFF writes tracks as a graph in the graph exchange file format 1.2 (https://liveimagetrackingtools.org/geff): a Zarr v2 group whose nodes are positions and
// whose edges join the positions of a track in order. A further group, tracks, has a row per ended track. Positions reach the disk in chunks of zarr.ChunkRows;
// the name ends in .partial until Close.
type GEFF struct {
	path, folder, stream string
	log                  *slog.Logger
	places               places
	add                  func(*node) error // s.node, stored because a method value per frame would allocate
	last                 map[uint64]end    // ends of the unfinished tracks, by number
	nodes, late          uint64
	pixel                float64 // µm; 0 if unknown

	ids, edges *zarr.Rows
	link       prop[*node]
	of         []prop[*node]
	tracks     []prop[*latent.Track]
	all        []*zarr.Rows

	tried time.Time
	fault error
}

// end is the last position of a track.
type end struct{ frame, node uint64 }

// prop is a property of nodes, edges or tracks. put adds a value to r. If the value is unknown, it adds a dummy and returns false.
type prop[T any] struct {
	name, unit, about, dtype string
	inner                    []int
	put                      func(r *zarr.Rows, of T) bool
	values, missing          *zarr.Rows
}

// GEFFVersion is the version of the format.
const GEFFVersion = "1.2.0"

// NewGEFF creates the folder. decode fills the option path.
func NewGEFF(decode func(any) error, stream string, log *slog.Logger) (*GEFF, error) {
	var o graphOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := o.check("tracks.geff"); err != nil {
		return nil, err
	}
	s := &GEFF{path: o.Path, folder: o.Path + partial, stream: stream, log: log, last: map[uint64]end{}}
	s.add = s.node
	if err := os.Mkdir(s.folder, 0o755); err != nil {
		return nil, fmt.Errorf("%w: check the folder and its permissions", err)
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.folder))
	}
	return s, nil
}

// number returns a property with one number. A number that is not finite counts as missing.
func number[T any](name, unit, about string, of func(T) float64) prop[T] {
	return prop[T]{name: name, unit: unit, about: about, dtype: zarr.Float8, put: func(r *zarr.Rows, t T) bool {
		v := of(t)
		known := v-v == 0
		if !known {
			v = 0
		}
		r.Floats(v)
		return known
	}}
}

func whole[T any](name, unit, about string, of func(T) uint64) prop[T] {
	return prop[T]{name: name, unit: unit, about: about, dtype: zarr.Whole8, put: func(r *zarr.Rows, t T) bool { r.Whole(of(t)); return true }}
}

// begin makes all arrays except those of latents, because the first position determines their number.
func (s *GEFF) begin() (err error) {
	s.of = []prop[*node]{
		whole("t", "frame", "number of the frame", func(n *node) uint64 { return n.frame }),
		number("y", "pixel", "place of the track; whole numbers at pixels' centres", func(n *node) float64 { return n.y }),
		number("x", "pixel", "the same", func(n *node) float64 { return n.x }),
		whole("particle", "", "number of the track", func(n *node) uint64 { return n.particle }),
		{name: "covariance", unit: "pixel^2", about: "of the place, along y and x", dtype: zarr.Float8, inner: []int{2, 2}, put: func(r *zarr.Rows, n *node) bool {
			v := n.sd * n.sd
			known := v-v == 0
			if !known {
				v = 0
			}
			r.Floats(v, 0, 0, v)
			return known
		}},
		number("time", "second", "when the frame was taken, since 1970", (*node).seconds),
		number("y_located", "pixel", "detection without the track; y where located is 0", func(n *node) float64 { return n.yLocated }),
		number("x_located", "pixel", "the same", func(n *node) float64 { return n.xLocated }),
		{name: "located", about: "y_located and x_located are a detection", dtype: zarr.Flag1, put: func(r *zarr.Rows, n *node) bool { r.Flag(n.located); return true }},
		{name: "filled", about: "not detected here, but before and after", dtype: zarr.Flag1, put: func(r *zarr.Rows, n *node) bool { r.Flag(n.filled); return true }},
		number("diffusion", "pixel^2/second", "coefficient of diffusion so far", func(n *node) float64 { return n.d }),
		number("light", "grey value", "bright parts above dark ones", func(n *node) float64 { return n.light }),
		{name: "state", about: "likeliest state of the population's law, from 0", dtype: zarr.Short2, put: likeliest},
	}
	s.link = number("p_link", "", "probability that the link is right", func(n *node) float64 { return n.link })
	track := func(name, unit, about string, of func(*latent.Track) float64) {
		s.tracks = append(s.tracks, number(name, unit, about, of))
	}
	s.tracks = append(s.tracks, whole("particle", "", "number of the track", func(t *latent.Track) uint64 { return t.ID }))
	track("diffusion", "pixel^2/second", "coefficient of diffusion", func(t *latent.Track) float64 { return t.Px.D })
	track("diffusion_low", "pixel^2/second", "lower end of its 95 % interval", func(t *latent.Track) float64 { return t.Px.Low })
	track("diffusion_high", "pixel^2/second", "upper end", func(t *latent.Track) float64 { return t.Px.High })
	if s.ids, err = s.array("nodes/ids", zarr.Whole8); err == nil {
		s.edges, err = s.array("edges/ids", zarr.Whole8, 2)
	}
	return errors.Join(err, made(s, "nodes", s.of), made(s, "edges", []prop[*node]{s.link}, &s.link), made(s, "tracks", s.tracks))
}

// made makes the arrays of properties, and copies the properties into the targets in into.
func made[T any](s *GEFF, of string, props []prop[T], into ...*prop[T]) (err error) {
	for i := range props {
		p := &props[i]
		folder := of + "/props/" + p.name
		if p.values, err = s.array(folder+"/values", p.dtype, p.inner...); err != nil {
			return err
		}
		if of != "tracks" && (p.name == "t" || p.name == "y" || p.name == "x") {
			continue // axes have no missing values
		}
		if p.missing, err = s.array(folder+"/missing", zarr.Flag1); err != nil {
			return err
		}
		if i < len(into) {
			*into[i] = *p
		}
	}
	return nil
}

func (s *GEFF) array(name, dtype string, inner ...int) (*zarr.Rows, error) {
	r, err := zarr.NewRows(filepath.Join(s.folder, filepath.FromSlash(name)), dtype, inner...)
	if err == nil {
		s.all = append(s.all, r)
	}
	return r, err
}

func (p *prop[T]) add(of T) {
	known := p.put(p.values, of)
	if p.missing != nil {
		p.missing.Flag(!known)
	}
}

// likeliest adds the state with the largest probability.
func likeliest(r *zarr.Rows, n *node) bool {
	best, at := 0., -1
	for k, p := range n.state {
		if p > best {
			best, at = p, k
		}
	}
	r.Short(int16(max(at, 0)))
	return at >= 0
}

// Write adds m's positions, or the row of an ended track.
func (s *GEFF) Write(_ context.Context, m latent.Message) error {
	if s.fault != nil && time.Since(s.tried) < tryEvery {
		return s.fault
	}
	if err := s.flush(); err != nil {
		return err
	}
	switch m := m.(type) {
	case *latent.Estimate:
		if m.Objects != nil {
			s.pixel = m.Objects.PixelUM
		}
		return s.places.each(m, s.add)
	case *latent.Track:
		if m.Change == latent.Ended {
			delete(s.last, m.ID)
			for i := range s.tracks {
				s.tracks[i].add(m)
			}
		}
	}
	return nil
}

// flush writes full chunks. While the disk fails it returns Undelivered.
func (s *GEFF) flush() error {
	s.fault = nil
	for _, r := range s.all {
		if err := r.Flush(); err != nil {
			s.tried, s.fault = time.Now(), latent.Undelivered{Cause: fmt.Errorf("%w: messages are lost until the file can be written: free space, or check the disk", err)}
			return s.fault
		}
	}
	return nil
}

// node adds a position and the edge from the previous position of its track. It omits a position that arrives after a later one of the same track.
func (s *GEFF) node(n *node) error {
	if s.nodes == 0 {
		if err := s.latents(len(n.z)); err != nil {
			return err
		}
	}
	before, known := s.last[n.particle]
	if known && before.frame >= n.frame {
		s.late++
		return nil
	}
	s.ids.Whole(s.nodes)
	for i := range s.of {
		s.of[i].add(n)
	}
	if known {
		s.edges.Whole(before.node, s.nodes)
		s.link.add(n)
	}
	s.last[n.particle] = end{n.frame, s.nodes}
	s.nodes++
	return nil
}

// latents makes the arrays of d latents, if d is not 0. A position without latents gets NaN.
func (s *GEFF) latents(d int) error {
	if d == 0 {
		return nil
	}
	column := func(name, about string, of func(*node) []float64) prop[*node] {
		return prop[*node]{name: name, about: about, dtype: zarr.Float8, inner: []int{d}, put: func(r *zarr.Rows, n *node) bool {
			v := of(n)
			known := len(v) == d && v[0] == v[0]
			for k := range d {
				if known {
					r.Floats(v[k])
				} else {
					r.Floats(0)
				}
			}
			return known
		}}
	}
	more := []prop[*node]{
		column("z", "latents; of bodies: area px^2, standard deviations along and across the axis px, angle rad", func(n *node) []float64 { return n.z }),
		column("z_sd", "standard deviations of z", func(n *node) []float64 { return n.zSD }),
	}
	err := made(s, "nodes", more)
	s.of = append(s.of, more...)
	return err
}

// Close writes the rest and the metadata, and gives the folder its final name.
func (s *GEFF) Close(context.Context) error {
	var errs []error
	for _, r := range s.all {
		errs = append(errs, r.Close())
	}
	group := func(name string, attributes any) {
		errs = append(errs, zarr.Group(filepath.Join(s.folder, filepath.FromSlash(name)), attributes))
	}
	for _, name := range []string{"nodes", "nodes/props", "edges", "edges/props", "edges/props/p_link", "tracks", "tracks/props"} {
		group(name, nil)
	}
	for _, p := range s.of {
		group("nodes/props/"+p.name, nil)
	}
	for _, p := range s.tracks {
		group("tracks/props/"+p.name, nil)
	}
	group("", map[string]any{"geff": s.metadata()})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %s does not contain the records that could not be written", err, s.folder)
	}
	if err := system.Rename(s.folder, s.path); err != nil {
		return err
	}
	return s.places.lost(s.path, s.late, s.log)
}

// lost reports the positions that the file does not contain.
func (p *places) lost(path string, late uint64, log *slog.Logger) error {
	if p.homeless > 0 {
		log.Warn("frames without a position are not in the file", "frames", p.homeless, "path", path)
	}
	if late > 0 {
		return fmt.Errorf("%s: %d positions arrived after later ones of their track, and are left out: please report this", path, late)
	}
	return nil
}

// metadata returns the value of the key geff, according to the published schema.
func (s *GEFF) metadata() map[string]any {
	space := func(name string) map[string]any {
		a := map[string]any{"name": name, "type": "space", "unit": "pixel"}
		if s.pixel > 0 {
			a["scale"], a["scaled_unit"] = s.pixel, "micrometer"
		}
		return a
	}
	return map[string]any{
		"geff_version": GEFFVersion, "directed": true,
		"axes":                []any{map[string]any{"name": "t", "type": "time", "unit": "frame"}, space("y"), space("x")},
		"node_props_metadata": described(s.of), "edge_props_metadata": described([]prop[*node]{s.link}),
		"ellipsoid": "covariance", "track_node_props": map[string]string{"tracklet": "particle", "lineage": "particle"},
		"display_hints": map[string]string{"display_horizontal": "x", "display_vertical": "y", "display_time": "t"},
		"extra":         map[string]any{"driftscope": map[string]any{"stream": s.stream, "tracks": "tracks/props", "track_props_metadata": described(s.tracks)}},
	}
}

// described returns the metadata of properties.
func described[T any](props []prop[T]) map[string]any {
	names := map[string]string{zarr.Whole8: "uint64", zarr.Float8: "float64", zarr.Short2: "int16", zarr.Flag1: "bool"}
	all := map[string]any{}
	for _, p := range props {
		m := map[string]any{"identifier": p.name, "dtype": names[p.dtype], "varlength": false, "description": p.about}
		if p.unit != "" {
			m["unit"] = p.unit
		}
		all[p.name] = m
	}
	return all
}
