package follow

import (
	"driftscope/ingest/ingesttest"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// arrive opens Arrivals; the test closes them.
func arrive(t testing.TB, path string) *Arrivals {
	t.Helper()
	a, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// met returns the names that are ready now, and removes them.
func met(t testing.TB, a *Arrivals) (names []string) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = a.Look(); err != nil {
			t.Fatal(err)
		}
	}
	for len(a.waiting) > 0 {
		names = append(names, filepath.Base(a.Front()))
		a.Pop()
	}
	return names
}

// crowded makes a folder in memory with n empty pictures, f0.png and so on.
func crowded(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	if shared, err := os.MkdirTemp("/dev/shm", "driftscope-test"); err == nil { // where files are cheapest
		t.Cleanup(func() { os.RemoveAll(shared) })
		dir = shared
	}
	for i := range n {
		touch(t, dir, i)
	}
	return dir
}

// touch makes the empty picture i.
func touch(t testing.TB, dir string, i int) {
	t.Helper()
	fd, err := syscall.Open(filepath.Join(dir, fmt.Sprintf("f%d.png", i)), syscall.O_CREAT|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(fd)
}

// TestArrivalsUntold: without notices the listings find each picture once, and a deleted folder gives an error.
func TestArrivalsUntold(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := arrive(t, filepath.Join(dir, "*.png"))
		a.ListOnly()
		for _, step := range []struct{ files, want []string }{
			{[]string{"f10.png", "f9.png", "f1.tif", ".f2.png"}, []string{"f9.png", "f10.png"}},
			{[]string{"f9.png"}, nil},
			{[]string{"f11.png"}, []string{"f11.png"}},
		} {
			for _, name := range step.files {
				ingesttest.Write(t, filepath.Join(dir, name), nil)
			}
			time.Sleep(lookAgain)
			if got := met(t, a); !slices.Equal(got, step.want) {
				t.Errorf("%v came with %v, %v expected", got, step.files, step.want)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, err := a.Look(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of a folder that is gone: %v", err)
		}
	})
}

// TestArrivalsGone: a folder that is deleted while it is watched with notices gives an error, too.
func TestArrivalsGone(t *testing.T) {
	dir := t.TempDir()
	a := arrive(t, dir)
	touch(t, dir, 1)
	if got := met(t, a); !slices.Equal(got, []string{"f1.png"}) {
		t.Errorf("found %v", got)
	}
	if err := os.Rename(dir, dir+"x"); err != nil {
		t.Fatal(err)
	}
	err := error(nil)
	for end := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_, err = a.Look()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a folder that is gone: %v", err)
	}
}

// TestArrivalsTold: with notices, no name of a large folder is read twice, and new pictures are returned in order and at once.
func TestArrivalsTold(t *testing.T) {
	const n = 200_000
	dir := crowded(t, n)
	a := arrive(t, dir)
	if a.notices == nil {
		t.Fatalf("%s: no notices, expected them on this system's own file systems", dir)
	}
	if got := met(t, a); len(got) != n || got[n-1] != fmt.Sprintf("f%d.png", n-1) {
		t.Fatalf("found %d pictures, the last is %s", len(got), got[len(got)-1])
	}
	read := a.listing.names
	for i := range 100 {
		touch(t, dir, n+2*i+1)
		touch(t, dir, n+2*i)
		if got, want := met(t, a), []string{fmt.Sprintf("f%d.png", n+2*i), fmt.Sprintf("f%d.png", n+2*i+1)}; !slices.Equal(got, want) {
			t.Fatalf("found %v, expected %v", got, want)
		}
	}
	if a.listing.names != read {
		t.Errorf("%d names were read again", a.listing.names-read)
	}
}

