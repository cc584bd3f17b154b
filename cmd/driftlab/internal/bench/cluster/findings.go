package cluster

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"time"

	"driftscope/internal/kit/console"
)

// spread is the median and the maximum of times, in seconds.
type spread struct {
	P50   float64 `json:"p50"`
	Max   float64 `json:"max"`
	Count int     `json:"n"`
}

// spreadOf sorts seconds and returns their spread.
func spreadOf(seconds []float64) (s spread) {
	if s.Count = len(seconds); s.Count == 0 {
		return s
	}
	slices.Sort(seconds)
	s.P50, s.Max = seconds[(s.Count-1)/2], seconds[s.Count-1]
	return s
}

// origin identifies the source of the figures.
type origin struct {
	Commit   string    `json:"commit"`
	Cores    int       `json:"cores"`
	Date     time.Time `json:"date"`
	Seed     uint64    `json:"seed"`
	Servers  int       `json:"servers"`
	Workers  int       `json:"workers"`
	Streams  int       `json:"streams"`
	Replicas int       `json:"replicas"`
	TTL      float64   `json:"ttl_s"`
	FPS      float64   `json:"fps"`
}

func (c *Command) origin() origin {
	b := console.ReadBuild()
	return origin{Commit: cmp.Or(b.Commit, b.Version), Cores: runtime.NumCPU(), Date: time.Now().UTC().Truncate(time.Second), Seed: c.Seed,
		Servers: c.Replicas, Workers: c.Workers, Streams: c.Streams, Replicas: c.Replicas, TTL: c.TTL.Seconds(), FPS: c.FPS}
}

// audit sums up all books.
type audit struct {
	Frames  uint64   `json:"frames"` // per stream
	Results uint64   `json:"results"`
	Lost    uint64   `json:"lost"`
	Doubled uint64   `json:"doubled"`
	Dropped uint64   `json:"dropped"` // frames that a stream reports as lost
	Fell    uint64   `json:"epochs_fell"`
	Shared  int      `json:"epochs_shared"`
	Moves   int      `json:"moves"`
	Odd     []string `json:"odd,omitempty"`
}

// audit sums up the books; frames is the expected number of results per stream.
func (l *lab) audit(frames uint64) (a audit) {
	a.Frames = frames
	for _, name := range l.streams {
		b := l.books[name]
		b.mu.Lock()
		a.Results, a.Lost, a.Doubled, a.Dropped, a.Fell = a.Results+b.results, a.Lost+b.lost, a.Doubled+b.doubled, a.Dropped+b.dropped, a.Fell+b.fell
		if b.next < frames {
			a.Lost += frames - b.next
		}
		a.Odd = append(a.Odd, b.odd...)
		b.mu.Unlock()
	}
	a.Moves = l.moves()
	twice := l.holders.twice()
	a.Shared, a.Odd = len(twice), append(a.Odd, twice...)
	return a
}

// again holds the messages that new consumers read from the beginning.
type again struct {
	Results uint64 `json:"results"`
	Lost    uint64 `json:"lost"`
	Doubled uint64 `json:"doubled"`
}

// againOf adds up.
func againOf(books map[string]*book) (a again) {
	for _, b := range books {
		b.mu.Lock()
		a.Results, a.Lost, a.Doubled = a.Results+b.results, a.Lost+b.lost, a.Doubled+b.doubled
		b.mu.Unlock()
	}
	return a
}

// findings are the results of the study of faults.
type findings struct {
	origin
	Trials int `json:"trials"`
	audit
	Again     again             `json:"read_again"`
	Takeover  spread            `json:"takeover_s"`
	Pause     spread            `json:"server_pause_s"` // longest pause per server fault
	Disturbed int               `json:"disturbed"`      // streams that changed their epoch without being struck
	Never     int               `json:"never_taken"`
	ByFault   map[string]spread `json:"by_fault_s"`
	Law       laws              `json:"law"`
	Each      []trial           `json:"each"`
	Problem   string            `json:"problem,omitempty"`
}

// sum adds the trials up.
func (f *findings) sum(all []trial) {
	f.Trials, f.Each, f.ByFault = len(all), all, map[string]spread{}
	var takeovers, pauses []float64
	by := map[string][]float64{}
	for _, t := range all {
		f.Disturbed += t.Disturbed
		f.Never += t.Never
		takeovers = append(takeovers, t.Takeover...)
		switch t.Fault {
		case faultClock:
		case faultServer, faultMeta, faultRoute: // these strike no worker
			pauses = append(pauses, t.Pause)
			by[t.Fault] = append(by[t.Fault], t.Pause)
		default:
			by[t.Fault] = append(by[t.Fault], t.Takeover...)
		}
	}
	f.Takeover, f.Pause = spreadOf(takeovers), spreadOf(pauses)
	for fault, seconds := range by {
		f.ByFault[fault] = spreadOf(seconds)
	}
}

// print writes a Markdown table.
func (f *findings) print(w io.Writer) {
	fmt.Fprintf(w, "%d trials, %d servers, %d workers, %d streams of %g frames/s, TTL %g s, seed %d, %d cores, commit %s\n\n", f.Trials, f.Servers, f.Workers, f.Streams, f.FPS, f.TTL, f.Seed, f.Cores, f.Commit)
	fmt.Fprintf(w, "%d frames on each stream, %d results: %d lost, %d doubled; epochs: %d fell, %d shared; %d moves, %d streams disturbed\n\n", f.Frames, f.Results, f.Lost, f.Doubled, f.Fell, f.Shared, f.Moves, f.Disturbed)
	fmt.Fprintln(w, "| fault | p50, s | longest, s | n |\n|---|---|---|---|")
	for _, fault := range slices.Sorted(maps.Keys(f.ByFault)) {
		s := f.ByFault[fault]
		fmt.Fprintf(w, "| %s | %.2f | %.2f | %d |\n", fault, s.P50, s.Max, s.Count)
	}
	fmt.Fprintf(w, "\nlaws: %d of %d within the unbroken run's interval; the largest difference is %.2g half widths, %d of %d transitions\n", f.Law.Within, f.Law.Streams, f.Law.Largest, f.Law.Differ, f.Law.Transitions)
	for _, odd := range f.Odd {
		fmt.Fprintln(w, odd)
	}
}
