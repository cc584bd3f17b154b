package diffusion

import (
	"driftscope/online/drift"
)

// Clone returns banks with the state of b.
func (b *Banks) Clone() *Banks {
	c := &Banks{Found: make([]Estimate, len(b.Found)), latent: make([]float64, len(b.Found))}
	for _, one := range b.banks {
		k := len(one.psi)
		fresh := &bank{psi: one.psi, lnPsi: make([]float64, k), z: make([]float64, k), p: make([]float64, k), a: make([]float64, k), l: make([]float64, k), s: make([]float64, k)}
		if one.exposure > 0 { // its filters of R < 0 have their own grid
			fresh.psi = make([]float64, k)
		}
		c.banks = append(c.banks, fresh)
	}
	c.Copy(b)
	return c
}

// Copy copies the state of from into b, in b's memory. Both must have the same dimension, exposure and γ.
func (b *Banks) Copy(from *Banks) {
	copy(b.Found, from.Found)
	b.Transitions, b.Seconds = from.Transitions, from.Seconds
	for i, one := range b.banks {
		one.copy(from.banks[i])
	}
}

func (b *bank) copy(from *bank) {
	own := *b
	*b = *from
	b.psi, b.lnPsi, b.z, b.p, b.a, b.l, b.s = own.psi, own.lnPsi, own.z, own.p, own.a, own.l, own.s
	if b.exposure > 0 {
		copy(b.psi, from.psi)
	}
	for _, list := range [][2][]float64{{b.lnPsi, from.lnPsi}, {b.z, from.z}, {b.p, from.p}, {b.a, from.a}, {b.l, from.l}, {b.s, from.s}} {
		copy(list[0], list[1])
	}
}

// Follow learns from the latents in rows [from, to) of a track, relative to the drift f. t is working memory; afterwards it is the tangent at the last of
// these latents. Whenever the number of transitions has doubled, Follow chooses again the filter that supplies the tangent's centre.
func (b *Banks) Follow(track *Track, from, to int, f *drift.Field, t *drift.Tangent) {
	t.Renew()
	b.Refresh()
	due := 2 * b.Transitions
	for k := from; k < to; k++ {
		dt, m := track.DT()[k], track.Row(k)
		if dt == 0 {
			b.Start(m)
			t.Renew()
			continue
		}
		t.Follow(f, b.Filtered())
		b.Step(m, dt, t)
		if n, _ := b.Learnt(); n >= due && b.Refresh() {
			due = 2 * b.Transitions
		}
	}
}
