package finder

import (
	"fmt"
	"math"
)

// Level says how reliable a find is.
type Level string

// The levels, the best first. For Doubtful, String adds the reason and what to do.
const (
	Good     Level = "good"
	Doubtful Level = "doubtful"
	None     Level = "nothing"
)

// Certainty returns how sure the find is, 0 to 1. It grows with the objects' strength over the noise, with the gap to weaker blobs, and with the share
// of the strong blobs that the objects explain. It is not a calibrated probability.
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

// Confirmed reports whether enough frames of a film had an object: half of them, or four in five if several objects would have to be away together.
func (f *Finder) Confirmed(found, frames uint64) bool {
	if f.Count >= 3 {
		return 5*found >= 4*frames
	}
	return 2*found >= frames
}

// Force returns the description that finds the same again, Free for nothing.
func (f *Finder) Force() Force {
	return [...]Force{Free, ForceOne, ForceOne, ForceMany, ForceMany, ForceBodies}[f.Kind]
}

// Crowd reports whether a film shows more objects than the model of one scene follows.
func (f *Finder) Crowd() bool { return f.Kind == Many || f.Kind == Bodies && f.Count > few }

// String returns a sentence: what the film shows, how sure that is, and what to do if the find is doubtful.
func (f *Finder) String() string {
	if f.Kind == Nothing {
		return "nothing: no object stands out from the noise and the texture of this film: look at it (driftscope probe FILM --out DIR), or say what it shows with --one, --bodies or --objects"
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

// why returns the reason for a doubtful find, and what to do.
func (f *Finder) why() string {
	switch {
	case f.Lasting < 1:
		return fmt.Sprintf("such objects are in %.0f %% of the frames: the film may change, or the light go off: check the table over the film, or run each part by itself", 100*f.Lasting)
	case f.Kind == One && f.Alike < .72:
		return "its looks differ from frame to frame: check the track over the film, or give --bodies"
	case f.Share < .3:
		return "most of what stands out is not the objects: check the table over the film, and say what it shows with --one, --bodies or --objects"
	}
	return "the objects hardly stand out: check the table over the film; more light or a longer exposure helps"
}
