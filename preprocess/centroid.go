package preprocess

/*
#include "spot.h"
*/
import "C"

import (
	"fmt"
	"math"
)

const (
	centroidRounds = 20   // largest number of iterations
	centroidStill  = 1e-3 // pixels; a smaller move ends the iteration
	noiseMultiple  = 3.0  // weights are zero up to this many noise sds above the background
)

// Centroid refines at, a position from Centres. It returns the intensity centroid of the object there,
//
//	c = Σ w r / Σ w,   w = max(0, s(I - b) - 3n),   |r - c| < radius,
//
// where b and n are the median and the robust standard deviation of the ring from radius to 1.25 radius + 2 around c. s is the sign of the object, which is the
// sign of the mean of I - b within 3 pixels of at. Centroid moves the disc to the centroid until it no longer moves. radius is in pixels and must enclose the
// object; Extent returns a suitable one. Centroid fails if nothing exceeds the noise.
func Centroid(picture []float32, width, height int, at Point, radius float64) (Point, error) {
	if err := checkPictures([][]float32{picture}, width, height); err != nil {
		return Point{}, err
	}
	if !(radius >= 1 && radius <= MaxSide) {
		return Point{}, fmt.Errorf("centroid: found radius %g, expected 1 to %d pixels", radius, MaxSide)
	}
	d := disc{picture: picture, width: width, height: height}
	c, ok := d.refine(at, radius)
	if !ok {
		return Point{}, fmt.Errorf("centroid: nothing is visible above the noise within %g pixels of (%.1f, %.1f): "+
			"check that the object is in the picture", radius, at.X, at.Y)
	}
	return c, nil
}

// Extent returns a radius for Centroid. It is 1.5 times the distance from at over which the departure of the mean brightness from the picture's median falls to
// a tenth, and at least 4 pixels.
func Extent(picture []float32, width, height int, at Point) (float64, error) {
	if err := checkPictures([][]float32{picture}, width, height); err != nil {
		return 0, err
	}
	d := disc{picture: picture, width: width, height: height}
	middle, _ := level(picture)
	return d.extent(at, float64(middle)), nil
}

// disc reads circular parts of a picture.
type disc struct {
	picture       []float32
	width, height int
	ring          []float32 // scratch
}

// each calls f for every pixel whose distance from c is in [r0, r1).
func (d *disc) each(c Point, r0, r1 float64, f func(x, y, v float64)) {
	left, right := max(0, int(c.X-r1)), min(d.width-1, int(c.X+r1)+1)
	inner, outer := r0*r0, r1*r1
	for y := max(0, int(c.Y-r1)); y <= min(d.height-1, int(c.Y+r1)+1); y++ {
		row := d.picture[y*d.width : (y+1)*d.width]
		dy := float64(y) - c.Y
		across := dy * dy
		for x := left; x <= right; x++ {
			dx := float64(x) - c.X
			if r := dx*dx + across; r >= inner && r < outer {
				f(float64(x), float64(y), float64(row[x]))
			}
		}
	}
}

func (d *disc) ringMean(c Point, r0, r1 float64) float64 {
	var sum, n float64
	d.each(c, r0, r1, func(_, _, v float64) { sum, n = sum+v, n+1 })
	return sum / n
}

// extent is Extent with a known background.
func (d *disc) extent(at Point, background float64) float64 {
	core := math.Abs(d.ringMean(at, 0, 2) - background)
	r := 2.0
	for ; r < float64(max(d.width, d.height)); r++ {
		if v := d.ringMean(at, r, r+1); math.IsNaN(v) || math.Abs(v-background) < core/10 {
			break
		}
	}
	return max(4, 1.5*r)
}

// refine moves the disc from c to its centroid until it no longer moves. It returns false if nothing exceeds the noise. After a move of more than a pixel it
// measures the background again.
func (d *disc) refine(c Point, radius float64) (Point, bool) {
	var around ground
	moved := math.Inf(1)
	for range centroidRounds {
		if moved > 1 {
			around = d.ground(c, radius)
		}
		next, ok := d.centroid(c, radius, around)
		if !ok {
			return Point{}, false
		}
		moved = math.Hypot(next.X-c.X, next.Y-c.Y)
		if c = next; moved < centroidStill {
			break
		}
	}
	return c, true
}

// ground is the background of an object.
type ground struct {
	level, noise float64 // median and robust standard deviation
	sign         float64 // of the object: 1 bright, -1 dark
}

// ground measures the background in the ring around the disc at c, and the sign of the object at c. The level is NaN if the ring lies outside the picture.
func (d *disc) ground(c Point, radius float64) ground {
	d.ring = d.ring[:0]
	d.each(c, radius, 1.25*radius+2, func(_, _, v float64) { d.ring = append(d.ring, float32(v)) })
	if len(d.ring) == 0 {
		return ground{level: math.NaN()}
	}
	middle, sd := levelOf(d.ring)
	g := ground{level: float64(middle), noise: float64(sd), sign: 1}
	if d.ringMean(c, 0, 3) < g.level {
		g.sign = -1
	}
	return g
}

// centroid returns the weighted mean position in the disc around c. It does not move the disc.
func (d *disc) centroid(c Point, radius float64, g ground) (Point, bool) {
	m := C.ds_weigh(pictureOf(d.picture, d.width, d.height), C.double(c.X), C.double(c.Y), C.double(radius),
		C.double(g.level), C.double(g.sign), C.double(noiseMultiple*g.noise))
	return Point{float64(m.x / m.w), float64(m.y / m.w)}, m.w > 0
}
