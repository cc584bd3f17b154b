package kernel

import "math"

// This file has the loops in Go, directly from their equations. Sums are float64, so they round far less than the kernels' float32 sums.

func plainNear(p Picture, y0, y1 int, tiles []Tile) {
	for i := range tiles {
		t := &tiles[i]
		t.Sum, t.Count = 0, 0
		for y := y0; y < y1; y++ {
			for _, v := range p.Row(y)[t.X0:t.X1] {
				if d := v - t.Level; d <= t.Far && d >= -t.Far {
					t.Sum += float64(d)
					t.Count++
				}
			}
		}
	}
}

func plainSubtract(out, in, lines Picture, ways []Way) {
	for y, way := range ways {
		from, to, row := lines.Row(int(way.From)), lines.Row(int(way.To)), out.Row(y)
		for x, v := range in.Row(y) {
			row[x] = v - float32((1-way.Share)*from[x]) - float32(way.Share*to[x])
		}
	}
}

func plainRoughen(rough []Rough, p Picture, stride int) []Rough {
	for y := 1; y+1 < p.Height; y += stride {
		up, here, down := p.Row(y-1), p.Row(y), p.Row(y+1)
		for x := 1; x+1 < p.Width; x += stride {
			corners := up[x-1] + up[x+1] + down[x-1] + down[x+1]
			sides := up[x] + down[x] + here[x-1] + here[x+1]
			high := corners - 2*sides + 4*here[x]
			rough = append(rough, Rough{(corners + sides + here[x]) / 9, max(high, -high)})
		}
	}
	return rough
}

func (f *Filter) plain(areas []Area, least float32) []int32 {
	for _, a := range areas {
		for y := a.Y0; y < a.Y1; y++ {
			f.plainRow(f.Out.Row(y)[a.X0:a.X1], y, a.X0)
		}
	}
	n := 0
	for _, a := range areas {
		for y := max(a.Y0, 1); y < min(a.Y1, f.Out.Height-1); y++ {
			for x := max(a.X0, 1); x < min(a.X1, f.Out.Width-1); x++ {
				if f.Out.Row(y)[x] >= least && f.Out.peak(x, y) {
					f.found[n] = int32(y*f.Out.Width + x)
					n++
				}
			}
		}
	}
	return f.found[:n]
}

// plainRow filters a part of row y, starting at x0.
func (f *Filter) plainRow(out []float32, y, x0 int) {
	reach := len(f.taps) - 1
	line := f.line[:len(out)+2*reach]
	for k := range line {
		x := mirrored(x0-reach+k, f.In.Width)
		sum := float64(f.taps[0]) * float64(f.In.Row(y)[x])
		for i := 1; i <= reach; i++ {
			sum += float64(f.taps[i]) * (float64(f.In.Row(mirrored(y-i, f.In.Height))[x]) + float64(f.In.Row(mirrored(y+i, f.In.Height))[x]))
		}
		line[k] = float32(sum)
	}
	for x := range out {
		sum := float64(f.taps[0]) * float64(line[x+reach])
		for i := 1; i <= reach; i++ {
			sum += float64(f.taps[i]) * (float64(line[x+reach-i]) + float64(line[x+reach+i]))
		}
		out[x] = float32(sum)
	}
}

// peak reports whether a pixel inside the picture is the maximum of its 3 x 3 pixels. Of equal pixels only the last is a maximum.
func (p Picture) peak(x, y int) bool {
	up, here, down := p.Row(y - 1)[x-1:x+2], p.Row(y)[x-1:x+2], p.Row(y + 1)[x-1:x+2]
	v := here[1]
	return v >= here[0] && v > here[2] && v >= up[0] && v >= up[1] && v >= up[2] && v > down[0] && v > down[1] && v > down[2]
}

// mirrored maps an index to 0 to n-1 by mirroring, without repeating the outermost pixels.
func mirrored(i, n int) int {
	if i < 0 {
		i = -i
	}
	if i >= n {
		i = 2*n - 2 - i
	}
	return i
}

func (f *Field) plainShape(p *Patch) {
	for i := range p.TX[:p.X1-p.X0] {
		u := float64(p.FromX+float32(i)) * float64(f.Narrow)
		p.TX[i] = float32(math.Exp(-u * u / 2))
	}
	for i := range p.TY[:p.Y1-p.Y0] {
		v := float64(p.FromY+float32(i)) * float64(f.Narrow)
		p.TY[i] = float32(math.Exp(-v * v / 2))
	}
}

func (f *Field) plainLight(p *Patch, a float32) {
	for y := p.Y0; y < p.Y1; y++ {
		row, scale := f.Residual.Row(y)[p.X0:p.X1], a*p.TY[y-p.Y0]
		for i := range row {
			row[i] += scale * p.TX[i]
		}
	}
}

// weight returns 1/variance and the residual of a pixel.
func (f *Field) weight(at int) (w, r float64) {
	left := f.Residual.Pixels[at]
	v := f.Read + f.Gain*(f.Picture[at]-left)
	if v < f.Floor {
		v = f.Floor
	}
	return 1 / float64(v), float64(left)
}

func (f *Field) plainSum(m *Moments, p *Patch, order int) {
	f.plainShape(p)
	*m = Moments{}
	for y := p.Y0; y < p.Y1; y++ {
		v := float64(p.FromY+float32(y-p.Y0)) * float64(f.Narrow)
		for x := p.X0; x < p.X1; x++ {
			u := float64(p.FromX+float32(x-p.X0)) * float64(f.Narrow)
			w, r := f.weight(y*f.Residual.Width + x)
			t := float64(p.TX[x-p.X0]) * float64(p.TY[y-p.Y0])
			square, single := w*t*t, w*t*r
			for i := range order + 1 {
				for j, part := 0, square; i+j <= order; j++ {
					m.Square[i][j] += part
					part *= v
				}
				square *= u
			}
			for i := range order/2 + 1 {
				for j, part := 0, single; i+j <= order/2; j++ {
					m.Single[i][j] += part
					part *= v
				}
				single *= u
			}
		}
	}
}

func (f *Field) plainOverlap(products *Products, p, q *Patch) {
	*products = Products{}
	for y := max(p.Y0, q.Y0); y < min(p.Y1, q.Y1); y++ {
		for x := max(p.X0, q.X0); x < min(p.X1, q.X1); x++ {
			a := p.gradient(f, x, y)
			b := q.gradient(f, x, y)
			w, _ := f.weight(y*f.Residual.Width + x)
			for i := range a {
				for j := range b {
					products[i][j] += w * a[i] * b[j]
				}
			}
		}
	}
}

// gradient returns T, T u and T v at a pixel.
func (p *Patch) gradient(f *Field, x, y int) [3]float64 {
	t := float64(p.TX[x-p.X0]) * float64(p.TY[y-p.Y0])
	u, v := float64(p.FromX+float32(x-p.X0))*float64(f.Narrow), float64(p.FromY+float32(y-p.Y0))*float64(f.Narrow)
	return [3]float64{t, t * u, t * v}
}
