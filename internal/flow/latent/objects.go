package latent

import "time"

// Spot is a detection of one object in a frame.
type Spot struct {
	X, Y       float64 // px of the frame as it was read
	VarX, VarY float64 // px²
	Amplitude  float64 // height above the background, grey levels
	Score      float64 // amplitude divided by its standard deviation
}

// Spots are the spots of one frame of a field, from the locator and a model of objects.
type Spots struct {
	Found         []Spot
	ID            []uint64  // number of each spot's object, from 1, if the source gives it; otherwise empty
	Latents       int       // latents per spot, from the model; 0 without a model
	Z, ZSD        []float64 // appearance of the objects and its standard deviation, Latents numbers per spot
	Left          int       // number of spots beyond the maximum of a frame
	Template      float64   // standard deviation of the template, px; 0 until spots have determined it
	Width, Height int       // of the frame as it was read, px
}

// Reset empties s, and reuses its memory.
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
	Predicted Mark = 1 << iota // it was not detected; its position is predicted
	Merged                     // it is detected as one with another object
	Directed                   // it moves in a direction, rather than diffusing
	Doubtful                   // it may be a different object than its number claims
	Followed                   // the stream publishes its latents like the latents of a single object
)

// Objects holds the objects of a field in one frame: columns with one entry per object, in the order of their numbers.
type Objects struct {
	Width, Height int       // of the frame as it was read, px
	PixelUM       float64   // side of a pixel in the specimen, µm; 0 if unknown
	ID            []uint64  // object numbers, never used again unless a source of positions does so
	X, Y          []float64 // px of the frame as it was read
	SD            []float64 // standard deviation of the position per axis, px
	LocX, LocY    []float64 // detected position in this frame, without the track, px; NaN if not detected. Only files contain it, not messages
	D             []float64 // coefficient of diffusion so far, px²/s; NaN before the second step
	Doubt         []float64 // probability that the object is not the one with this number, computed from nearby rivals
	Link          []float64 // probability that the step from the previous position is right; NaN without a step, or if too many objects are near
	Marks         []Mark
	States        int       // number of states of the population's law; 0 before the first law
	State         []float64 // probability of each state in this frame, States numbers per object; NaN if unknown
	Latents       int       // latents per object, from a model of objects; 0 without a model
	Z, ZSD        []float64 // latents and their standard deviations, Latents numbers per object; NaN if not detected
	Earlier       []Place   // positions in earlier frames that became known only now
	Swaps         []Swap    // pairs that may have exchanged their numbers, most likely first
	Left          uint64    // number of spots in this frame beyond the maximum
}

// Place is the position of an object in a frame.
type Place struct {
	Seq    uint64
	ID     uint64
	X, Y   float64 // px
	SD     float64 // px
	Filled bool    // the object was detected before and after this frame, but not in it
}

// Swap is a pair of objects that may have exchanged their numbers in a frame, and not since.
type Swap struct {
	ID, With uint64 // ID < With
	Since    uint64 // Seq of the first frame in which they may be exchanged
	P        float64
}

// Here reports whether object i was detected in the frame, separately from other objects.
func (o *Objects) Here(i int) bool { return o.Marks[i]&(Predicted|Merged) == 0 }

// Reset empties o, and reuses its memory.
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
	Joined Change = "merged" // from now on it is detected as one spot with another object
	Parted Change = "split"  // it is detected by itself again
)

// Why an object ended.
const (
	LeftField = "left the field"
	Lost      = "not seen again"
	FilmEnded = "another film began"
	RunEnded  = "the run ended"
)

// Track reports a change of an object. At the object's end it includes the properties of the track. It never changes after publication.
type Track struct {
	Seq            uint64
	Time           time.Time
	ID             uint64
	Change         Change
	Why            string // reason for the end
	First, Last    uint64 // Seq of the first and the last frame with a detection
	Frames         uint64 // number of frames with a detection
	X, Y           float64
	Path           float64 // length of the path without the common motion, px
	DriftX, DriftY float64 // mean velocity without the common motion, px/s
	Runs           bool    // it moved in a direction
	Px, UM         Range
	Shrunk         Range     // D in px²/s, estimated from the object's steps and shrunk towards the D of its state; all zero before the first law
	State          []float64 // probability of each state of the population's law, over its last steps
	Motion         *Motion   // nil after too few detections, or before the first law
}

