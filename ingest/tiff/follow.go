package tiff

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrPending reports that the next page of a followed file is missing or incomplete.
var ErrPending = errors.New("the next page is not written yet")

// Follow reads a file that is still being written. It reads nothing before Next. When a page is missing it calls length, which returns the file's size in
// bytes. A chain link that is zero or leads to no directory does not end the file: the next page will be linked there. A page whose directory or strips lie
// beyond the end of the file is pending, not torn, until Finish.
//
// Some writers give a file its full length first. Then a page counts as written in three cases: the next one has begun; its
// directory, written last, lies after its pixels; or the last two bytes that it fills, or the last two of the file, are not
// all zero.
func Follow(r io.ReaderAt, length func() (int64, error)) *File {
	return &File{r: r, length: length}
}

// Finish declares that the file no longer grows. Missing parts are then errors, as in a file opened with Open.
func (f *File) Finish() { f.finished = true }

// Doubt returns why the pending page cannot be read although its bytes seem to exist, or nil if bytes are missing. Doubt may be temporary, because numbers of a
// directory are zero until written. A page that stays doubtful can never be read.
func (f *File) Doubt() error {
	if errors.Is(f.doubt, ErrTorn) {
		return nil
	}
	return f.doubt
}

// Resting reports that the file may be complete: every page was read, and the chain of directories ends.
func (f *File) Resting() bool {
	return f.next > 0 && f.next == f.Pages() && f.broken == nil && f.stack.missing() == 0
}

// growing reports that more pages may come.
func (f *File) growing() bool { return f.length != nil && !f.finished }

// grow checks the file again: its header until it is complete, then the chain after the last known directory. It records missing parts in f.broken, which
// becomes an error after Finish. A file that cannot become a TIFF is an error.
func (f *File) grow() (err error) {
	if f.size, err = f.length(); err != nil {
		return err
	}
	if f.size < f.given { // a writer cuts off only unfilled space
		return fmt.Errorf("the file is %d bytes long, but its pages were read up to byte %d: the file was rewritten, so start the run again", f.size, f.given)
	}
	if f.stack.held > 0 {
		f.stack.held = f.stack.fitting(f.size)
		return nil
	}
	f.broken, f.doubt = nil, nil
	for n := len(f.directories); n > f.next; n-- { // the link to an unread page may be incomplete
		delete(f.seen, f.directories[n-1])
		f.directories = f.directories[:n-1]
	}
	link, headless := int64(0), f.headless() // check before reading the header, which may arrive in between
	if len(f.directories) > 0 {
		link, err = f.nextDirectory(f.directories[len(f.directories)-1])
	} else if link, err = f.readHeader(); err != nil && !headless {
		return err
	}
	if err != nil {
		f.broken = &PageError{Page: len(f.directories) + 1, Err: err}
		return nil
	}
	f.walk(link)
	if f.broken != nil && !f.begun(f.broken.Offset) {
		f.broken = nil
	}
	if len(f.directories) == 1 && f.readPage(f.directories[0]) == nil {
		f.findStack()
	}
	return nil
}

// begun reports whether anything is written at the target of a link. If not, the chain ends as if the link were zero.
func (f *File) begun(offset int64) bool {
	count := f.word[:2]
	if f.big {
		count = f.word[:8]
	}
	count = count[:max(0, min(int64(len(count)), f.size-offset))]
	return len(f.directories) == 0 || f.readAt(count, offset) == nil && slices.Max(append(count, 0)) > 0
}

// headless reports that the header is not written yet: the file is too short, or has zeros there.
func (f *File) headless() bool {
	if f.size < 16 {
		return true
	}
	w := f.word[:]
	return f.readAt(w, 0) == nil && (w[0] == 0 || w[1] == 0 || w[2]|w[3] == 0 || w[4]|w[5]|w[6]|w[7] == 0)
}

// written reports whether the last known page, whose directory was read, has all its bytes. It works even if the writer gave the file its full length first.
func (f *File) written() bool {
	if slices.ContainsFunc(f.entries, func(e entry) bool { return e.tag == 0 }) {
		return false
	}
	directory := f.directories[len(f.directories)-1]
	end := f.pixelsEnd()
	if end <= directory {
		return true
	}
	for i := range f.entries {
		end = max(end, f.valueEnd(&f.entries[i]))
	}
	if end >= f.size || end < 2 {
		return true // reading the values reports that they are torn
	}
	return f.nonzero(2, end) || f.nonzero(16, f.size)
}

// pixelsEnd returns the end in the file of the pixels of the current page.
func (f *File) pixelsEnd() (end int64) {
	for i := range f.page.across * f.page.down * f.page.planes() {
		end = max(end, int64(f.page.offsets[i])+f.stored(&f.page, i))
	}
	return end
}

// nonzero reports whether any of the n bytes before end is not zero; n is at most 16.
func (f *File) nonzero(n, end int64) bool {
	var last [16]byte
	return f.readAt(last[:n], end-n) == nil && last != [16]byte{}
}

// valueEnd returns the end in the file of a tag's values, or 0 if they lie in the directory.
func (f *File) valueEnd(e *entry) int64 {
	size := uint64(kindSize(e.kind))
	if size == 0 || e.count > uint64(f.size)/size {
		return 0
	}
	held := int64(e.count * size)
	if inline, offset := f.valuePlace(e); held > inline {
		return offset + held
	}
	return 0
}
