package message

import (
	"fmt"
	"strings"
	"time"
)

const mostNamed = 8 // largest number of waiting streams in a text

// The limits on a worker's message, equal to the limits of a site.
const (
	mostRunning = 1000
	mostWaiting = 10_000
)

// WorkerRecord lists the streams that a worker runs, every second. The stream in its header is the worker's name.
type WorkerRecord struct {
	Header
	Time     time.Time       `json:"time"`
	ID       string          `json:"id"` // of the process
	Version  string          `json:"version"`
	Since    time.Time       `json:"since"` // the process began
	Cores    Number          `json:"cores" unit:"cores"`
	Taken    Number          `json:"cores_taken" unit:"cores"` // by the streams, as they were asked for
	Used     Number          `json:"cores_used" unit:"cores"`  // by this process since the message before
	Labels   []string        `json:"labels"`
	Draining bool            `json:"draining"` // it hands over what it runs, and ends
	Streams  []RunningRecord `json:"streams"`
	Waiting  []WaitingRecord `json:"waiting,omitempty"` // streams of the site that nobody can run
}

// RunningRecord is a stream that a worker runs.
type RunningRecord struct {
	Name    string    `json:"name"`
	Epoch   uint64    `json:"epoch"`
	Since   time.Time `json:"since"`             // it was taken
	State   string    `json:"state"`             // starting, running, failed, or ended
	Problem string    `json:"problem,omitempty"` // why it failed last; it is tried again
}

// WaitingRecord is a stream that no worker can run.
type WaitingRecord struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// checkWorker refuses a record that no worker would send.
func checkWorker(r *WorkerRecord) error {
	if len(r.Streams) > mostRunning || len(r.Waiting) > mostWaiting {
		return fmt.Errorf("%d streams run and %d wait, expected at most %d and %d", len(r.Streams), len(r.Waiting), mostRunning, mostWaiting)
	}
	return nil
}

// Text returns a readable form of the worker's message, without its name and the numbers that change every second.
func (r *WorkerRecord) Text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "(%s): %.4g of %.4g cores taken", Printable(r.Version), float64(r.Taken), float64(r.Cores))
	if len(r.Labels) > 0 {
		fmt.Fprintf(&text, ", labels %s", Printable(strings.Join(r.Labels, ", ")))
	}
	switch {
	case r.Draining && len(r.Streams) == 0:
		text.WriteString("; it has handed over its streams")
	case r.Draining:
		text.WriteString("; it hands over, and ends")
	case len(r.Streams) == 0:
		text.WriteString("; it runs nothing")
	}
	for i, s := range r.Streams {
		fmt.Fprintf(&text, "%s %s at epoch %d %s", map[bool]string{true: "; runs", false: ","}[i == 0], Printable(s.Name), s.Epoch, Printable(s.State))
		if s.Problem != "" {
			fmt.Fprintf(&text, " (%s)", Printable(s.Problem))
		}
	}
	for i, s := range r.Waiting[:min(len(r.Waiting), mostNamed)] {
		fmt.Fprintf(&text, "%s %s (%s)", map[bool]string{true: "; no worker can run", false: ","}[i == 0], Printable(s.Name), Printable(s.Why))
	}
	if more := len(r.Waiting) - mostNamed; more > 0 {
		fmt.Fprintf(&text, " and %d more", more)
	}
	return text.String()
}
