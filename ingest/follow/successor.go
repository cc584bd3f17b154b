package follow

import (
	"container/heap"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// counting is the number of consecutively numbered pictures after which Arrivals checks directly for the next name.
const counting = 64

// successor predicts the name of the next picture from names that count up. If listings are slow, as in a large folder on a network drive, Arrivals checks for
// this name, and the picture need not wait for two listings.
type successor struct {
	name  string // name expected after the last picture's; empty if that name has no number
	row   int    // number of consecutively numbered pictures up to the last one
	found bool   // the last check found a picture, so the next picture may exist, too
}

// after records that a picture was taken.
func (s *successor) after(name string) {
	if name == s.name {
		s.row++
	} else {
		s.row, s.found = 0, false
	}
	s.name = counted(name)
}

// counted returns the name with its last number increased by one, or "" if it has none.
func counted(name string) string {
	end := strings.LastIndexAny(name, "0123456789") + 1
	number := []byte(name[:end])
	for i := end - 1; i >= 0 && '0' <= number[i] && number[i] <= '9'; i-- {
		if number[i] < '9' {
			number[i]++
			return string(number) + name[end:]
		}
		number[i] = '0'
		if i == 0 || number[i-1] < '0' || number[i-1] > '9' { // 99 becomes 100
			return string(number[:i]) + "1" + string(number[i:]) + name[end:]
		}
	}
	return ""
}

// ask checks for the predicted next picture and queues it if it exists, without waiting for a listing.
func (a *Arrivals) ask() {
	now := time.Now()
	if a.notices != nil || a.listing.whole || a.listing.hurry || len(a.waiting) > 0 || a.next.row < counting || now.Before(a.listing.due) && !a.next.found {
		return
	}
	name := a.next.name
	info, err := os.Lstat(filepath.Join(a.folder, name))
	if a.next.found = err == nil && !info.IsDir(); !a.next.found {
		a.listing.spend(now, 0)
		return
	}
	same := func(other string) bool { return other == name }
	a.held, a.older = slices.DeleteFunc(a.held, same), slices.DeleteFunc(a.older, same)
	a.known.add([]byte(name))
	heap.Push(&a.waiting, name)
}
