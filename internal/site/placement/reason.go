package placement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// why says why no worker runs x.
func (s *state) why(x *stream) string {
	if x.milli < 0 {
		return fmt.Sprintf("%g cores asked, expected 0 to %d", x.Cores, MostCores)
	}
	var there, fit []*worker
	for _, w := range s.workers {
		if !w.Draining && w.milli > 0 {
			there = append(there, w)
			if w.labelled(x) {
				fit = append(fit, w)
			}
		}
	}
	switch {
	case len(s.workers) == 0:
		return "no worker is there"
	case len(there) == 0:
		return "every worker is draining, or has no cores"
	case len(fit) == 0:
		return missing(x.Labels, there)
	}
	free := fit[0].milli - fit[0].load
	for _, w := range fit {
		free = max(free, w.milli-w.load)
	}
	return fmt.Sprintf("%s cores asked, the largest free is %s", cores(x.milli), cores(max(free, 0)))
}

// missing says which labels no worker has.
func missing(labels []string, workers []*worker) string {
	for _, l := range labels {
		if !slices.ContainsFunc(workers, func(w *worker) bool { return slices.Contains(w.Labels, l) }) {
			return "no worker has label " + l
		}
	}
	return "no worker has all of the labels " + strings.Join(labels, ", ")
}

// whyNot says why x is not where it is pinned.
func (s *state) whyNot(x *stream) string {
	w := s.named[x.Pinned]
	switch {
	case w == nil:
		return fmt.Sprintf("worker %s is not there", x.Pinned)
	case w.Draining:
		return fmt.Sprintf("worker %s is draining", x.Pinned)
	case !w.labelled(x):
		return fmt.Sprintf("worker %s: %s", x.Pinned, strings.Replace(missing(x.Labels, []*worker{w}), "no worker has", "it has not", 1))
	}
	return fmt.Sprintf("%s cores asked, worker %s has %s free", cores(x.milli), x.Pinned, cores(max(w.milli-w.load, 0)))
}

// cores of so many thousandths.
func cores(thousandths int64) string {
	return strconv.FormatFloat(float64(thousandths)/milli, 'f', -1, 64)
}
