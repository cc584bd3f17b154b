package message

import (
	"cmp"
	"slices"

	"driftscope/internal/flow/latent"
)

// fitting is the memory of an Encoder for messages with places left out.
type fitting struct {
	order   []int // objects, the most certain first
	chosen  []int
	fitted  latent.Estimate
	objects latent.Objects // of fitted
}

// fit encodes as many of the most certain objects of m as fit, then as many places in earlier frames and swaps, the first ones. It returns the number left out.
func (e *Encoder) fit(m *latent.Estimate) (left int) {
	f, all := &e.fitting, m.Objects
	f.rank(all)
	total := len(all.ID) + len(all.Earlier) + len(all.Swaps)
	for keep := total; len(e.line) > e.Limit && keep > 0; left = total - keep {
		keep = min(keep-1, keep*e.Limit/len(e.line)*49/50) // a fiftieth less: not every byte is a place's
		f.choose(m, keep)
		e.line = appendObjects(e.line[:0], e.header(latent.KindObjects), &f.fitted, total-keep)
	}
	return left
}

// rank orders objects: first the followed one, then detected ones, by doubt and by the sd of their place.
func (f *fitting) rank(all *latent.Objects) {
	f.order = f.order[:0]
	for i := range all.ID {
		f.order = append(f.order, i)
	}
	class := func(i int) int {
		switch {
		case all.Marks[i]&latent.Followed != 0:
			return 0
		case all.Here(i):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(f.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(all.Doubt[a], all.Doubt[b]), cmp.Compare(all.SD[a], all.SD[b]))
	})
}

// choose fills the message with that many places of m.
func (f *fitting) choose(m *latent.Estimate, keep int) {
	all, o := m.Objects, &f.objects
	n := min(keep, len(f.order))
	f.chosen = append(f.chosen[:0], f.order[:n]...)
	slices.Sort(f.chosen)
	o.Reset()
	f.fitted.Objects = o
	o.Width, o.Height, o.PixelUM, o.Left, o.States, o.Latents, o.Earlier = all.Width, all.Height, all.PixelUM, all.Left, all.States, all.Latents, append(o.Earlier, all.Earlier[:min(keep-n, len(all.Earlier))]...)
	o.Swaps = append(o.Swaps, all.Swaps[:max(keep-n-len(all.Earlier), 0)]...)
	d, states := all.Latents, all.States
	for _, i := range f.chosen {
		o.ID, o.X, o.Y, o.SD = append(o.ID, all.ID[i]), append(o.X, all.X[i]), append(o.Y, all.Y[i]), append(o.SD, all.SD[i])
		o.D, o.Doubt, o.Link, o.Marks = append(o.D, all.D[i]), append(o.Doubt, all.Doubt[i]), append(o.Link, At(all.Link, i)), append(o.Marks, all.Marks[i])
		o.State = append(o.State, all.State[states*i:][:states]...)
		o.Z, o.ZSD = append(o.Z, all.Z[d*i:][:d]...), append(o.ZSD, all.ZSD[d*i:][:d]...)
	}
	f.fitted.Latent.Seq, f.fitted.Latent.Time, f.fitted.Latency = m.Latent.Seq, m.Latent.Time, m.Latency
}