// Motion is the kind of motion of one object's track. The probabilities add up to one.
type Motion struct {
	Class                                      string // the most probable class
	Stuck, Free, Confined, Directed, Anomalous float64
	Alpha                                      Bounds  // exponent of the mean square displacement; 1 for free diffusion
	Radius                                     float64 // root mean square distance from the mean position, px; NaN if not confined
	Speed                                      float64 // speed, px/s; NaN if not directed
}

// Bounds is a number with its 95 % interval.
type Bounds struct{ Value, Low, High float64 }

// Range is a coefficient of diffusion with its 95 % interval, in px²/s or µm²/s: zero if the pixel's size is unknown, NaN before the second
// step.
type Range struct{ D, Low, High float64 }

// Population summarises all objects of a field at regular intervals. It never changes after publication.
type Population struct {
	Seq              uint64
	Time             time.Time
	Count            int       // objects present
	Spots            int       // number of spots in the frame
	PerPixel         float64   // objects per px²
	PerUM            float64   // objects per µm²; 0 if the pixel's size is unknown
	Births, Deaths   uint64    // since the start
	Unjudged         uint64    // objects that ended without a verdict because the budget for verdicts was used up
	Wrong            float64   // expected share of wrong links in the last frames; NaN before the first known one
	Unlinked         float64   // share of links with unknown probability
	Faster, Slower   float64   // Wrong at twice and at half the frame rate; NaN if unknown
	Unweighed        uint64    // steps not used to detect a change of the law, because a frame had too many
	Detected         float64   // share of frames in which an object is detected
	Template         float64   // standard deviation of the template, px
	Tracks, Steps    uint64    // tracks and steps used for the law
	Px, UM           Range     // mean D over all steps
	Noise            float64   // standard deviation of a position, px
	Edges            []float64 // lower ends of the spectrum's bins, px²/s
	Spectrum         []float64 // share of steps, by the D of their object
	CommonX, CommonY float64   // velocity that all objects share, px/s
	CommonSD         float64   // standard error of the common velocity per axis
	ShiftX, ShiftY   float64   // common displacement since the start, px
	DirectedN        int       // number of objects that now move in a direction

	Law    *PopulationLaw // nil before the first law
	Pairs  *Pairs         // nil if interactions are off
	MapSeq *uint64        // Seq of the last frame in the map; nil before the first map
	Map    *FieldMap      // nil if published before
}

// PopulationLaw gives the laws of the objects. It never changes after publication.
type PopulationLaw struct {
	Seq           uint64     // of the last frame used
	Tracks, Steps uint64     // number of track segments used, and of their steps
	States        []StateLaw // by rising D
	Spread        Bounds     // standard deviation of ln D among objects of one state; zero if unknown
	Rates         []float64  // rates between states, 1/s, one row per initial state; empty for one state
	Nats          float64    // evidence that objects switch: log likelihood minus the log likelihood without switching
	Says          string     // the law as a sentence
}

// StateLaw is the law of one state of the objects.
type StateLaw struct {
	Px, UM Range
	Share  Bounds // share of the objects' time
}

// Pairs is the force between two objects as a function of their distance.
type Pairs struct {
	Distance  []float64 // px
	Force     []float64 // velocity of one object caused by the other, px/s; positive means repulsion
	Low, High []float64 // 95 % interval
	Count     []float64 // number of pairs used for a value
	Nats      float64   // evidence for a force
}

// FieldMap gives drift and D by position: columns with one entry per cell.
type FieldMap struct {
	X, Y       []float64 // middle of the cell, px
	Width      []float64 // side of the cell, px
	VX, VY, SD []float64 // drift and its standard error per axis, px/s
	D, DSD     []float64 // diffusion and its standard error, px²/s
	Steps      []float64 // number of steps used
	Says       []string  // traps and flows, one sentence each
}

func (*Track) message()      {}
func (*Population) message() {}
