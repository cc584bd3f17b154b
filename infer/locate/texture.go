package locate

import (
	"math"
)

// A real picture is not only spots and the camera's noise: out-of-focus light, grain and compression leave a texture that the filter sees, and in which
// anything would stand out of the noise alone. Where the filtered picture is scattered more than the camera's noise explains, its scatter is the noise:
//
//	z ~ N(0, κ²) where nothing is
//
// κ follows from two low quantiles of z, which bright spots hardly move. Of two models, κ = 1 and κ free, the likelihood chooses (Schwarz's criterion).
const (
	scatterRows = 32               // that are looked at
	apart       = 4                // px between the values of a row that are looked at: nearer ones are nearly the same
	low, lower  = 0.30, 0.10       // of the sample
	quantiles   = 0.75714          // between them, of a normal law, in sds
	lowSDs      = 0.52440          // of a normal law below its middle
	perRoot     = 1.5              // standard error of κ, times the root of the independent values
	evidence    = 2.83             // standard errors from which κ is not 1: √(ln n), of some 3,000 values
	mostScatter = 1e9              // of a picture without any noise
	spread      = 2 * 1.7724538509 // length along a row over which the filtered noise is one value, in sds of the template: 2√π
)

// scatter is κ of the filtered residual, and where the middle of z lies, in κ: off zero where the background is, which a wide template adds up.
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

// rescale takes the texture for part of the noise, also of the spots that were fitted before.
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
