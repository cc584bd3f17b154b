package zarr

// unshuffleBits undoes the bit shuffle of elements of size bytes. Row 8j+k of src contains bit k of byte j of every element, with the first element in the
// lowest bit. Elements beyond a multiple of eight are stored unshuffled.
func unshuffleBits(dst, src []byte, size int) {
	n := len(dst) / size
	if n%8 != 0 {
		copy(dst, src)
		return
	}
	row := n / 8
	for j := range size {
		rows := src[8*j*row : 8*(j+1)*row]
		for i := range row {
			var x uint64
			for k := range 8 {
				x |= uint64(rows[k*row+i]) << (8 * k)
			}
			x = transposed(x)
			for e := range 8 {
				dst[(8*i+e)*size+j] = byte(x >> (8 * e))
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// transposed transposes a matrix of 8 by 8 bits, one row per byte (Warren, Hacker's Delight, 7-3).
func transposed(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}
