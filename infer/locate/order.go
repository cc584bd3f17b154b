package locate

import (
	"math"
	"math/bits"
)

// digit is how many bits of a number intoBins looks at, at a time.
const digit = 12

// intoBins orders pixels from one index to before another by their means, as far as the bins ask for: it sorts by the leading bits in which they differ,
// and what has the same ones again where the bound of a bin lies in it.
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
			first = int(starts[key-1]) // where those before end
		}
		if first < bound {
			done = int(starts[key])
			m.intoBins(first, done)
		}
	}
}

// ordered is a whole number that is larger for a larger v.
func ordered(v float32) uint32 {
	b := math.Float32bits(v)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}
