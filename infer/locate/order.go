package locate

import "math"

// digit is how many bits of a number sortByMean looks at, at a time.
const digit = 11

// sortByMean sorts pixels by their means, digit by digit from the last on, with other of the same length as scratch, and returns the one that is sorted.
func sortByMean(pixels, other []noisePixel) []noisePixel {
	for shift := 0; shift < 32; shift += digit {
		var starts [1 << digit]int32
		for _, p := range pixels {
			starts[ordered(p.mean)>>shift&(1<<digit-1)]++
		}
		sum := int32(0)
		for i, n := range starts {
			starts[i] = sum
			sum += n
		}
		for _, p := range pixels {
			at := &starts[ordered(p.mean)>>shift&(1<<digit-1)]
			other[*at] = p
			*at++
		}
		pixels, other = other, pixels
	}
	return pixels
}

// ordered is a whole number that is larger for a larger v.
func ordered(v float32) uint32 {
	b := math.Float32bits(v)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}
