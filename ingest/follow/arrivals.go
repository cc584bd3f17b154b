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
	mostNames  = 1 << 24 // of pictures that wait, and in a folder that has to be listed again and again
	remembered = 1 << 23 // names that came by notices, before the older half of them is forgotten
)

// Arrivals are the pictures of a folder in the order of their names, as they come. Of a picture that was taken a hash of its name stays, 8 bytes
// before what a map adds; two of a million names have the same once in ten million runs.
type Arrivals struct {
	folder, pattern string // pattern is empty where every picture counts
	listing         listing
	notices         *notices // nil where the system gives none, or not all
	known           names
	met             int      // names in the listing under way
	waiting         queue    // that can be given, the first in order first
	held            []string // that may be ahead of a picture that was not seen yet
	older           []string // the same, from the listing before
	next            successor
	missed          bool // files may be there of which no notice came: a listing has to end before any is given
}

// OpenFolder begins to watch a folder, or those of its files that a pattern such as run1/*.png matches. The folder has to be there,
// pictures need not.
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

// Look takes what came since the last look. more says that the folder is being listed for the first time, and nothing can be given before that is
// done.
func (a *Arrivals) Look() (more bool, err error) {
	a.ask()
	listed, err := a.list()
	if err != nil {
		return false, fmt.Errorf("%s: %w: check the drive", a.folder, err)
	}
	if !a.noticed() { // of what the listing did not meet, notices are here by now
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
		return false, fmt.Errorf("%s: more than %d names at once: record into several folders, and follow one after the other", a.folder, mostNames)
	}
	return a.listing.hurry, nil
}

// list reads on in the folder where that is due, and says whether a listing has ended.
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

// isDirectory says whether path itself is a folder.
func isDirectory(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// noticed takes the notices that came. It is false where some were lost, so that a listing has to find their files.
func (a *Arrivals) noticed() bool {
	if a.notices == nil {
		return true
	}
	whole := true
	lost := func() { // what comes behind may be ahead of what was lost
		a.missed, whole, a.met = true, false, 0
		a.listing.restart()
	}
	over := a.notices.drain(func(name []byte) {
		if a.known.add(name) {
			a.take(string(name))
		}
	}, lost)
	if over { // the folder went, or its drive: the listings will say so
		lost()
		a.ListOnly()
	}
	if len(a.known.now) > remembered && !a.missed && a.notices != nil {
		a.known.turn()
	}
	return whole
}

// take queues a picture that is new.
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

// ripen moves to waiting, after a listing has ended, the pictures before which no other can come any more. Those are all, where notices come of
// files that are made meanwhile, or the folder was read in one go. Else the listing may have passed the place of a picture that was made
// before one that it met; the next listing meets that picture. So what a listing met is given after the next one, together with what that
// one met before it in order.
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

// apart parts what this listing met into what lies before the last that the one before it met, and what lies behind.
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

// Seeking says that pictures may be there that are not seen yet, or not given: a recording has not ended while it does.
func (a *Arrivals) Seeking() bool {
	return len(a.held)+len(a.older) > 0 || a.missed || a.notices == nil && !a.listing.whole && !a.listing.settled
}

// Front is the path of the first picture that waits; there is one.
func (a *Arrivals) Front() string { return filepath.Join(a.folder, a.waiting[0]) }

// Len is how many pictures can be given.
func (a *Arrivals) Len() int { return len(a.waiting) }

// Pop removes the first picture.
func (a *Arrivals) Pop() {
	a.next.after(heap.Pop(&a.waiting).(string))
	if len(a.waiting) == 0 {
		a.waiting = nil // what many took is free again
	}
}

// ListOnly gives up the system's notices: from here on the folder is listed, as on a drive that gives none.
func (a *Arrivals) ListOnly() error {
	if a.notices == nil {
		return nil
	}
	err := a.notices.close()
	a.notices = nil
	return err
}

// Close ends the watching; it may be called at any time.
func (a *Arrivals) Close() error {
	a.listing.restart()
	return a.ListOnly()
}

// names knows names by their hashes: those added since the turn before the last.
type names struct {
	seed        maphash.Seed
	now, before map[uint64]struct{}
}

func newNames() names { return names{seed: maphash.MakeSeed(), now: map[uint64]struct{}{}} }

// add says whether the name was not known.
func (n *names) add(name []byte) bool {
	hash := maphash.Bytes(n.seed, name)
	if _, there := n.now[hash]; there {
		return false
	}
	_, there := n.before[hash]
	n.now[hash] = struct{}{}
	return !there
}

// turn forgets what was not added since the last turn. The new map grows bit by bit: no look pays for all of it.
func (n *names) turn() { n.now, n.before = map[uint64]struct{}{}, n.now }

// trim is called after a listing that has added so many. Where most of what is known is no longer there, the next listing leaves it behind.
func (n *names) trim(listed int) {
	n.before = nil
	if len(n.now) > 2*listed+batchNames {
		n.turn()
	}
}

// queue is a heap of names in their natural order.
type queue []string

// Len, Less, Swap, Push and Pop are container/heap's.
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
