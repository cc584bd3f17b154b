package follow

import (
	"container/heap"
	"driftscope/ingest/format"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"slices"
)

const (
	mostNames  = 1 << 24 // bound on the names that wait, and on the names in a folder that is listed repeatedly
	remembered = 1 << 23 // number of names from notices after which the older half is forgotten
)

// Arrivals returns the pictures of a folder in the order of their names, as they appear. It stores a hash of each returned picture's name, 8 bytes plus the
// map's overhead. Among a million names, two share a hash in one of ten million runs.
type Arrivals struct {
	folder, pattern string // an empty pattern accepts every picture
	listing         listing
	notices         *notices // nil if the system gives no notices or incomplete ones
	known           names
	met             int      // number of names in the current listing
	waiting         queue    // ready names, first in order first
	held            []string // names that may precede an unseen picture
	older           []string // names held since the previous listing
	next            successor
	missed          bool // files may exist for which no notice came, so a listing must end before any name is ready
}

// OpenFolder starts to watch a folder, or the files that match a pattern such as run1/*.png. The folder must exist; pictures
// need not.
func OpenFolder(path string) (*Arrivals, error) {
	a := &Arrivals{folder: path, known: newNames(), missed: true, listing: listing{hurry: true}}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		a.folder, a.pattern = filepath.Dir(path), filepath.Base(path)
		info, err = os.Stat(a.folder)
	}
	if err == nil && !info.IsDir() {
		err = os.ErrNotExist
	}
	if err == nil {
		_, err = filepath.Match(a.pattern, "")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: give a folder, or a pattern of its files such as 'run1/*.tif'", path, err)
	}
	a.notices = openNotices(a.folder)
	return a, nil
}

// Look collects the names that appeared since the last call. more is true during the first listing of the folder, while no name is ready.
func (a *Arrivals) Look() (more bool, err error) {
	a.ask()
	listed, err := a.list()
	if err != nil {
		return false, fmt.Errorf("%s: %w: check the drive", a.folder, err)
	}
	if !a.noticed() { // notices now report the pictures that the listing missed
		listed = false
	}
	if listed {
		a.ripen()
	}
	n := len(a.waiting) + len(a.held) + len(a.older)
	if a.notices == nil {
		n = max(n, len(a.known.now))
	}
	if n > mostNames {
		return false, fmt.Errorf("%s has more than %d names at once: record into several folders, and follow one after the other", a.folder, mostNames)
	}
	return a.listing.hurry, nil
}

// list continues the current listing, or starts one if it is due, and reports whether a listing has ended.
func (a *Arrivals) list() (ended bool, err error) {
	return a.listing.read(a.folder, a.missed, a.notices == nil, func(name []byte, kind entryType) {
		if kind == isFolder {
			return
		}
		a.met++
		if a.known.add(name) && (kind == isNoFolder || !isDirectory(filepath.Join(a.folder, string(name)))) {
			a.take(string(name))
		}
	})
}

// isDirectory reports whether path itself is a folder.
func isDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// noticed processes the new notices. It returns false if notices were lost; then a listing must find their files.
func (a *Arrivals) noticed() bool {
	if a.notices == nil {
		return true
	}
	whole := true
	lost := func() { // names that come later may precede the lost ones
		a.missed, whole, a.met = true, false, 0
		a.listing.restart()
	}
	over := a.notices.drain(func(name []byte) {
		if a.known.add(name) {
			a.take(string(name))
		}
	}, lost)
	if over { // the folder or its drive is gone, which the listings report
		lost()
		a.ListOnly()
	}
	if len(a.known.now) > remembered && !a.missed && a.notices != nil {
		a.known.turn()
	}
	return whole
}

// take queues a new picture.
func (a *Arrivals) take(name string) {
	if !format.IsPicture(name) {
		return
	}
	if a.pattern != "" {
		if match, _ := filepath.Match(a.pattern, name); !match {
			return
		}
	}
	if a.missed || a.notices == nil {
		a.held = append(a.held, name)
	} else {
		heap.Push(&a.waiting, name)
	}
}

