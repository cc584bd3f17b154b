package locate

import (
	"math"
)

// Besides spots and the camera's noise, a real picture has a texture from out-of-focus light, grain and compression. Compared with the camera's noise alone,
// any texture would look like spots. If the filtered picture scatters more than the camera's noise explains, the whole scatter counts as noise:
//
//	z ~ N(0, κ²) without spots
//
// κ is estimated from two low quantiles of z, which bright spots hardly change. Schwarz's criterion chooses between κ = 1 and a free κ.
const (
	scatterRows = 32               // rows in the sample
	apart       = 4                // distance between sampled values in a row, px; closer values are almost equal
	low, lower  = 0.30, 0.10       // quantiles of the sample
	quantiles   = 0.75714          // distance between these quantiles of a normal law, sds
	lowSDs      = 0.52440          // distance between the quantile low and the centre of a normal law, sds
	perRoot     = 1.5              // standard error of κ, times the root of the number of independent values
	evidence    = 2.83             // standard errors by which κ must exceed 1: √(ln n) for about 3,000 values
	mostScatter = 1e9              // bound on κ, for a picture without noise
	spread      = 2 * 1.7724538509 // correlation length of the filtered noise along a row, in sds of the template: 2√π
)

// scatter returns κ of the filtered residual, and the centre of z in units of κ. The centre is not 0, because a wide template sums up an error of the
// background.
func (l *Locator) scatter() (k, middle float64) {
	l.sample = l.sample[:0]
	rows := min(scatterRows, l.h)
	for k := range rows {
		y := (2*k + 1) * l.h / (2 * rows)
		row := l.filter.Out.Row(y)
		for x := 0; x < l.w; x += apart {
			l.sample = append(l.sample, row[x]/float32(math.Sqrt(l.template.norm*l.camera.At(l.background.at(x, y)))))
		}
	}
	n := float64(len(l.sample))
	at := float64(l.lanes.Nth(l.sample, int(low*n)))
	k = (at - float64(l.lanes.Nth(l.sample, int(lower*n)))) / quantiles
	middle = at + lowSDs*k
	values := float64(rows*l.w) / (spread * l.template.sd)
	if k < 1+evidence*perRoot/math.Sqrt(values) {
		return 1, middle
	}
	k = min(k, mostScatter)
	return k, middle / k
}

// rescale sets the noise to the camera's noise times texture², and rescales the scores and variances of spots that were fitted before.
func (l *Locator) rescale(texture float64) {
	was := l.texture
	l.texture = texture
	l.noise = Noise{Read: texture * texture * l.camera.Read, Gain: texture * texture * l.camera.Gain}
	l.field.Read, l.field.Gain, l.field.Floor = float32(l.noise.Read), float32(l.noise.Gain), float32(l.noise.Floor())
	for i := range l.spots {
		s := &l.spots[i]
		s.score *= was / texture
		s.varX, s.varY = s.varX*texture*texture/(was*was), s.varY*texture*texture/(was*was)
	}
}
