package tracks

// Row is one object in one frame of a table.
type Row struct {
	Frame, ID uint64
	X, Y, SD  float64 // px
	Filled    bool    // interpolated on the straight line between two detections of its own
}

// Rows makes a table of the confirmed tracks of a Tracker. It includes rows before the confirmation, and fills gaps, also of merged tracks, once a detection
// ends them. A track that ends merged ends at its own last detection. Rows of one track are in frame order; rows of one frame may follow rows of later
// frames.
type Rows struct {
	open   map[uint64]*open
	free   []*open
	frames []uint64 // the last added frames; lost frames are not filled
}

// open is a track in progress.
type open struct {
	last      Row
	seen      uint64 // last frame that contained the track
	waiting   []Row  // rows held until the track is confirmed
	confirmed bool
	begun     bool
}

// Add takes the points of a frame and calls emit for every resulting row.
func (r *Rows) Add(frame uint64, points []Point, emit func(Row)) {
	if r.open == nil {
		r.open = map[uint64]*open{}
	}
	if len(r.frames) == mostGap+1 {
		copy(r.frames, r.frames[1:])
		r.frames = r.frames[:mostGap]
	}
	r.frames = append(r.frames, frame)
	for i := range points {
		p := &points[i]
		o := r.open[p.ID]
		if o == nil {
			o = r.fresh()
			r.open[p.ID] = o
		}
		o.seen = frame
		if p.Detection < 0 {
			continue
		}
		if o.begun {
			o.fill(p, r.frames, emit)
		}
		o.put(Row{Frame: p.Frame, ID: p.ID, X: p.X, Y: p.Y, SD: p.SD}, emit)
		if p.Confirmed && !o.confirmed {
			o.confirmed = true
			for _, row := range o.waiting {
				emit(row)
			}
			o.waiting = o.waiting[:0]
		}
	}
	for id, o := range r.open {
		if o.seen != frame {
			delete(r.open, id)
			r.free = append(r.free, o)
		}
	}
}

func (r *Rows) fresh() *open {
	if n := len(r.free); n > 0 {
		o := r.free[n-1]
		r.free = r.free[:n-1]
		*o = open{waiting: o.waiting[:0]}
		return o
	}
	return &open{}
}

// fill adds the rows of the frames between the last detection and this one.
func (o *open) fill(p *Point, frames []uint64, emit func(Row)) {
	from := o.last
	for _, f := range frames {
		if f <= from.Frame || f >= p.Frame {
			continue
		}
		u := float64(f-from.Frame) / float64(p.Frame-from.Frame)
		o.put(Row{Frame: f, ID: p.ID, X: from.X + u*(p.X-from.X), Y: from.Y + u*(p.Y-from.Y), SD: max(from.SD, p.SD), Filled: true}, emit)
	}
}

func (o *open) put(row Row, emit func(Row)) {
	o.last, o.begun = row, true
	if o.confirmed {
		emit(row)
	} else {
		o.waiting = append(o.waiting, row)
	}
}
