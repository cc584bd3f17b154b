package work

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// record returns the worker's health record.
func (w *Worker) record(now time.Time) *message.WorkerRecord {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &message.WorkerRecord{
		Header: message.Header{V: latent.Version, Kind: latent.KindWorker, Stream: w.o.Name},
		Time:   now.UTC(), ID: w.leases.ID(), Version: w.o.Version, Since: w.started.UTC(), Cores: message.Number(w.o.Cores),
		Used: message.Number(w.usage.since(now)), Labels: w.o.Labels, Draining: w.draining, Streams: []message.RunningRecord{}, Waiting: w.waiting,
	}
	for _, run := range w.runs {
		state, problem := run.how()
		r.Taken += message.Number(w.cores[run.name])
		r.Streams = append(r.Streams, message.RunningRecord{Name: run.name, Epoch: run.held.Epoch(), Since: run.since.UTC(), State: state, Problem: problem})
	}
	slices.SortFunc(r.Streams, func(a, b message.RunningRecord) int { return strings.Compare(a.Name, b.Name) })
	return r
}

// tell publishes the worker's state, unless the server is unreachable.
func (w *Worker) tell(now time.Time) error {
	if !w.bus.Connected() {
		return nil
	}
	subject, err := w.bus.Subject(w.o.Name)
	if err != nil {
		return err
	}
	line, err := json.Marshal(w.record(now))
	if err != nil {
		return err
	}
	return w.bus.NATS().Publish(subject.Of(string(latent.KindWorker)), line)
}

// usage measures the cores that this process uses.
type usage struct {
	at    time.Time
	spent time.Duration
	cores float64
}

// since returns the average number of cores used since the last call. If that was less than 10 ms ago, it returns the previous value.
func (u *usage) since(now time.Time) float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	spent := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	if passed := now.Sub(u.at); passed > 10*time.Millisecond {
		if !u.at.IsZero() {
			u.cores = float64(spent-u.spent) / float64(passed)
		}
		u.at, u.spent = now, spent
	}
	return u.cores
}
