package video

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
)

// LowRank models a picture that changes as a whole as a mixture of pictures, weighted by monomials of the latents:
//
//	frame ≈ Σₖ φₖ(z) pictureₖ
type LowRank struct {
	Basis    numeric.Basis
	pictures []float32 // monomials × CHW
}

// Rounds is the number of rounds that estimate pictures and latents in turn.
const Rounds = 2

// Fit fits the pictures to frames by least squares and filters their noise. It returns the pictures of the d linear terms, which are the directions for reading
// the latents from frames. w is empty if the monomials are linearly dependent.
func (y *LowRank) Fit(c *Clip, frames []int, z []float32, d int) (w blas32.General) {
	at := mat.NewDense(len(frames), d, nil)
	for k, f := range frames {
		at.SetRow(k, numeric.Float64s(z[f*d:(f+1)*d]))
	}
	var qr mat.QR
	qr.Factorize(y.Basis.Design(at)) // for orthonormal mixtures every picture has the noise of one frame
	var q, r, back mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	m, n, size := len(y.Basis), len(frames), c.Size()
	own := numeric.Matrix(m, size, make([]float32, m*size))
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, numeric.Matrix(n, m, numeric.Float32s(mat.DenseCopyOf(q.Slice(0, n, 0, m)).RawMatrix().Data)), numeric.Matrix(n, size, c.Pick(frames)), 0, own)
	p, area, noise := numeric.NewPlane(c.Height, c.Width), c.Height*c.Width, c.Noise()/float64(size)
	for from := size; from < len(own.Data); from += area { // the first picture is the mean picture
		p.Wiener(own.Data[from:from+area], noise)
	}
	if back.Inverse(r.Slice(0, m, 0, m)) != nil {
		return w
	}
	pictures := numeric.Matrix(m, size, make([]float32, m*size))
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, numeric.Matrix(m, m, numeric.Float32s(back.RawMatrix().Data)), own, 0, pictures)
	y.pictures = pictures.Data
	return numeric.Matrix(d, size, own.Data[size:(1+d)*size])
}

// Draw renders n pictures from latents.
func (y *LowRank) Draw(pictures, z []float32, n int) {
	m, phi := len(y.Basis), y.Basis.Design(mat.NewDense(n, len(z)/n, numeric.Float64s(z)))
	size := len(y.pictures) / m
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, numeric.Matrix(n, m, numeric.Float32s(phi.RawMatrix().Data)), numeric.Matrix(m, size, y.pictures), 0, numeric.Matrix(n, size, pictures))
}
