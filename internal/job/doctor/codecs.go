package doctor

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/ingest"
	"driftscope/internal/flow/config"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// films has a film of a few frames for each codec that microscope programs write. TestFilms makes them with -write.
//
//go:embed films
var films embed.FS

// codecs reads a film of each codec, as run does.
func codecs(ctx context.Context, _ machine) []Finding {
	f := Finding{Check: "codecs", Grade: Good, Page: console.RecordingsPage}
	if !slices.Contains(ingest.Kinds(), "video") {
		f.Grade, f.Found = Note, "this build has no OpenCV and reads no video, but it reads TIFF, NDTiff and FITS"
		return []Finding{f}
	}
	var read, failed []string
	entries, err := films.ReadDir("films")
	for _, e := range entries {
		data, bad := films.ReadFile(path.Join("films", e.Name()))
		if bad == nil {
			bad = decodes(ctx, e.Name(), data)
		}
		if bad != nil {
			failed = append(failed, fmt.Sprintf("%s (%v)", codec(e), bad))
			continue
		}
		read = append(read, codec(e))
	}
	f.Found = "video is read in " + strings.Join(read, ", ")
	if err != nil || len(failed) > 0 {
		f.Grade, f.Found = Bad, "video cannot be read in "+strings.Join(failed, ", ")
		f.Mend = "sudo apt install --reinstall 'libavcodec*[0-9]' 'libopencv-videoio*[0-9]*'"
	}
	return []Finding{f}
}

// codec returns the file's name without its ending.
func codec(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), path.Ext(e.Name())) }

// decodes reads one frame of a film.
func decodes(ctx context.Context, name string, film []byte) (err error) {
	folder, err := os.MkdirTemp("", "driftscope-doctor-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, name)
	if err := system.WriteFile(file, film); err != nil {
		return err
	}
	component, err := config.NewComponent("video", map[string]any{"path": file, "fps": 25})
	if err != nil {
		return err
	}
	source, err := ingest.New(component.Kind, component.Decode)
	if err != nil {
		return err
	}
	if err := source.Open(ctx); err != nil {
		return err
	}
	frame, err := source.Read(ctx)
	if err == nil {
		err = frame.Close()
	}
	return errors.Join(err, source.Close())
}
