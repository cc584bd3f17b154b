package latent

import "time"

// Spot is what looks like one object in a frame.
type Spot struct {
	X, Y       float64 // px of the frame as it was read
	VarX, VarY float64 // px²
	Amplitude  float64 // above the background, grey levels
	Score      float64 // the amplitude over its standard deviation
}

// Spots are the spots of one frame of a field, from the locator and a model of objects.
type Spots struct {
	Found         []Spot
	ID            []uint64  // per spot, the source's number of its object, from 1; empty if the tracker decides
	Latents       int       // per spot, from the model; 0 without a model
	Z, ZSD        []float64 // Latents per spot: the appearance of the object, and its standard deviation
	Left          int       // spots beyond the maximum of a frame
	Template      float64   // sd of the template, px; 0 until spots determined it
	Width, Height int       // of the frame as it was read, px
}

// Reset empties s, keeping its memory.
func (s *Spots) Reset() { *s = Spots{Found: s.Found[:0], ID: s.ID[:0], Z: s.Z[:0], ZSD: s.ZSD[:0]} }

func (s *Spots) copy(src *Spots) {
	found, id, z, sd := append(s.Found[:0], src.Found...), append(s.ID[:0], src.ID...), append(s.Z[:0], src.Z...), append(s.ZSD[:0], src.ZSD...)
	*s = *src
	s.Found, s.ID, s.Z, s.ZSD = found, id, z, sd
}

// Mark flags a special property of an object in a frame; marks add up.
type Mark uint16

// The marks of an object.
const (
	Predicted Mark = 1 << iota // it was not detected; its place is predicted
	Merged                     // it is detected as one with another object
	Directed                   // it moves in a direction, rather than diffusing
	Doubtful                   // it may be another object than the number says
	Followed                   // the stream publishes its latents like the latents of a single object
)

// Objects holds the objects of a field in one frame: columns with one entry per object, in the order of their numbers.
type Objects struct {
	Width, Height int       // of the frame as it was read, px
	PixelUM       float64   // side of a pixel in the specimen, µm; 0 where not known
	ID            []uint64  // numbers are never used again, unless a source of places uses them again
	X, Y          []float64 // px of the frame as it was read
	SD            []float64 // of the place, an axis, px
	LocX, LocY    []float64 // where it was detected in this frame, px, without its track; NaN if it was not. Files have it, messages do not
	D             []float64 // coefficient of diffusion so far, px²/s; not a number before the second step
	Doubt         []float64 // probability of being another object than the number says, by the rivals that are near
	Link          []float64 // probability that the step from its previous place is its own; NaN if there is none, or if too many objects are near to know
	Marks         []Mark
	States        int       // of the population's law; 0 before the first law
	State         []float64 // States per object: the probability of each in this frame; NaN if unknown
	Latents       int       // per object, from a model of objects; 0 without a model
	Z, ZSD        []float64 // Latents per object, and their standard deviations; NaN if not detected
	Earlier       []Place   // in earlier frames, of objects that are known to be there only now
	Swaps         []Swap    // pairs that may have exchanged their numbers, the likeliest first
	Left          uint64    // spots of this frame beyond the maximum
}

// Place is the place of an object in a frame.
type Place struct {
	Seq    uint64
	ID     uint64
	X, Y   float64 // px
	SD     float64 // px
	Filled bool    // it was detected before and after, but not in this frame
}

// Swap is a pair of objects that may have exchanged their numbers in a frame, and not since.
type Swap struct {
	ID, With uint64 // ID < With
	Since    uint64 // Seq of the first frame in which each would show the other
	P        float64
}

// Here reports whether object i was detected in the frame, separate from others.
func (o *Objects) Here(i int) bool { return o.Marks[i]&(Predicted|Merged) == 0 }

// Reset empties o, keeping its memory.
func (o *Objects) Reset() {
	*o = Objects{ID: o.ID[:0], X: o.X[:0], Y: o.Y[:0], SD: o.SD[:0], LocX: o.LocX[:0], LocY: o.LocY[:0], D: o.D[:0], Marks: o.Marks[:0], Doubt: o.Doubt[:0], Link: o.Link[:0], State: o.State[:0], Z: o.Z[:0], ZSD: o.ZSD[:0], Earlier: o.Earlier[:0], Swaps: o.Swaps[:0]}
}

func (o *Objects) copy(src *Objects) {
	old := *o
	*o = *src
	o.ID, o.Marks, o.Earlier = append(old.ID[:0], src.ID...), append(old.Marks[:0], src.Marks...), append(old.Earlier[:0], src.Earlier...)
	o.Swaps = append(old.Swaps[:0], src.Swaps...)
	o.X, o.Y, o.SD, o.D = append(old.X[:0], src.X...), append(old.Y[:0], src.Y...), append(old.SD[:0], src.SD...), append(old.D[:0], src.D...)
	o.LocX, o.LocY = append(old.LocX[:0], src.LocX...), append(old.LocY[:0], src.LocY...)
	o.Doubt, o.Link, o.State = append(old.Doubt[:0], src.Doubt...), append(old.Link[:0], src.Link...), append(old.State[:0], src.State...)
	o.Z, o.ZSD = append(old.Z[:0], src.Z...), append(old.ZSD[:0], src.ZSD...)
}

