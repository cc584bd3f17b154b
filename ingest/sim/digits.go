package sim

import (
	"compress/gzip"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// digitSide is the width and height of a digit, px. The published digits have this size; it leaves centres a range of 48 px.
const digitSide = 16

// digits draws two red digits on black, 64x64 in [0, 1]. Their centres are (z₁, z₂) and (z₃, z₄). Overlapping light adds up, to 1 at most.
type digits struct {
	plane plane
	ink   [2][]float64 // digitSide², in [0, 1]
	from  string
}

func newDigits(o Options, shown extent, _ *rand.PCG) (renderer, error) {
	lo := [2]float64{min(shown.lo[0], shown.lo[2]), min(shown.lo[1], shown.lo[3])}
	hi := [2]float64{max(shown.hi[0], shown.hi[2]), max(shown.hi[1], shown.hi[3])}
	d := &digits{plane: newPlane(o, digitSide/2, lo, hi)}
	rng := rand.New(rand.NewPCG(o.Seed, assetStream))
	var err error
	if o.Assets == "" {
		d.from = "stand-in digits: give --assets DIR for MNIST"
		d.ink, err = glyphs(rng)
	} else {
		d.from = "digits from MNIST"
		d.ink, err = mnist(o.Assets, rng)
	}
	return d, err
}

func (d *digits) format() Format { return colour() }

func (d *digits) pictures() string { return d.from }

func (d *digits) render(dst *Picture, z []float64, _ float64) bool {
	clear(dst.F32)
	inside := true
	for i, ink := range d.ink {
		x, insideX := d.plane.centre(0, z[2*i])
		y, insideY := d.plane.centre(1, z[2*i+1])
		addRed(dst, ink, x-digitSide/2, y-digitSide/2)
		inside = inside && insideX && insideY
	}
	for i := 2; i < len(dst.F32); i += 3 {
		dst.F32[i] = min(dst.F32[i], 1)
	}
	return inside
}

// addRed adds a digit with its corner at (x, y) to the red channel of dst. The digit must lie inside the picture. addRed distributes the light bilinearly over
// pixels, so the picture is continuous in x and y.
func addRed(dst *Picture, ink []float64, x, y float64) {
	left, top := int(math.Floor(x)), int(math.Floor(y))
	right, down := x-float64(left), y-float64(top)
	for j := range digitSide + 1 {
		for i := range digitSide + 1 {
			light := (1-down)*((1-right)*inkAt(ink, i, j)+right*inkAt(ink, i-1, j)) +
				down*((1-right)*inkAt(ink, i, j-1)+right*inkAt(ink, i-1, j-1))
			if light > 0 {
				dst.F32[((top+j)*dst.Width+left+i)*3+2] += float32(light)
			}
		}
	}
}

// inkAt returns the ink of a pixel, 0 outside the digit.
func inkAt(ink []float64, i, j int) float64 {
	if i < 0 || i >= digitSide || j < 0 || j >= digitSide {
		return 0
	}
	return ink[j*digitSide+i]
}

// mnist returns two digits from the first MNIST file found in assets.
func mnist(assets string, rng *rand.Rand) (ink [2][]float64, err error) {
	path, err := findMNIST(assets)
	if err != nil {
		return ink, err
	}
	file, err := os.Open(path)
	if err != nil {
		return ink, fmt.Errorf("assets: %w: make the file readable", err)
	}
	defer file.Close()
	ink, err = readDigits(file, strings.HasSuffix(path, ".gz"), rng)
	if err != nil {
		return ink, fmt.Errorf("assets: %s: %w", path, err)
	}
	return ink, nil
}

func findMNIST(assets string) (string, error) {
	if err := checkAssets(assets); err != nil {
		return "", err
	}
	for _, folder := range assetFolders(assets, "mnist") {
		for _, name := range []string{"t10k-images-idx3-ubyte", "t10k-images-idx3-ubyte.gz", "train-images-idx3-ubyte", "train-images-idx3-ubyte.gz"} {
			path := filepath.Join(folder, name)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			} else if !errors.Is(err, fs.ErrNotExist) {
				return "", fmt.Errorf("assets: %w: make the folder readable", err)
			}
		}
	}
	return "", fmt.Errorf("assets: %s holds no digits: give a folder with MNIST's file t10k-images-idx3-ubyte or train-images-idx3-ubyte, plain or .gz, or with such a file in its subfolder mnist", assets)
}

// readDigits draws two different pictures of an IDX file at random.
func readDigits(r io.Reader, zipped bool, rng *rand.Rand) (ink [2][]float64, err error) {
	if zipped {
		if r, err = gzip.NewReader(r); err != nil {
			return ink, fmt.Errorf("%w: download the file again", err)
		}
	}
	pictures, err := newIDXPictures(r)
	if err != nil {
		return ink, err
	}
	first, second := rng.IntN(pictures.count), rng.IntN(pictures.count-1)
	if second >= first {
		second++
	}
	for i, picture := range []int{min(first, second), max(first, second)} {
		grey, err := pictures.picture(picture)
		if err != nil {
			return ink, err
		}
		ink[i] = shrink(grey, pictures.width, pictures.height, digitSide, 255)
	}
	return ink, nil
}

// glyphSide and glyphSize follow MNIST: a digit 20 px high in the centre of 28x28.
const (
	glyphSide = 28
	glyphSize = 27 // px per em: digits of the Go font are 0.73 em high
)

// glyphs returns two different digits of the Go font.
func glyphs(rng *rand.Rand) (ink [2][]float64, err error) {
	parsed, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return ink, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: glyphSize, DPI: 72})
	if err != nil {
		return ink, err
	}
	for i, digit := range rng.Perm(10)[:len(ink)] {
		ink[i] = glyph(face, string(rune('0'+digit)))
	}
	return ink, face.Close()
}

// glyph draws a text with its bounds centred in the picture.
func glyph(face font.Face, text string) []float64 {
	canvas := image.NewAlpha(image.Rect(0, 0, glyphSide, glyphSide))
	bounds, _ := font.BoundString(face, text)
	pen := font.Drawer{Dst: canvas, Src: image.Opaque, Face: face, Dot: fixed.Point26_6{
		X: (fixed.I(glyphSide) - bounds.Min.X - bounds.Max.X) / 2,
		Y: (fixed.I(glyphSide) - bounds.Min.Y - bounds.Max.Y) / 2,
	}}
	pen.DrawString(text)
	return shrink(canvas.Pix, glyphSide, glyphSide, digitSide, 255)
}
