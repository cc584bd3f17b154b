package finder

import (
	"fmt"
	"math"
)

// Level grades the reliability of a result.
type Level string

// The levels, the best first. For Doubtful, String adds the reason and a remedy.
const (
	Good     Level = "good"
	Doubtful Level = "doubtful"
	None     Level = "nothing"
)

// Certainty returns the certainty of the result, 0 to 1. It grows with the objects' strength over the noise, with the gap to weaker blobs, and with the share
// of strong blobs that the objects explain. It is not a calibrated probability.
func (f *Finder) Certainty() float64 {
	if f.Kind == Nothing {
		return 0
	}
	clear := 1 - math.Exp(-max(0, f.Strength/5-.6))*(1-.7*f.Depth)
	sure := clear * min(1, .5+f.Share/1.5)
	if f.Kind == One {
		sure *= min(1, f.Alike/.9)
	}
	return sure
}

// Level returns good, doubtful or nothing.
func (f *Finder) Level() Level {
	switch c := f.Certainty(); {
	case f.Kind == Nothing:
		return None
	case c < doubted || f.Lasting < 1:
		return Doubtful
	}
	return Good
}

// Confirmed reports whether objects were found in enough frames of a film: in half of them, or in four of five if the film has at least three objects.
func (f *Finder) Confirmed(found, frames uint64) bool {
	if f.Count >= 3 {
		return 5*found >= 4*frames
	}
	return 2*found >= frames
}

// Force returns the description with which Learn finds this kind again, or Free for Nothing.
func (f *Finder) Force() Force {
	return [...]Force{Free, ForceOne, ForceOne, ForceMany, ForceMany, ForceBodies}[f.Kind]
}

// Crowd reports whether a film shows more objects than the model of one scene follows.
func (f *Finder) Crowd() bool { return f.Kind == Many || f.Kind == Bodies && f.Count > few }

// String returns one sentence: the content of the film, the certainty, and a remedy if the result is doubtful.
func (f *Finder) String() string {
	if f.Kind == Nothing {
		return "nothing: no object stands out from the noise and the texture of this film: inspect it (driftscope probe FILM --out DIR), or give its kind with --one, --bodies or --objects"
	}
	look := "bright"
	switch {
	case f.Ringed:
		look = "bright and dark"
	case f.Dark:
		look = "dark"
	}
	what := map[Kind]string{
		One:     "one %s object with a look of its own",
		OneBody: "one %s body, followed by its centroid",
		Few:     "a few %s objects",
		Many:    "many %s objects",
		Bodies:  "%s bodies with extent",
	}[f.Kind]
	s := fmt.Sprintf(what, look)
	if f.Kind != One && f.Kind != OneBody {
		s += fmt.Sprintf(", %.0f a frame", f.Count)
	}
	if f.Kind == Bodies {
		s += fmt.Sprintf(", about %.0f px wide", 2*math.Sqrt(f.Area/math.Pi))
	} else {
		s += fmt.Sprintf(", about %.0f px wide", max(1, 2.8*f.Scale))
	}
	if f.Lamp > .02 {
		s += fmt.Sprintf("; the lamp changes the picture by %.0f %% of its range, which is corrected", 100*f.Lamp)
	}
	if f.Shift {
		s += "; the whole field moves"
	}
	s = fmt.Sprintf("%s: %s; certainty %.2f", f.Level(), s, f.Certainty())
	if f.Level() == Doubtful {
		s += ": " + f.why()
	}
	return s
}

// why returns the reason why the result is doubtful, and a remedy.
func (f *Finder) why() string {
	switch {
	case f.Lasting < 1:
		return fmt.Sprintf("only %.0f %% of the frames have objects, so the film may change or the light may go off: compare the table with the film, or run each part separately", 100*f.Lasting)
	case f.Kind == One && f.Alike < .72:
		return "the look of the object differs from frame to frame: compare the track with the film, or give --bodies"
	case f.Share < .3:
		return "most strong spots in the film are not the objects: compare the table with the film, and give the kind with --one, --bodies or --objects"
	}
	return "the objects are hardly stronger than the noise: compare the table with the film; more light or a longer exposure helps"
}
