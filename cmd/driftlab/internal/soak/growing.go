package soak

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"sync"
	"time"

	"driftscope/ingest/tiff"
)

// growing is a recording that is being written: pages of a TIFF, or pictures in a folder. Each life of the following program has its own recording.
type growing struct {
	folder string // folder of this soak
	name   string
	pages  bool // pages of one TIFF; otherwise pictures in a folder
	every  time.Duration

	mu      sync.Mutex
	path    string
	file    *os.File
	writer  *tiff.Writer
	written uint64
}

// renew begins a new recording and returns its path.
func (g *growing) renew(life int) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.path != "" {
		if g.file != nil {
			g.file.Close()
		}
		os.RemoveAll(g.path)
	}
	g.path, g.written = filepath.Join(g.folder, fmt.Sprintf("%s-%d", g.name, life)), 0
	if !g.pages {
		if err := os.MkdirAll(g.path, 0o700); err != nil {
			return "", err
		}
		return g.path, g.add()
	}
	g.path += ".tif"
	var err error
	if g.file, err = os.Create(g.path); err != nil {
		return "", err
	}
	if g.writer, err = tiff.NewWriter(g.file); err != nil {
		return "", err
	}
	return g.path, g.add()
}

// run writes frame after frame until ctx ends.
func (g *growing) run(ctx context.Context) error {
	tick := time.NewTicker(g.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			g.mu.Lock()
			err := g.add()
			g.mu.Unlock()
			if err != nil {
				return err
			}
		}
	}
}

// add writes one frame. The caller holds g.mu.
func (g *growing) add() error {
	pix := picture(g.written)
	if g.pages {
		if err := g.writer.Append(&tiff.Image{Width: side, Height: side, Channels: 1, Depth: tiff.Uint8, Pix: pix}); err != nil {
			return err
		}
		g.written++
		return nil
	}
	f, err := os.Create(filepath.Join(g.path, fmt.Sprintf("%09d.png", g.written)))
	if err != nil {
		return err
	}
	err = png.Encode(f, &image.Gray{Pix: pix, Stride: side, Rect: image.Rect(0, 0, side, side)})
	if e := f.Close(); err == nil {
		err = e
	}
	g.written++
	return err
}

// count returns the number of frames in the recording.
func (g *growing) count() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.written
}
