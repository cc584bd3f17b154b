package locate

import (
	"math"
	"math/bits"
)

// digit is the number of bits that intoBins sorts by per pass.
const digit = 12

// intoBins sorts the pixels with indices [from, to) by their means, but only as far as the bins need. It sorts by the leading bits that differ. Pixels with
// equal leading bits are sorted further only if a bin's bound lies among them.
func (m *noiseMeter) intoBins(from, to int) {
	pixels := m.pixels[from:to]
	least, greatest := uint32(math.MaxUint32), uint32(0)
	for _, p := range pixels {
		key := ordered(p.Mean)
		least, greatest = min(least, key), max(greatest, key)
	}
	if least >= greatest {
		return
	}
	shift := max(0, bits.Len32(greatest-least)-digit)
	var starts [1 << digit]int32
	for _, p := range pixels {
		starts[(ordered(p.Mean)-least)>>shift&(1<<digit-1)]++
	}
	sum := int32(from)
	for i, n := range starts {
		starts[i] = sum
		sum += n
	}
	for _, p := range pixels {
		at := &starts[(ordered(p.Mean)-least)>>shift&(1<<digit-1)]
		m.other[*at] = p
		*at++
	}
	copy(pixels, m.other[from:to])
	for k, done := 1, from; k < noiseBins; k++ {
		bound, _ := span(k, noiseBins, len(m.pixels))
		if bound <= done || bound >= to {
			continue
		}
		key := (ordered(m.pixels[bound].Mean) - least) >> shift
		first := from
		if key > 0 {
			first = int(starts[key-1]) // the smaller keys end here
		}
		if first < bound {
			done = int(starts[key])
			m.intoBins(first, done)
		}
	}
}

// ordered maps v to an integer so that the order stays the same.
func ordered(v float32) uint32 {
	b := math.Float32bits(v)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}