// Change is the kind of change that a Track reports.
type Change string

// What happens to an object.
const (
	Born   Change = "born"
	Ended  Change = "ended"
	Joined Change = "merged" // from now on it is detected as one with another
	Parted Change = "split"  // it is detected by itself again
)

// Why an object ended.
const (
	LeftField = "left the field"
	Lost      = "not seen again"
	FilmEnded = "another film began"
	RunEnded  = "the run ended"
)

// Track reports that an object was born, or its properties at its end. It never changes after publication.
type Track struct {
	Seq            uint64
	Time           time.Time
	ID             uint64
	Change         Change
	Why            string // reason for an end
	First, Last    uint64 // Seq of the first and the last frame with a detection
	Frames         uint64 // number with a detection
	X, Y           float64
	Path           float64 // length of its way without the common motion, px
	DriftX, DriftY float64 // its mean velocity, px/s, the same
	Runs           bool    // it moved in a direction
	Px, UM         Range
	Shrunk         Range     // D in px²/s, shrunk from its own steps towards its state's D by the population's law; all zero before the first law
	State          []float64 // probability of each state of the population's law, over its last steps
	Motion         *Motion   // nil after too few detections, or before the first law
}

// Motion is the kind of law that one object's track obeys. Probabilities add up to one.
type Motion struct {
	Class                                      string // the most probable class
	Stuck, Free, Confined, Directed, Anomalous float64
	Alpha                                      Bounds  // exponent of the mean square displacement, 1 where it diffuses freely
	Radius                                     float64 // root mean square distance from the mean place, px; NaN if it is not confined
	Speed                                      float64 // px/s; NaN if it is not directed
}

// Bounds is a number with its 95 % interval.
type Bounds struct{ Value, Low, High float64 }

// Range is a coefficient of diffusion with its 95 % interval, in px²/s or µm²/s: zero if the pixel's size is unknown, NaN before the second
// step.
type Range struct{ D, Low, High float64 }

// Population summarises all objects of a field every so many frames. It never changes after publication.
type Population struct {
	Seq              uint64
	Time             time.Time
	Count            int       // objects present
	Spots            int       // found in the frame
	PerPixel         float64   // objects a px²
	PerUM            float64   // objects a µm²; 0 if the pixel's size is unknown
	Births, Deaths   uint64    // since the start
	Unjudged         uint64    // ended without a verdict, because the budget for verdicts was spent
	Wrong            float64   // expected share of wrong links in the last frames; NaN before the first known one
	Unlinked         float64   // share of the links of unknown probability
	Faster, Slower   float64   // Wrong at twice the frame rate and at half; NaN if unknown
	Unweighed        uint64    // steps not used for a change of the law, because a frame had too many
	Detected         float64   // share of an object's frames in which it is detected
	Template         float64   // sd of the template, px
	Tracks, Steps    uint64    // used for the law
	Px, UM           Range     // mean D over all steps
	Noise            float64   // sd of a place, px
	Edges            []float64 // of the spectrum's bins, px²/s: their lower ends
	Spectrum         []float64 // share of the steps whose object has such a D
	CommonX, CommonY float64   // velocity that all objects share, px/s
	CommonSD         float64   // its standard error, an axis
	ShiftX, ShiftY   float64   // where that has taken them since the start, px
	DirectedN        int       // objects that move in a direction now

	Law    *PopulationLaw // nil before the first law
	Pairs  *Pairs         // nil if interactions are off
	MapSeq *uint64        // Seq of the last frame in the map; nil before the first map
	Map    *FieldMap      // nil if published before
}

// PopulationLaw gives the laws of the objects. It never changes after publication.
type PopulationLaw struct {
	Seq           uint64     // of the last frame used
	Tracks, Steps uint64     // pieces of tracks used, and their steps
	States        []StateLaw // by rising D
	Spread        Bounds     // sd of ln D among objects of one state; zero if unknown
	Rates         []float64  // from each state to each, 1/s, a row a state; none if there is one state
	Nats          float64    // evidence that objects switch: log likelihood minus the log likelihood without switching
	Says          string     // the law in a sentence
}

// StateLaw is the law of one state of the objects.
type StateLaw struct {
	Px, UM Range
	Share  Bounds // of the objects' time
}

// Pairs is the force between two objects by their distance.
type Pairs struct {
	Distance  []float64 // px
	Force     []float64 // velocity that one has by the other, px/s, above zero if it repels
	Low, High []float64 // 95 % interval
	Count     []float64 // pairs used for a value
	Nats      float64   // evidence for a force
}

// FieldMap gives drift and D from place to place: columns with one entry per cell.
type FieldMap struct {
	X, Y       []float64 // middle of the cell, px
	Width      []float64 // side of the cell, px
	VX, VY, SD []float64 // drift, and its standard error an axis, px/s
	D, DSD     []float64 // diffusion and its standard error, px²/s
	Steps      []float64 // number of steps used
	Says       []string  // traps and flows, a sentence each
}

func (*Track) message()      {}
func (*Population) message() {}
