package sdevae

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// scenery is a picture that changes as a whole, mixed of pictures by monomials of the latents:
//
//	frame ≈ Σₖ φₖ(z) pictureₖ
type scenery struct {
	basis    basis
	pictures []float32 // monomials × CHW
}

const (
	sceneryDegree = 3
	sceneryRounds = 2   // of latents and pictures in turn
	leastScenery  = 0.1 // share of what moves that the pictures must explain; of bare noise it is less than nothing
)

// learn fits the pictures to frames by least squares and takes their noise off. It gives those of the d latents themselves, by which frames
// tell their latents; nothing where the latents mix no pictures.
func (y *scenery) learn(c *Clip, frames []int, z []float32, d int) (w blas32.General) {
	at := mat.NewDense(len(frames), d, nil)
	for k, f := range frames {
		at.SetRow(k, wide(z[f*d:(f+1)*d]))
	}
	var qr mat.QR
	qr.Factorize(y.basis.design(at)) // along orthonormal mixtures every picture has a frame's own noise
	var q, r, back mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	m, n, size := len(y.basis), len(frames), c.Size()
	own := general(m, size, make([]float32, m*size))
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, general(n, m, narrow(mat.DenseCopyOf(q.Slice(0, n, 0, m)).RawMatrix().Data)), general(n, size, c.pick(frames)), 0, own)
	p, area, noise := newPlane(c.Height, c.Width), c.Height*c.Width, c.Noise()/float64(size)
	for from := size; from < len(own.Data); from += area { // the first is the mean picture
		p.denoise(own.Data[from:from+area], noise)
	}
	if back.Inverse(r.Slice(0, m, 0, m)) != nil {
		return w
	}
	pictures := general(m, size, make([]float32, m*size))
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general(m, m, narrow(back.RawMatrix().Data)), own, 0, pictures)
	y.pictures = pictures.Data
	return general(d, size, own.Data[size:(1+d)*size])
}

// draw draws n pictures of latents.
func (y *scenery) draw(pictures, z []float32, n int) {
	m, phi := len(y.basis), y.basis.design(mat.NewDense(n, len(z)/n, wide(z)))
	size := len(y.pictures) / m
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general(n, m, narrow(phi.RawMatrix().Data)), general(m, size, y.pictures), 0, general(n, size, pictures))
}
