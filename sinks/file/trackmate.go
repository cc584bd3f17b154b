package file

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/system"
)

// MostSpots is the largest number of spots in a TrackMate file. The file is made in memory and then takes 400 MB.
const MostSpots = 4_000_000

// TrackMate writes tracks as the XML of Fiji's TrackMate 7. In the file, all spots come before the tracks, so only Close writes the file.
type TrackMate struct {
	path   string
	held   *os.File // the file whose name ends in .partial
	log    *slog.Logger
	places places
	add    func(*node) error

	spots         []node // without latents and states
	over          uint64 // number of spots beyond MostSpots
	ends          map[uint64]latent.Range
	width, height int
	pixel, radius float64 // µm, 0 if unknown; px
}

// NewTrackMate reserves the name of the file. decode fills the option path.
func NewTrackMate(decode func(any) error, log *slog.Logger) (*TrackMate, error) {
	var o graphOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := o.check("tracks.xml"); err != nil {
		return nil, err
	}
	held, err := system.Create(o.Path+partial, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%w: check the folder and its permissions", err)
	}
	s := &TrackMate{path: o.Path, held: held, log: log, ends: map[uint64]latent.Range{}, radius: 2}
	s.add = s.spot
	return s, nil
}

// Write stores m's positions.
func (s *TrackMate) Write(_ context.Context, m latent.Message) error {
	switch m := m.(type) {
	case *latent.Estimate:
		if o := m.Objects; o != nil {
			s.width, s.height, s.pixel = o.Width, o.Height, o.PixelUM
		}
		return s.places.each(m, s.add)
	case *latent.Track:
		if m.Change == latent.Ended && s.over == 0 {
			s.ends[m.ID] = m.Px
		}
	case *latent.Population:
		if m.Template > 0 {
			s.radius = 2 * m.Template
		}
	}
	return nil
}

func (s *TrackMate) spot(n *node) error {
	if len(s.spots) == MostSpots {
		s.over++
		return nil
	}
	s.spots = append(s.spots, *n)
	k := &s.spots[len(s.spots)-1]
	k.z, k.zSD, k.state = nil, nil, nil
	return nil
}

// Close writes the file.
func (s *TrackMate) Close(context.Context) error {
	w := bufio.NewWriterSize(s.held, 1<<16)
	s.write(w)
	err := w.Flush()
	if err == nil {
		err = s.held.Sync()
	}
	if err = errors.Join(err, s.held.Close()); err != nil {
		return errors.Join(fmt.Errorf("%w: its %d spots are lost", err, len(s.spots)), os.Remove(s.path+partial))
	}
	if err := system.Rename(s.path+partial, s.path); err != nil {
		return err
	}
	if s.over > 0 {
		err = fmt.Errorf("%s: contains the first %d spots, the most that a file can have, and lacks %d more: write a .geff, .parquet or .csv", s.path, MostSpots, s.over)
	}
	return errors.Join(err, s.places.lost(s.path, 0, s.log))
}

// features lists the declared features of spots, edges and tracks: key, name, dimension, and whether values are whole numbers.
var features = []struct {
	of   string
	list [][4]string
}{
	{"SpotFeatures", [][4]string{{"QUALITY", "Quality", "QUALITY", "false"}, {"POSITION_X", "X", "POSITION", "false"}, {"POSITION_Y", "Y", "POSITION", "false"}, {"POSITION_Z", "Z", "POSITION", "false"},
		{"POSITION_T", "T", "TIME", "false"}, {"FRAME", "Frame", "NONE", "true"}, {"RADIUS", "Radius", "LENGTH", "false"}, {"VISIBILITY", "Visibility", "NONE", "true"},
		{"PLACE_SD", "Standard deviation of the place", "LENGTH", "false"}, {"DETECTED", "Detected", "NONE", "true"}}},
	{"EdgeFeatures", [][4]string{{"SPOT_SOURCE_ID", "Source spot ID", "NONE", "true"}, {"SPOT_TARGET_ID", "Target spot ID", "NONE", "true"}, {"LINK_COST", "Edge cost", "COST", "false"}}},
	{"TrackFeatures", [][4]string{{"TRACK_INDEX", "Track index", "NONE", "true"}, {"TRACK_ID", "Track ID", "NONE", "true"}, {"NUMBER_SPOTS", "Number of spots in track", "NONE", "true"},
		{"DIFFUSION", "Diffusion", "NONE", "false"}, {"DIFFUSION_LOW", "Diffusion, lower end of 95 %", "NONE", "false"}, {"DIFFUSION_HIGH", "Diffusion, upper end of 95 %", "NONE", "false"}}},
}

