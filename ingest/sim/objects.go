package sim

import (
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds on a picture of an object; COIL-20's are 128x128.
const (
	maxObjectSide  = 1024
	maxObjectBytes = 4 << 20
)

// coil returns views of two different objects of COIL-20, side² values in [0, 1].
func coil(assets string, rng *rand.Rand) (a, b []float64, err error) {
	views, err := findCOIL(assets)
	if err != nil {
		return nil, nil, err
	}
	objects := slices.Sorted(maps.Keys(views))
	chosen := rng.Perm(len(objects))[:2]
	var grey [2][]float64
	for i, c := range chosen {
		paths := views[objects[c]]
		path := paths[rng.IntN(len(paths))]
		if grey[i], err = readObject(path); err != nil {
			return nil, nil, fmt.Errorf("assets: %s: %w", path, err)
		}
	}
	return grey[0], grey[1], nil
}

// findCOIL lists the files obj*__*.png by object, in the first folder that has any. It requires two objects.
func findCOIL(assets string) (map[string][]string, error) {
	if err := checkAssets(assets); err != nil {
		return nil, err
	}
	views := map[string][]string{}
	for _, folder := range assetFolders(assets, "coil20") {
		entries, err := os.ReadDir(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("assets: %w: make the folder readable", err)
		}
		for _, entry := range entries {
			object, view, found := strings.Cut(entry.Name(), "__")
			if found && strings.HasPrefix(object, "obj") && strings.HasSuffix(view, ".png") {
				views[object] = append(views[object], filepath.Join(folder, entry.Name()))
			}
		}
		if len(views) > 0 {
			break
		}
	}
	if len(views) < 2 {
		return nil, fmt.Errorf("assets: %s holds %d objects, two are needed: give a folder with COIL-20's files obj1__0.png and so on, or with these files in its subfolder coil20", assets, len(views))
	}
	return views, nil
}

// readObject returns a grey PNG scaled to side x side values in [0, 1].
func readObject(path string) ([]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: make the file readable", err)
	}
	defer file.Close()
	return decodeObject(io.NewSectionReader(file, 0, maxObjectBytes))
}

func decodeObject(r io.ReadSeeker) ([]float64, error) {
	config, err := png.DecodeConfig(r)
	if err != nil {
		return nil, fmt.Errorf("%w: give a PNG", err)
	}
	if min(config.Width, config.Height) < side || max(config.Width, config.Height) > maxObjectSide {
		return nil, fmt.Errorf("the picture is %dx%d, expected sides of %d to %d: give COIL-20's own picture", config.Width, config.Height, side, maxObjectSide)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	picture, err := png.Decode(r)
	if err != nil {
		return nil, fmt.Errorf("%w: download the file again", err)
	}
	grey := make([]uint16, 0, config.Width*config.Height)
	for y := range config.Height {
		for x := range config.Width {
			grey = append(grey, color.Gray16Model.Convert(picture.At(x, y)).(color.Gray16).Y)
		}
	}
	if slices.Max(grey) == 0 {
		return nil, errors.New("the picture is all black: give a picture of an object")
	}
	return shrink(grey, config.Width, config.Height, side, math.MaxUint16), nil
}

// ring and pebble are substitutes if COIL-20's objects are missing: a ring lit from the left and a slanted oval lit from below.
func ring() []float64 {
	return shape(func(x, y float64) float64 {
		across := (math.Hypot(x, y) - 20) / 6
		return math.Exp(-across*across) * (0.65 - 0.35*x/26)
	})
}

func pebble() []float64 {
	return shape(func(x, y float64) float64 {
		along, across := (x+y)/math.Sqrt2/21, (x-y)/math.Sqrt2/11
		r2 := along*along + across*across
		return math.Exp(-r2*r2) * (0.65 + 0.35*y/26)
	})
}

// shape evaluates brightness at every pixel. x and y are the pixel's offset from the picture's centre, px.
func shape(brightness func(x, y float64) float64) []float64 {
	grey := make([]float64, 0, side*side)
	for j := range side {
		for i := range side {
			grey = append(grey, brightness(float64(i)+0.5-side/2, float64(j)+0.5-side/2))
		}
	}
	return grey
}