// TestArrivalsLost: when the system dropped notices, later pictures are returned only together with the pictures of the lost notices.
func TestArrivalsLost(t *testing.T) {
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	queued := 0
	if _, scanned := fmt.Sscan(string(limit), &queued); err != nil || scanned != nil || queued > 1<<18 {
		t.Skipf("the system keeps %d notices (%v): too many to overrun", queued, err)
	}
	dir := crowded(t, 0)
	synctest.Test(t, func(t *testing.T) {
		a := arrive(t, dir)
		met(t, a)
		n := queued + 5000
		for i := range n {
			touch(t, dir, i)
		}
		var got []string
		for round := 0; len(got) < n && round < 1000; round++ { // a listing needs far fewer rounds
			if round == 1 { // arrives with a notice, while the listing continues
				touch(t, dir, n)
				n++
			}
			got = append(got, met(t, a)...)
			time.Sleep(lookAgain)
		}
		if len(got) != n {
			t.Fatalf("found %d pictures, expected %d", len(got), n)
		}
		for i, name := range got {
			if name != fmt.Sprintf("f%d.png", i) {
				t.Fatalf("picture %d is %s", i, name)
			}
		}
	})
}

// TestArrivalsWork: without notices a large folder is read in parts, with at most 20 ms per second of work, and new pictures are found. An unchanged folder is
// listed only rarely, and only then may the recording have ended.
func TestArrivalsWork(t *testing.T) {
	const (
		n     = 200_000
		most  = int(time.Second / share / leastCost) // names per second
		burst = 4 * batchNames                       // names of one call: a batch may be twice as large, and one batch may be read ahead
	)
	dir := crowded(t, n)
	synctest.Test(t, func(t *testing.T) {
		a := arrive(t, dir)
		a.ListOnly()
		if got := met(t, a); len(got) != n {
			t.Fatalf("found %d pictures, expected %d", len(got), n)
		}
		if a.listing.due.After(time.Now()) {
			t.Errorf("after the first listing nothing is read for %v", time.Until(a.listing.due))
		}
		next, found := n+1, n+1
		second := func() (names int) {
			before := a.listing.names
			for range time.Second / lookAgain {
				time.Sleep(lookAgain)
				for _, name := range met(t, a) {
					if want := fmt.Sprintf("f%d.png", found); name != want {
						t.Fatalf("%s came, expected %s", name, want)
					}
					found += 2
				}
			}
			return a.listing.names - before
		}
		for i := range 40 {
			if i < 20 {
				touch(t, dir, next) // not in steps of one, so no name is predicted
				next += 2
			}
			if names := second(); names > most+burst {
				t.Fatalf("second %d: %d names were read, at most %d expected", i, names, most+burst)
			}
			if found < next && !a.Seeking() {
				t.Fatalf("second %d: the recording may have ended, with %d pictures not found", i, (next-found)/2)
			}
		}
		if found != next {
			t.Errorf("%d new pictures were found, expected %d", (found-n)/2, (next-n)/2)
		}
		if a.Seeking() {
			t.Error("a folder that rested for 20 s may have more")
		}
		if names := second(); names != 0 {
			t.Errorf("%d names of a folder that rests were read in a second", names)
		}
		rested := a.listing.names
		for range insisting / time.Second {
			second()
		}
		if again := a.listing.names - rested; again < n {
			t.Errorf("%d names were read in %v, expected all once: not every drive tells that a folder has changed", again, insisting)
		}
	})
}

// TestCounted: counted returns the name that follows a name.
func TestCounted(t *testing.T) {
	for name, want := range map[string]string{
		"f9.png": "f10.png", "f009.png": "f010.png", "img_t3_c1.tif": "img_t3_c2.tif", "99": "100", "f1999.tif": "f2000.tif", "image.png": "", "a.b2c": "a.b3c",
	} {
		if got := counted(name); got != want {
			t.Errorf("after %s comes %q, expected %q", name, got, want)
		}
	}
}

// TestArrivalsCounted: without notices, the next picture of a large folder is found at once if pictures are numbered consecutively, and returned once.
// Otherwise no picture is returned before an earlier one.
func TestArrivalsCounted(t *testing.T) {
	const n = 20_000 // enough for a listing with pauses
	dir := crowded(t, n)
	synctest.Test(t, func(t *testing.T) {
		a := arrive(t, dir)
		a.ListOnly()
		if got := met(t, a); len(got) != n {
			t.Fatalf("found %d pictures, expected %d", len(got), n)
		}
		for i := range 400 { // lasts for several listings
			touch(t, dir, n+i)
			var got []string
			for range 3 { // a check for a name takes time, too
				time.Sleep(lookAgain)
				got = append(got, met(t, a)...)
			}
			if want := []string{fmt.Sprintf("f%d.png", n+i)}; !slices.Equal(got, want) {
				t.Fatalf("found %v, expected %v", got, want)
			}
		}
		for i := range 50 {
			touch(t, dir, n+400+i)
		}
		time.Sleep(lookAgain)
		if got := met(t, a); len(got) < 1 || got[0] != fmt.Sprintf("f%d.png", n+400) {
			t.Errorf("of 50 that came at once found %v", got)
		}
	})
}

