package bounded

import "encoding/binary"

// Unshuffle restores the order of bytes in elements of size bytes. src has the first bytes of all elements, then all second bytes and so on, and an incomplete
// element at the end. dst has the length of src.
func Unshuffle(dst, src []byte, size int) {
	n := len(src) / size
	switch size {
	case 2: // the usual case for cameras
		unshuffle2(dst, src[:n], src[n:2*n])
	case 4:
		for i := range n {
			v := uint32(src[i]) | uint32(src[n+i])<<8 | uint32(src[2*n+i])<<16 | uint32(src[3*n+i])<<24
			binary.LittleEndian.PutUint32(dst[4*i:], v)
		}
	default:
		for j := range size {
			for i, v := range src[j*n : (j+1)*n] {
				dst[i*size+j] = v
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// unshuffle2 restores four elements at once.
func unshuffle2(dst, low, high []byte) {
	i := 0
	for ; i+4 <= len(low); i += 4 {
		v := spread(binary.LittleEndian.Uint32(low[i:])) | spread(binary.LittleEndian.Uint32(high[i:]))<<8
		binary.LittleEndian.PutUint64(dst[2*i:], v)
	}
	for ; i < len(low); i++ {
		dst[2*i], dst[2*i+1] = low[i], high[i]
	}
}

// spread inserts a zero byte after each of four bytes.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	return (x | x<<8) & 0x00ff00ff00ff00ff
}