// write writes the XML. The writer keeps the first error.
func (s *TrackMate) write(w io.Writer) {
	unit, scale := "pixel", 1.
	if s.pixel > 0 {
		unit, scale = "micron", s.pixel
	}
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TrackMate version=\"7.11.1\">\n<Model spatialunits=%q timeunits=\"sec\">\n<FeatureDeclarations>\n", unit)
	for _, f := range features {
		fmt.Fprintf(w, "<%s>\n", f.of)
		for _, d := range f.list {
			fmt.Fprintf(w, "<Feature feature=%q name=%q shortname=%q dimension=%q isint=%q/>\n", d[0], d[1], d[1], d[2], d[3])
		}
		fmt.Fprintf(w, "</%s>\n", f.of)
	}
	fmt.Fprintf(w, "</FeatureDeclarations>\n<AllSpots nspots=\"%d\">\n", len(s.spots))
	frames, interval := s.inFrames(w, scale)
	io.WriteString(w, "</AllSpots>\n<AllTracks>\n")
	tracks := s.inTracks(w, scale*scale)
	io.WriteString(w, "</AllTracks>\n<FilteredTracks>\n")
	for k := range tracks { // all of these have an edge
		fmt.Fprintf(w, "<TrackID TRACK_ID=\"%d\"/>\n", k)
	}
	fmt.Fprintf(w, "</FilteredTracks>\n</Model>\n<Settings>\n<ImageData filename=\"\" folder=\"\" width=\"%d\" height=\"%d\" nslices=\"1\" nframes=\"%d\" pixelwidth=%q pixelheight=%[4]q voxeldepth=\"1.0\" timeinterval=%[5]q/>\n",
		s.width, s.height, frames, exact(scale), exact(interval))
	io.WriteString(w, "<InitialSpotFilter feature=\"QUALITY\" value=\"0.0\" isabove=\"true\"/>\n<SpotFilterCollection/>\n<TrackFilterCollection/>\n</Settings>\n<GUIState state=\"ConfigureViews\"/>\n</TrackMate>\n")
}

// inFrames writes the spots, sorted by frame. The number of a spot is its index. It returns the number of frames and their mean interval in seconds.
func (s *TrackMate) inFrames(w io.Writer, scale float64) (frames uint64, interval float64) {
	slices.SortStableFunc(s.spots, func(a, b node) int { return cmp.Or(cmp.Compare(a.frame, b.frame), cmp.Compare(a.particle, b.particle)) })
	interval = 1
	if len(s.spots) > 0 {
		first, last := &s.spots[0], &s.spots[len(s.spots)-1]
		if last.at > first.at && first.at > 0 {
			interval = float64(last.at-first.at) / 1e9 / float64(last.frame-first.frame)
		}
		frames = last.frame + 1
	}
	for i := range s.spots {
		n := &s.spots[i]
		if i == 0 || n.frame != s.spots[i-1].frame {
			if i > 0 {
				io.WriteString(w, "</SpotsInFrame>\n")
			}
			fmt.Fprintf(w, "<SpotsInFrame frame=\"%d\">\n", n.frame)
		}
		fmt.Fprintf(w, "<Spot ID=\"%d\" name=\"%d\" QUALITY=%q POSITION_X=%q POSITION_Y=%q POSITION_Z=\"0.0\" POSITION_T=%q FRAME=\"%d\" RADIUS=%q VISIBILITY=\"1\" PLACE_SD=%q DETECTED=\"%d\"/>\n",
			i, n.particle, exact(1-n.doubt), exact(scale*n.x), exact(scale*n.y), exact(interval*float64(n.frame)), n.frame, exact(scale*s.radius), exact(scale*n.sd), detected(n))
	}
	if len(s.spots) > 0 {
		io.WriteString(w, "</SpotsInFrame>\n")
	}
	return frames, interval
}

// inTracks writes the tracks that have an edge, and returns their number. area is the area of a pixel.
func (s *TrackMate) inTracks(w io.Writer, area float64) (tracks int) {
	order := make([]int, len(s.spots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.spots[a].particle, s.spots[b].particle) })
	for from := 0; from < len(order); {
		to, id := from+1, s.spots[order[from]].particle
		for to < len(order) && s.spots[order[to]].particle == id {
			to++
		}
		if track := order[from:to]; len(track) > 1 {
			fmt.Fprintf(w, "<Track name=\"Track_%d\" TRACK_ID=\"%d\" TRACK_INDEX=\"%[2]d\" NUMBER_SPOTS=\"%[3]d\"", id, tracks, len(track))
			if d, ok := s.ends[id]; ok {
				fmt.Fprintf(w, " DIFFUSION=%q DIFFUSION_LOW=%q DIFFUSION_HIGH=%q", exact(area*d.D), exact(area*d.Low), exact(area*d.High))
			}
			io.WriteString(w, ">\n")
			for k := 1; k < len(track); k++ {
				fmt.Fprintf(w, "<Edge SPOT_SOURCE_ID=\"%d\" SPOT_TARGET_ID=\"%d\" LINK_COST=%q/>\n", track[k-1], track[k], exact(1-s.spots[track[k]].link))
			}
			io.WriteString(w, "</Track>\n")
			tracks++
		}
		from = to
	}
	return tracks
}

func detected(n *node) int {
	if n.filled {
		return 0
	}
	return 1
}

// exact formats a number without loss. TrackMate reads NaN as unknown.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
