package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// assetFolders are where assets may lie: the folder that was given, or the one of that name in it.
func assetFolders(assets, name string) []string { return []string{assets, filepath.Join(assets, name)} }

// checkAssets errors unless assets is a folder.
func checkAssets(assets string) error {
	info, err := os.Stat(assets)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("assets: %s does not exist: give a folder with MNIST or COIL-20 pictures", assets)
	}
	if err != nil {
		return fmt.Errorf("assets: %w: give a folder that can be read", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("assets: %s is not a folder: give the one it lies in", assets)
	}
	return nil
}

// shrink returns a picture of width x height grey values 0 .. top as n x n values in [0, 1]. A pixel is the mean over the area that
// it covers of the old ones, of which there are at least n along each axis.
func shrink[T uint8 | uint16](grey []T, width, height, n int, top float64) []float64 {
	across, down := overlaps(width, n), overlaps(height, n)
	small := make([]float64, n*n)
	for j, rows := range down {
		for i, columns := range across {
			for _, row := range rows {
				for _, column := range columns {
					small[j*n+i] += row.share * column.share * float64(grey[row.pixel*width+column.pixel]) / top
				}
			}
		}
	}
	return small
}

// overlap is the share of a new pixel that an old one fills.
type overlap struct {
	pixel int
	share float64
}

// overlaps cuts a line of from pixels into n equal ones.
func overlaps(from, n int) [][]overlap {
	cut := make([][]overlap, n)
	width := float64(from) / float64(n)
	for i := range cut {
		begin, end := float64(i)*width, float64(i+1)*width
		for pixel := int(begin); pixel < from && float64(pixel) < end; pixel++ {
			share := (min(end, float64(pixel+1)) - max(begin, float64(pixel))) / width
			cut[i] = append(cut[i], overlap{pixel, share})
		}
	}
	return cut
}
