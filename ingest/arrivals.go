package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// relist is the time between two listings of a folder. The system's notices come at once, but not from network drives.
const relist = time.Second

// arrivals are the pictures of a folder in the order of their names, as they come.
type arrivals struct {
	folder, pattern string            // pattern is empty where every picture counts
	watcher         *fsnotify.Watcher // nil where the system gives no notices
	known           map[string]bool
	waiting         []string // sorted naturally
	listed          time.Time
}

// openArrivals begins to watch a folder, or those of its files that a pattern such as run1/*.png matches. The folder has to be there,
// pictures need not.
func openArrivals(path string) (*arrivals, error) {
	a := &arrivals{folder: path, known: map[string]bool{}}
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
	if a.watcher, err = fsnotify.NewBufferedWatcher(1 << 10); err != nil {
		a.watcher = nil // the listings remain
	} else if err = a.watcher.Add(a.folder); err != nil {
		a.close()
	}
	return a, nil
}

// look takes what came since the last look.
func (a *arrivals) look() error {
	for a.watcher != nil {
		select {
		case e := <-a.watcher.Events:
			a.add(e.Name)
			continue
		case <-a.watcher.Errors: // notices were lost
			a.listed = time.Time{}
			continue
		default:
		}
		break
	}
	if time.Since(a.listed) < relist {
		return nil
	}
	files, err := listFolder(a.folder)
	if err != nil {
		return fmt.Errorf("%s: %w: check the drive", a.folder, err)
	}
	for _, file := range files {
		a.add(file)
	}
	a.listed = time.Now()
	return nil
}

// add queues a picture that is new.
func (a *arrivals) add(path string) {
	name := filepath.Base(path)
	if a.known[name] || !isPicture(path) {
		return
	}
	if a.pattern != "" {
		if match, _ := filepath.Match(a.pattern, name); !match {
			return
		}
	}
	a.known[name] = true
	path = filepath.Join(a.folder, name)
	i, _ := slices.BinarySearchFunc(a.waiting, path, naturally)
	a.waiting = slices.Insert(a.waiting, i, path)
}

// pop removes the first picture.
func (a *arrivals) pop() { a.waiting = slices.Delete(a.waiting, 0, 1) }

// close ends the watching; it may be called at any time.
func (a *arrivals) close() error {
	if a.watcher == nil {
		return nil
	}
	err := a.watcher.Close()
	a.watcher = nil
	return err
}
