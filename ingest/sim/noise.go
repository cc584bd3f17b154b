package sim

// A noise table holds 2048 values: 11 bits of a random word choose a cell, the other 21 choose within it.
const (
	cellBits    = 11
	cutBits     = 32 - cellBits
	noiseValues = 1 << cellBits
)

// noiseTable draws from a law on the integers first .. first + noiseValues - 1 by the alias method (Walker 1977, built as by
// Vose 1991): each cell is cut in two, its own value below the cut and its alias above. A cell packs cut and alias in a word, so a
// table takes 8 KiB. Probabilities are exact to 2⁻³².
type noiseTable struct {
	first uint16
	cells [noiseValues]uint32 // cut << cellBits | alias
}

// newNoiseTable makes the table of first + i with probability p[i], which has noiseValues entries and sums to 1 but for rounding.
// first must not be negative, nor first + noiseValues exceed 65536.
func newNoiseTable(first int, p []float64) *noiseTable {
	t := &noiseTable{first: uint16(first)}
	share := make([]float64, noiseValues) // in cells
	var small, large []int
	total := 0.0
	for _, v := range p {
		total += v
	}
	for i, v := range p {
		share[i] = v / total * noiseValues
		if share[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		low, high := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.cells[low] = uint32(share[low]*(1<<cutBits))<<cellBits | uint32(high)
		share[high] -= 1 - share[low]
		if share[high] < 1 {
			large = large[:len(large)-1]
			small = append(small, high)
		}
	}
	for _, i := range append(small, large...) { // whole cells, up to rounding: their own alias
		t.cells[i] = uint32(i)
	}
	return t
}

// draw maps 32 random bits to a value.
func (t *noiseTable) draw(bits uint32) uint16 {
	value := bits >> cutBits
	cell := t.cells[value]
	if bits&(1<<cutBits-1) >= cell>>cellBits {
		value = cell & (noiseValues - 1)
	}
	return t.first + uint16(value)
}
