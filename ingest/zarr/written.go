package zarr

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// listed is the number of file names read at once, maxListed the largest number in all.
const (
	listed    = 4096
	maxListed = 1 << 24
)

// Later returns the time of the next picture after p with any data, or -1. It checks the next reach chunks along the time axis.
func (i *Image) Later(p Place, reach int) int {
	if !i.Timed() {
		return -1
	}
	together := i.Together()
	for n := 1; n <= reach; n++ {
		p.Time = (p.Time/together + 1) * together
		if s, err := i.State(p); err == nil && s.Present > 0 {
			return p.Time
		}
	}
	return -1
}

// Last returns the time, from 0, of the last picture of p's channel and slice with any data, or -1. Frames at the end of a chunk that have only the fill value
// do not count. If beyond is true, Last includes times that the metadata do not count yet.
func (i *Image) Last(p Place, beyond bool) (int, error) {
	last := i.Times() - 1
	if i.Timed() {
		found, err := i.listing()
		if err != nil {
			return 0, err
		}
		per := i.array.perFile(i.axes[bounded.T])
		if ends := min(found+1, MaxFrames/per) * per; found >= -1 && (beyond || ends <= last) {
			last = ends - 1
		}
	}
	together := i.Together()
	for p.Time = last; p.Time >= 0; p.Time = p.Time/together*together - 1 {
		s, err := i.State(p)
		if err != nil {
			return 0, err
		}
		if s.Present > 0 {
			return i.filledUp(p), nil
		}
	}
	return -1, nil
}

// filledUp returns the time of the last picture, at or before p in its chunk, with more than the fill value.
func (i *Image) filledUp(p Place) int {
	if i.Together() == 1 {
		return p.Time
	}
	first := p.Time / i.Together() * i.Together()
	var picture tiff.Image
	for at := p; at.Time >= first; at.Time-- {
		if _, _, err := i.Read(&picture, at); err != nil {
			return min(p.Time, max(first, i.Times()-1)) // reading it reports the error
		}
		if !i.blank(&picture) {
			return at.Time
		}
	}
	return first - 1
}

// listing returns the largest grid number along the first axis in any key, -1 if there are no keys, or -2 if keys do not reveal it.
func (i *Image) listing() (largest int, err error) {
	if i.axes[bounded.T] != 0 {
		return -2, nil
	}
	a := i.array
	name := path.Join(a.folder, a.prefix)
	before := ""
	if !strings.HasSuffix(a.prefix, "/") {
		name, before = a.folder, a.prefix
	}
	folder, err := i.chunks.store.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	names, ok := folder.(fs.ReadDirFile)
	if !ok {
		return -2, nil
	}
	largest = -1
	for n := 0; n < maxListed; {
		entries, err := names.ReadDir(listed)
		for _, e := range entries {
			largest = max(largest, a.first(e.Name(), before))
		}
		n += len(entries)
		if err == io.EOF {
			return largest, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return -2, nil
}

// first returns the grid number along the first axis in a key, or -1.
func (a *array) first(name, before string) int {
	text, found := strings.CutPrefix(name, before)
	if !found {
		return -1
	}
	if nested := a.separator == "/" || a.guessed && !strings.Contains(text, "."); !nested {
		if strings.Count(text, ".") != len(a.shape)-1 {
			return -1
		}
		text, _, _ = strings.Cut(text, ".")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strconv.Itoa(n) != text {
		return -1
	}
	return n
}
