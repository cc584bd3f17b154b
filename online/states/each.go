package states

import "sync"

// share is the number of tracks that a core processes at a time.
const share = 64

// each calls do with the index of every track, on several cores. do must write only to data of its own track. The caller sums in track order afterwards, so
// the sums do not depend on the number of cores.
func (f *fitting) each(do func(i int)) {
	n := len(f.segments)
	cores := min(f.cores, (n+share-1)/share)
	if cores <= 1 || f.pause != nil {
		for i := range n {
			if f.pause != nil && i%share == 0 {
				f.pause()
			}
			do(i)
		}
		return
	}
	var all sync.WaitGroup
	for core := range cores {
		all.Go(func() {
			for from := core * share; from < n; from += cores * share {
				for i := from; i < min(from+share, n); i++ {
					do(i)
				}
			}
		})
	}
	all.Wait()
}
