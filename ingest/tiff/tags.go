package tiff

import "fmt"

// Tags of TIFF 6.0, parts 2 and 3.
const (
	tagWidth            = 256
	tagHeight           = 257
	tagBitsPerSample    = 258
	tagCompression      = 259
	tagPhotometric      = 262
	tagFillOrder        = 266
	tagDescription      = 270
	tagStripOffsets     = 273
	tagSamplesPerPixel  = 277
	tagRowsPerStrip     = 278
	tagStripByteCounts  = 279
	tagPlanar           = 284
	tagPredictor        = 317
	tagColorMap         = 320
	tagTileWidth        = 322
	tagTileHeight       = 323
	tagTileOffsets      = 324
	tagTileByteCounts   = 325
	tagSampleFormat     = 339
	planarSeparate      = 2
	fillLowestBitFirst  = 2
	predictorNone       = 1
	predictorHorizontal = 2
	predictorFloat      = 3
)

// The supported values of tagPhotometric.
const (
	whiteIsZero = 0
	blackIsZero = 1
	rgb         = 2
	palette     = 3
)

// The supported values of tagSampleFormat.
const (
	formatUint      = 1
	formatInt       = 2
	formatFloat     = 3
	formatUndefined = 4 // read as unsigned, as libtiff does
)

// The supported values of tagCompression.
const (
	uncompressed = 1
	lzwCoded     = 5
	deflated     = 8
	deflatedOld  = 32946
	packBits     = 32773
)

// compressionName returns the usual name of a value of tagCompression.
func compressionName(c uint64) string {
	switch c {
	case uncompressed:
		return "none"
	case 2:
		return "CCITT modified Huffman"
	case 3:
		return "CCITT Group 3 fax"
	case 4:
		return "CCITT Group 4 fax"
	case lzwCoded:
		return "LZW"
	case 6:
		return "old-style JPEG"
	case 7, 33007, 34892:
		return "JPEG"
	case deflated, deflatedOld:
		return "Deflate"
	case packBits:
		return "PackBits"
	case 32809:
		return "ThunderScan"
	case 33003, 33004, 33005, 34712:
		return "JPEG 2000"
	case 34676, 34677:
		return "SGI LogLuv"
	case 34887:
		return "LERC"
	case 34925:
		return "LZMA"
	case 34933:
		return "PNG"
	case 34934, 22610:
		return "JPEG XR"
	case 50000, 34926:
		return "Zstandard"
	case 50001, 34927:
		return "WebP"
	case 50002, 52546:
		return "JPEG XL"
	}
	return fmt.Sprintf("number %d", c)
}

// photometricName returns the usual name of a value of tagPhotometric.
func photometricName(p uint64) string {
	switch p {
	case 4:
		return "transparency mask"
	case 5:
		return "CMYK"
	case 6:
		return "YCbCr"
	case 8, 9, 10:
		return "CIE L*a*b*"
	case 32803:
		return "colour filter array"
	case 32844, 32845:
		return "LogLuv"
	}
	return fmt.Sprintf("colour model %d", p)
}
