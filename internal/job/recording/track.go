//go:build cgo

package recording

import (
	"fmt"

	"driftscope/preprocess"
)

// Track finds the object's centroid in every picture of a film.
func Track(pictures [][]float32, width, height int) ([]preprocess.Point, error) {
	places, _, err := preprocess.Centres(pictures, width, height)
	if err != nil {
		return nil, err
	}
	radius, err := preprocess.Extent(pictures[0], width, height, places[0])
	if err != nil {
		return nil, err
	}
	for i, picture := range pictures {
		if places[i], err = preprocess.Centroid(picture, width, height, places[i], radius); err != nil {
			return nil, fmt.Errorf("picture %d: %w", i, err)
		}
	}
	return places, nil
}
