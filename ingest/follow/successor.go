package follow

import (
	"container/heap"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// counting is how many pictures in a row have to be numbered one by one before the next is asked for by name.
const counting = 64

// successor asks for the next picture by its name, where a listing takes long and the names have long been counting. So a picture of a large folder
// on a network drive is not given only when two listings have ended.
type successor struct {
	name  string // after the last that was taken; empty where that has no number
	row   int    // pictures that were counted up to it
	found bool   // the last question found a picture, and the next may be there
}

// after notes that a picture was taken.
func (s *successor) after(name string) {
	if name == s.name {
		s.row++
	} else {
		s.row, s.found = 0, false
	}
	s.name = counted(name)
}

// counted is the name with the last of its numbers one higher; empty where it has none.
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

// ask has the next picture wait where it is there, though no listing has ripened it.
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
