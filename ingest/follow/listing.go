package follow

import (
	"os"
	"time"
)

const (
	batchNames = 1 << 10               // that are read at once, or somewhat more
	share      = 50                    // of the time one part in so many goes to listings: 20 ms a second
	leastCost  = 200 * time.Nanosecond // of a name, whatever the clock says
	coarse     = 3 * time.Second       // that a folder's time may stay the same though something came: FAT counts in steps of 2 s
	insisting  = 30 * time.Second      // after which a folder is listed though it seems unchanged: some drives do not date folders
)

// entryType says whether an entry of a folder is a folder itself.
type entryType int

const (
	isNoFolder entryType = iota
	isFolder
	mayBeFolder
)

// listing reads a folder again and again, a part at a look, so that it takes a fiftieth of the reader's time at most. A folder that has not changed
// is left alone.
type listing struct {
	hurry bool // without pauses, until it is known what is there at the beginning

	dir      *entries  // nil between two listings
	due      time.Time // when it may be read on
	began    time.Time // the listing under way, or the last one
	pauses   int       // in it
	modified time.Time // the folder, as the drive says
	since    time.Time // when that was first seen
	settled  bool      // the last listing has seen all of that
	whole    bool      // the last listing read the folder in one go

	names int // that were read, ever
}

// read takes the folder's next names, as many as the time allows. It begins a listing where one is wanted, or, watching, where the folder may
// have changed, and says whether one has ended.
func (l *listing) read(folder string, wanted, watching bool, take func(name []byte, kind entryType)) (ended bool, err error) {
	now := time.Now()
	if now.Before(l.due) && !l.hurry || l.dir == nil && !wanted && !watching {
		return false, nil
	}
	if earliest := now.Add(-lookAgain); l.due.Before(earliest) {
		l.due = earliest // what was not used since the last look is lost
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
		if now.Before(l.due) || l.hurry { // a caller in a hurry comes back at once, and may be told to stop
			l.pauses++
			return false, nil
		}
	}
}

// batch reads some names, and says whether they were the last.
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

// begin begins a listing, unless the folder is as the last one has seen it and none is wanted.
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

// end notes what the listing that has ended is worth.
func (l *listing) end() {
	l.restart()
	l.settled = l.began.Sub(l.since) >= coarse
	l.whole = l.pauses == 0
}

// restart has the next listing begin anew.
func (l *listing) restart() {
	if l.dir != nil {
		l.dir.close() // nothing was written to it
		l.dir = nil
	}
}

// spend says when the folder may be read again, since from was spent on so many names, and gives the time now. Of what was read in a hurry nothing
// has to be made up for.
func (l *listing) spend(from time.Time, names int) (now time.Time) {
	now = time.Now()
	if l.hurry {
		l.due = now
		return now
	}
	l.due = l.due.Add(max(now.Sub(from), time.Duration(names)*leastCost) * share)
	return now
}
