package ingest

import (
	"driftscope/ingest/files"
	"driftscope/ingest/format"
	"driftscope/ingest/natsource"
	"driftscope/ingest/recorder"
	"driftscope/internal/kit/console"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// forms lists what Guess accepts, for its errors.
const forms = "give sim:NAME, camera:N, genicam:NAME, gst:PIPELINE, an rtsp:// or http:// address, nats:SUBJECT, a video, a multi-page TIFF, a FITS cube, an NDTiff folder, an OME-Zarr store, an HDF5, CZI or ND2 file, or a folder or pattern of pictures"

// Guess returns the kind and the options of the source that arg names. arg is a camera, an address, sim:NAME or sim:NAME?seed=7, nats:SUBJECT, a folder or a
// glob of pictures, an NDTiff folder or ndtiff:FOLDER?channel=DAPI&z=3, an OME-Zarr store or zarr:STORE?channel=2&slice=1, a TIFF or
// tiff:FILE?channel=2&slice=1, a FITS file, an HDF5 file or h5:FILE?dataset=/data, a CZI or ND2 file or czi:FILE?channel=2, or a video. Guess returns an error
// for a missing file; Open reports a missing camera.
func Guess(arg string) (kind string, options map[string]any, err error) {
	kind, options, err = guess(arg)
	return kind, options, console.About(Page(kind), err)
}

func guess(arg string) (kind string, options map[string]any, err error) {
	if rest, found := strings.CutPrefix(arg, "sim:"); found {
		options, err := simulatedQuery(rest)
		return "sim", options, err
	}
	if subject, found := strings.CutPrefix(arg, "nats:"); found {
		return "nats", natsource.Options(subject), nil
	}
	if rest, found := strings.CutPrefix(arg, "ndtiff:"); found {
		options, err := files.NDTiffOptions(rest)
		return "ndtiff", options, err
	}
	if rest, found := strings.CutPrefix(arg, "tiff:"); found {
		options, err := files.TIFFOptions(rest)
		return "tiff", options, err
	}
	if rest, found := strings.CutPrefix(arg, "zarr:"); found {
		options, err := files.ZarrOptions(rest)
		return "zarr", options, err
	}
	for prefix, of := range finished {
		if rest, found := strings.CutPrefix(arg, prefix+":"); found {
			options, err := of.options(rest)
			return of.kind, options, err
		}
	}
	if kind, options, err := guessCamera(arg); kind != "" || err != nil {
		return kind, options, err
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir() && recorder.IsRecording(arg):
		kind = "recording"
	case err == nil && info.IsDir() && files.IndexFolder(arg) != "":
		kind = "ndtiff"
	case err == nil && info.IsDir() && files.IsZarr(arg):
		kind = "zarr"
	case err == nil && info.IsDir():
		kind = "directory"
	case err == nil && info.Mode().IsRegular():
		kind, err = guessFile(arg)
	case err == nil:
		err = fmt.Errorf("%s is neither a file nor a folder (its mode is %v): %s", arg, info.Mode().Type(), forms)
	case strings.ContainsAny(arg, "*?["):
		kind, err = guessPattern(arg)
	case errors.Is(err, os.ErrNotExist):
		err = console.Absent(arg, fmt.Errorf("%s does not exist: %s", arg, forms))
	default:
		err = fmt.Errorf("%w: %s", err, forms)
	}
	if err != nil {
		return "", nil, err
	}
	return kind, map[string]any{"path": arg}, nil
}

// finished maps prefixes such as czi: to the kinds of files that are read only when complete.
var finished = map[string]struct {
	kind    string
	options func(text string) (map[string]any, error)
}{
	"czi": {"czi", files.CZIOptions}, "h5": {"hdf5", files.HDF5Options}, "hdf5": {"hdf5", files.HDF5Options}, "nd2": {"nd2", files.ND2Options},
}

// guessCamera returns an empty kind if arg has no prefix of a camera or an address.
func guessCamera(arg string) (kind string, options map[string]any, err error) {
	scheme, rest, _ := strings.Cut(arg, ":")
	switch scheme {
	case "camera":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return "", nil, fmt.Errorf("%s names no camera: give its number in /dev, such as camera:0", arg)
		}
		return "camera", map[string]any{"device": n}, nil
	case "genicam":
		return "genicam", map[string]any{"camera": rest}, nil
	case "gst":
		return "gst", map[string]any{"pipeline": rest}, nil
	case "rtsp", "http", "https":
		return "url", map[string]any{"url": arg}, nil
	}
	return "", nil, nil
}

// guessFile returns the kind of a file from its first bytes, or from its name if the bytes match no format.
func guessFile(path string) (kind string, err error) {
	switch format.Of(path) {
	case format.TIFF:
		return "tiff", nil
	case format.FITS:
		return "fits", nil
	case format.HDF5:
		return "hdf5", nil
	case format.CZI:
		return "czi", nil
	case format.ND2:
		return "nd2", nil
	case format.AVI, format.MP4, format.MKV, format.TS, format.MPEG:
		return "video", nil
	case format.PNG, format.JPEG, format.BMP:
		return "", singlePicture(path)
	}
	switch e := format.Extension(path); {
	case slices.Contains(format.TiffExtensions, e):
		return "tiff", nil
	case slices.Contains(format.FitsExtensions, e):
		return "fits", nil
	case slices.Contains(format.Hdf5Extensions, e):
		return "hdf5", nil
	case slices.Contains(format.CziExtensions, e):
		return "czi", nil
	case slices.Contains(format.Nd2Extensions, e):
		return "nd2", nil
	case slices.Contains(format.VideoExtensions, e):
		return "video", nil
	case slices.Contains(format.PictureExtensions, e):
		return "", singlePicture(path)
	case e == "":
		return "", fmt.Errorf("%s has no extension, and its first bytes match no supported format: %s", path, forms)
	default:
		return "", fmt.Errorf("%s is a %s file, which no source reads: %s", path, e, forms)
	}
}

func singlePicture(path string) error {
	return fmt.Errorf("%s is a single picture: give its folder, or a pattern such as '%s'", path, filepath.Join(filepath.Dir(path), "*"+filepath.Ext(path)))
}

func guessPattern(pattern string) (kind string, err error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", pattern, err, forms)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s matches no file: %s", pattern, forms)
	}
	return "directory", nil
}

// Shown returns arg for use in messages: an address loses its password and query.
func Shown(arg string) string {
	scheme, _, address := strings.Cut(arg, "://")
	if !address || strings.ContainsAny(scheme, ": ") { // a pipeline may also contain an address
		return arg
	}
	u, err := url.Parse(arg)
	if err != nil {
		return scheme + "://..."
	}
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return u.Redacted()
}
