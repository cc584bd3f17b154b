package follow

import (
	"os"
	"time"
)

const (
	batchNames = 1 << 10               // names per read, approximately
	share      = 50                    // listings use 1/share of the time, 20 ms per second
	leastCost  = 200 * time.Nanosecond // lowest assumed cost of a name
	coarse     = 3 * time.Second       // largest delay of a folder's modification time behind a change; FAT counts in steps of 2 s
	insisting  = 30 * time.Second      // interval of listings of an unchanged folder, because some drives do not update modification times of folders
)

// entryType distinguishes folders from other entries of a folder.
type entryType int

const (
	isNoFolder entryType = iota
	isFolder
	mayBeFolder
)

// listing reads a folder repeatedly, one part per call, in at most 1/50 of the reader's time. It skips a folder that has not
// changed.
type listing struct {
	hurry bool // make no pauses, during the first listing

	dir      *entries  // nil between listings
	due      time.Time // earliest time of the next read
	began    time.Time // start of the current or last listing
	pauses   int       // pauses in the listing
	modified time.Time // modification time of the folder, by the drive's clock
	since    time.Time // when that time was first seen
	settled  bool      // the last listing includes the changes up to modified
	whole    bool      // the last listing read the folder in one call

	names int // names read in total
}

// read reads as many of the folder's next names as the time share allows. It starts a listing if wanted is true, or if watching is true and the folder may have
// changed. It reports whether a listing has ended.
func (l *listing) read(folder string, wanted, watching bool, take func(name []byte, kind entryType)) (ended bool, err error) {
	now := time.Now()
	if now.Before(l.due) && !l.hurry || l.dir == nil && !wanted && !watching {
		return false, nil
	}
	if earliest := now.Add(-lookAgain); l.due.Before(earliest) {
		l.due = earliest // unused time does not accumulate
	}
	if l.dir == nil {
		if begun, err := l.begin(folder, now, wanted); !begun {
			l.spend(now, 0)
			return false, err
		}
	}
	for {
		names, ended, err := l.batch(take)
		if err != nil {
			l.restart()
			return false, err
		}
		if now = l.spend(now, names); ended {
			l.end()
			return true, nil
		}
		if now.Before(l.due) || l.hurry { // a caller in a hurry gets control back at once, so it can be stopped
			l.pauses++
			return false, nil
		}
	}
}

// batch reads some names and reports whether the listing has ended.
func (l *listing) batch(take func(name []byte, kind entryType)) (names int, ended bool, err error) {
	for names < batchNames {
		n, err := l.dir.next(take)
		if err != nil || n == 0 {
			return names, err == nil, err
		}
		names += n
		l.names += n
	}
	return names, false, nil
}

// begin starts a listing if it is wanted or if the folder has changed since the last listing.
func (l *listing) begin(folder string, now time.Time, wanted bool) (begun bool, err error) {
	info, err := os.Stat(folder)
	if err != nil {
		return false, err
	}
	if modified := info.ModTime(); l.since.IsZero() || !modified.Equal(l.modified) {
		l.modified, l.since, l.settled = modified, now, false
	}
	if l.settled && !wanted && !l.hurry && now.Sub(l.began) < insisting {
		return false, nil
	}
	if l.dir, err = openEntries(folder); err != nil {
		return false, err
	}
	l.began, l.pauses = now, 0
	return true, nil
}

// end records, at the end of a listing, which changes of the folder it includes.
func (l *listing) end() {
	l.restart()
	l.settled = l.began.Sub(l.since) >= coarse
	l.whole = l.pauses == 0
}

// restart makes the next listing start from the beginning.
func (l *listing) restart() {
	if l.dir != nil {
		l.dir.close() // read only: no error to report
		l.dir = nil
	}
}

// spend sets the earliest time of the next read, after a read of names names that started at from. It returns the current time. It adds no delay if hurry is
// set.
func (l *listing) spend(from time.Time, names int) (now time.Time) {
	now = time.Now()
	if l.hurry {
		l.due = now
		return now
	}
	l.due = l.due.Add(max(now.Sub(from), time.Duration(names)*leastCost) * share)
	return now
}