// TestArrivalsAsked: a picture that a listing found, and then also a check of its name, is returned once and in order.
func TestArrivalsAsked(t *testing.T) {
	dir := crowded(t, 10)
	a := &Arrivals{folder: dir, known: newNames(), older: []string{"f7.png", "f9.png"}, held: []string{"f8.png"}, next: successor{name: "f7.png", row: counting}}
	var got []string
	for i := range 5 {
		if i == 3 {
			a.listing.end()
			a.ripen()
		}
		a.ask()
		for len(a.waiting) > 0 {
			got = append(got, filepath.Base(a.Front()))
			a.Pop()
		}
	}
	if want := []string{"f7.png", "f8.png", "f9.png"}; !slices.Equal(got, want) {
		t.Errorf("%v were given, expected %v", got, want)
	}
}

// TestArrivalsOrder: a picture that a listing missed, because it was created at a position already passed, is returned before later pictures that this listing
// found.
func TestArrivalsOrder(t *testing.T) {
	a := &Arrivals{known: newNames()}
	listed := func(names ...string) (given []string) {
		for _, name := range names {
			if a.known.add([]byte(name)) {
				a.take(name)
			}
		}
		a.listing.pauses = 1 // the listing was read in parts
		a.listing.end()
		a.ripen()
		for len(a.waiting) > 0 {
			given = append(given, a.Front())
			a.Pop()
		}
		return given
	}
	for i, step := range []struct{ met, want []string }{
		{[]string{"f1.png"}, nil},
		{[]string{"f1.png", "f4.png"}, []string{"f1.png"}}, // f2 and f3 were created at passed positions
		{[]string{"f1.png", "f4.png", "f3.png", "f6.png", "f2.png"}, []string{"f2.png", "f3.png", "f4.png"}},
		{[]string{"f5.png", "f6.png", "f4.png"}, []string{"f5.png", "f6.png"}},
		{[]string{"f5.png", "f6.png", "f4.png"}, nil},
	} {
		if got := listed(step.met...); !slices.Equal(got, step.want) {
			t.Errorf("listing %d: %v are given, expected %v", i, got, step.want)
		}
	}
}

// BenchmarkArrivals measures the cost of watching a folder of 10^6 pictures: processor time per second in which one picture arrives, and memory.
func BenchmarkArrivals(b *testing.B) {
	dir := crowded(b, 1_000_000)
	for name, prepare := range map[string]func(*Arrivals){"notices": func(*Arrivals) {}, "listings": func(a *Arrivals) { a.notices.close(); a.notices = nil }} {
		b.Run(name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			a := arrive(b, dir)
			prepare(a)
			began := time.Now()
			for more := true; more; {
				var err error
				if more, err = a.Look(); err != nil {
					b.Fatal(err)
				}
			}
			begun := time.Since(began)
			met(b, a)
			before, at, names, came := processor(b), time.Now(), a.listing.names, 0
			for i := 0; b.Loop(); i++ {
				touch(b, dir, 2_000_000+i)
				for range time.Second / lookAgain {
					time.Sleep(lookAgain)
					came += len(met(b, a))
				}
			}
			b.ReportMetric(begun.Seconds(), "s-to-begin")
			b.ReportMetric(float64(a.listing.names-names)/time.Since(at).Seconds(), "names/s")
			b.ReportMetric(float64(came), "found")
			b.ReportMetric(1e3*(processor(b)-before).Seconds()/time.Since(at).Seconds(), "ms/s")
			b.ReportMetric(resident(b), "MB-peak")
		})
	}
}

// processor returns the processor time of this thread.
func processor(b *testing.B) time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(thread, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// resident returns the largest resident memory of this process, in 10^6 bytes.
func resident(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	kilobytes := 0.0
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		b.Fatal(err)
	}
	return kilobytes * 1024 / 1e6
}