// ripen moves pictures to waiting after a listing if no earlier picture can still appear. With notices, or if the listing read the folder in one call, all
// pictures become ready. Otherwise the listing may have missed an older picture that was created after the listing had passed its position in the folder; the
// next listing finds it. So the names of a listing become ready at the end of the next listing, together with the new names that precede them.
func (a *Arrivals) ripen() {
	ripe, later := append(a.older, a.held...), []string(nil)
	if a.notices == nil {
		a.known.trim(a.met)
		if !a.listing.whole {
			ripe, later = a.apart()
		}
	}
	a.held, a.older, a.missed, a.met = nil, later, false, 0
	a.listing.hurry = a.listing.hurry && len(later) > 0
	if len(ripe) > len(a.waiting) {
		a.waiting = append(ripe, a.waiting...)
		heap.Init(&a.waiting)
		return
	}
	for _, name := range ripe {
		heap.Push(&a.waiting, name)
	}
}

// apart splits the names of this listing into names up to the last name of the previous listing (ripe) and later names.
func (a *Arrivals) apart() (ripe, later []string) {
	if len(a.older) == 0 {
		return nil, a.held
	}
	ripe = a.older
	last := slices.MaxFunc(ripe, format.Naturally)
	for _, name := range a.held {
		if format.Naturally(name, last) < 0 {
			ripe = append(ripe, name)
		} else {
			later = append(later, name)
		}
	}
	return ripe, later
}

// Seeking reports that pictures may exist that were not found or are not ready. While it is true, the recording has not ended.
func (a *Arrivals) Seeking() bool {
	return len(a.held)+len(a.older) > 0 || a.missed || a.notices == nil && !a.listing.whole && !a.listing.settled
}

// Front returns the path of the first ready picture, which must exist.
func (a *Arrivals) Front() string { return filepath.Join(a.folder, a.waiting[0]) }

// Len returns the number of ready pictures.
func (a *Arrivals) Len() int { return len(a.waiting) }

// Pop removes the first picture.
func (a *Arrivals) Pop() {
	a.next.after(heap.Pop(&a.waiting).(string))
	if len(a.waiting) == 0 {
		a.waiting = nil // frees the memory of a long queue
	}
}

// ListOnly stops the use of notices: from now on the folder is listed, as on a drive without notices.
func (a *Arrivals) ListOnly() error {
	if a.notices == nil {
		return nil
	}
	err := a.notices.close()
	a.notices = nil
	return err
}

// Close stops watching. Safe to call at any time.
func (a *Arrivals) Close() error {
	a.listing.restart()
	return a.ListOnly()
}

// names stores hashes of the names added since the last turn but one.
type names struct {
	seed        maphash.Seed
	now, before map[uint64]struct{}
}

func newNames() names { return names{seed: maphash.MakeSeed(), now: map[uint64]struct{}{}} }

// add reports whether the name is new.
func (n *names) add(name []byte) bool {
	hash := maphash.Bytes(n.seed, name)
	if _, there := n.now[hash]; there {
		return false
	}
	_, there := n.before[hash]
	n.now[hash] = struct{}{}
	return !there
}

// turn forgets names that were not added since the last turn. The new map grows gradually, so no single call is slow.
func (n *names) turn() { n.now, n.before = map[uint64]struct{}{}, n.now }

// trim is called after a listing that added listed names. If most stored names no longer exist, it drops them with the next listing.
func (n *names) trim(listed int) {
	n.before = nil
	if len(n.now) > 2*listed+batchNames {
		n.turn()
	}
}

// queue is a heap of names in natural order.
type queue []string

// Len, Less, Swap, Push and Pop implement container/heap.
func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return format.Naturally(q[i], q[j]) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(name any)     { *q = append(*q, name.(string)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	name := (*q)[last]
	(*q)[last] = ""
	*q = (*q)[:last]
	return name
}
