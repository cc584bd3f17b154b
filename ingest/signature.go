package ingest

import (
	"bytes"
	"io"
	"os"

	"driftscope/ingest/fits"
)

// Formats that signature knows.
const (
	formatTIFF = "TIFF"
	formatFITS = "FITS"
	formatAVI  = "AVI"
	formatMP4  = "MP4" // and QuickTime
	formatMKV  = "MKV" // and WebM
	formatTS   = "MPEG-TS"
	formatMPEG = "MPEG"
	formatPNG  = "PNG"
	formatJPEG = "JPEG"
	formatBMP  = "BMP"
)

// signature names the format of the file at path by what it begins with, whatever the file is called; empty where that does not tell.
func signature(path string) string {
	file, _, err := openFile(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	return formatOf(file)
}

func formatOf(file *os.File) string {
	const packet = 188 // of MPEG-TS, each with 0x47 in front
	head := make([]byte, packet+1)
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
		return formatTIFF
	case at(0, fits.Magic):
		return formatFITS
	case at(0, "RIFF") && at(8, "AVI "):
		return formatAVI
	case at(4, "ftyp"), at(4, "moov"), at(4, "mdat"), at(4, "wide"):
		return formatMP4
	case at(0, "\x1a\x45\xdf\xa3"):
		return formatMKV
	case at(0, "G") && at(packet, "G"):
		return formatTS
	case at(0, "\x00\x00\x01\xba"), at(0, "\x00\x00\x01\xb3"):
		return formatMPEG
	case at(0, "\x89PNG\r\n\x1a\n"):
		return formatPNG
	case at(0, "\xff\xd8\xff"):
		return formatJPEG
	case at(0, "BM"):
		return formatBMP
	}
	return ""
}
