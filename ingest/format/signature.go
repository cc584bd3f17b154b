package format

import (
	"bytes"
	"io"
	"os"

	"driftscope/ingest/czi"
	"driftscope/ingest/fits"
	"driftscope/ingest/hdf5"
	"driftscope/ingest/nd2"
)

// The formats that Of recognises.
const (
	TIFF = "TIFF"
	FITS = "FITS"
	HDF5 = "HDF5"
	CZI  = "CZI"
	ND2  = "ND2"
	AVI  = "AVI"
	MP4  = "MP4" // also QuickTime
	MKV  = "MKV" // also WebM
	TS   = "MPEG-TS"
	MPEG = "MPEG"
	PNG  = "PNG"
	JPEG = "JPEG"
	BMP  = "BMP"
)

// Of returns the format of the file at path by its first bytes, not its name, or "" if they are unknown.
func Of(path string) string {
	file, _, err := Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	return OfFile(file)
}

// OfFile is like Of, for an open file.
func OfFile(file *os.File) string {
	const packet = 188 // length of an MPEG-TS packet, which begins with 0x47
	head := make([]byte, hdf5.UserBlock+len(hdf5.Magic))
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return ""
	}
	head = head[:n]
	at := func(offset int, text string) bool {
		return len(head) >= offset && bytes.HasPrefix(head[offset:], []byte(text))
	}
	switch {
	case at(0, "II*\x00"), at(0, "MM\x00*"), at(0, "II+\x00"), at(0, "MM\x00+"):
		return TIFF
	case at(0, fits.Magic):
		return FITS
	case at(0, hdf5.Magic), at(hdf5.UserBlock, hdf5.Magic):
		return HDF5
	case at(0, czi.Magic):
		return CZI
	case at(0, nd2.Magic):
		return ND2
	case at(0, "RIFF") && at(8, "AVI "):
		return AVI
	case at(4, "ftyp"), at(4, "moov"), at(4, "mdat"), at(4, "wide"):
		return MP4
	case at(0, "\x1a\x45\xdf\xa3"):
		return MKV
	case at(0, "G") && at(packet, "G"):
		return TS
	case at(0, "\x00\x00\x01\xba"), at(0, "\x00\x00\x01\xb3"):
		return MPEG
	case at(0, "\x89PNG\r\n\x1a\n"):
		return PNG
	case at(0, "\xff\xd8\xff"):
		return JPEG
	case at(0, "BM"):
		return BMP
	}
	return ""
}
