package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/natsink"
)

// witness records the live messages of one run after another, and requests checkpoints without a pause.
type witness struct {
	t   *testing.T
	nc  *nats.Conn
	sub *nats.Subscription

	mu    sync.Mutex
	seen  [][]uint64 // numbers of the latents, run by run
	knows uint64     // number of transitions in the last law
	kept  uint64     // least number of transitions in the state on disk
	owed  uint64     // value of kept when this run began
	first uint64     // number of transitions in this run's first law
}

func newWitness(t *testing.T, at string) *witness {
	w := &witness{t: t, nc: dial(t, at)}
	var err error
	if w.sub, err = w.nc.Subscribe("driftscope.local.bead.*", w.look); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				w.checkpoint()
			case <-ended:
				return
			}
		}
	})
	t.Cleanup(func() { close(ended); asking.Wait() })
	return w
}

// begins starts the records of another run.
func (w *witness) begins() {
	w.t.Helper()
	if err := w.nc.Flush(); err != nil { // all messages of the previous run have arrived
		w.t.Fatal(err)
	}
	for n := 1; n > 0; time.Sleep(5 * time.Millisecond) {
		n, _, _ = w.sub.Pending()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.owed, w.first, w.knows = append(w.seen, nil), w.kept, 0, 0
}

// saw returns the number of latents received from this run.
func (w *witness) saw() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen[len(w.seen)-1])
}

func (w *witness) look(m *nats.Msg) {
	if strings.HasSuffix(m.Subject, natsink.SampledToken) {
		return // its latents are on .latent too
	}
	r, err := message.Decode(latent.Kind(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]), m.Data)
	if err != nil {
		w.t.Error(err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	run := len(w.seen) - 1
	switch r := r.(type) {
	case *message.LatentRecord:
		w.seen[run] = append(w.seen[run], r.Seq)
	case *message.SDERecord:
		if w.knows = r.Transitions; w.first == 0 {
			w.first = r.Transitions
		}
	}
}

// checkpoint requests a checkpoint. The law that was known before the request is then on disk.
func (w *witness) checkpoint() {
	w.mu.Lock()
	knows := w.knows
	w.mu.Unlock()
	m, err := w.nc.Request("driftscope.local.bead.cmd.checkpoint", nil, time.Second)
	if err == nil && string(m.Data) == "ok" && knows > 0 {
		w.mu.Lock()
		w.kept = knows
		w.mu.Unlock()
	}
}

// TestKilled: driftscope is killed again and again, and once the server before it. Published messages are stored exactly once and in order.
// The messages account for every missing frame. The law continues from the state on disk.
func TestKilled(t *testing.T) {
	for _, test := range []struct {
		name, source string
		lossless     bool
	}{
		{"live", "{sim: {name: molecule}}", false},
		{"recording", "{sim: {name: molecule, realtime: false}}", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
			w, folder, rng := newWitness(t, server.URL()), t.TempDir(), rand.New(rand.NewPCG(7, 1))
			written(t, folder, map[string]string{"bead.yaml": fmt.Sprintf(
				"stream: bead\nsource: %s\nonline: {state: law}\nnats: {url: %q, durable: true, store: store}\n", test.source, server.URL())})
			const kills = 3
			for kill := range kills {
				w.begins()
				run := begin(t, folder, "run", "bead.yaml")
				run.until("twenty latents", func() bool { return w.saw() >= 20 })
				if kill > 0 && !run.says("the law continues from law") {
					t.Errorf("run %d began anew:\n%s", kill, run.log.String())
				}
				time.Sleep(time.Duration(rng.Int64N(int64(700 * time.Millisecond))))
				if kill == 1 {
					server.Kill()
					time.Sleep(100 * time.Millisecond) // messages are now only in the spool
				}
				run.kill()
				if kill == 1 {
					server.Run()
				}
				w.goesOn(kill)
			}
			w.begins()
			run := begin(t, folder, "run", "bead.yaml")
			run.until("twenty latents", func() bool { return w.saw() >= 20 })
			account := run.end()
			w.goesOn(kills)
			kept := keptRuns(t, server.URL())
			if len(kept) != kills+1 {
				t.Fatalf("%d runs are kept, expected %d", len(kept), kills+1)
			}
			for i, k := range kept {
				k.check(t, i, w.seen[i], test.lossless)
			}
			if want := fmt.Sprintf("tracked %d,", len(kept[kills].latents)); !strings.Contains(account, want) {
				t.Errorf("the last run kept %d latents and says\n%s", len(kept[kills].latents), account)
			}
		})
	}
}

// goesOn checks that the first law of a run includes at least all data in the last written state.
func (w *witness) goesOn(run int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if run > 0 && (w.owed == 0 || w.first < w.owed) {
		w.t.Errorf("run %d: its first law rests on %d transitions, %d were on the disk", run, w.first, w.owed)
	}
	w.t.Logf("run %d: %d latents seen, transitions from %d to %d, %d on the disk at its beginning", run, len(w.seen[run]), w.first, w.knows, w.owed)
}

// keptRun has the stored messages of one run.
type keptRun struct {
	id      string
	made    []string // identity of each message, in order
	latents []*message.LatentRecord
}

// keptRuns reads all stored messages of the stream bead, and splits them by run.
func keptRuns(t *testing.T, at string, access ...nats.Option) (runs []*keptRun) {
	t.Helper()
	js, err := jetstream.New(dial(t, at, access...))
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(t.Context(), "driftscope_local_bead", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := consumer.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range info.NumPending {
		m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			t.Fatal(err)
		}
		r, err := message.Decode(latent.Kind(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]), m.Data())
		if err != nil {
			t.Fatal(err)
		}
		id, made, _ := strings.Cut(m.Headers().Get(jetstream.MsgIDHeader), ".")
		if len(runs) == 0 || runs[len(runs)-1].id != id {
			runs = append(runs, &keptRun{id: id})
		}
		run := runs[len(runs)-1]
		run.made = append(run.made, made)
		if l, ok := r.(*message.LatentRecord); ok {
			run.latents = append(run.latents, l)
		}
	}
	return runs
}

// check checks that run i's messages are complete, each once and in order, that they include all live ones, and that the latents account
// for every missing frame.
func (k *keptRun) check(t *testing.T, i int, seen []uint64, lossless bool) {
	t.Helper()
	for n, made := range k.made {
		if made != fmt.Sprint(n+1) {
			t.Fatalf("run %d: message %s is kept as its %dth", i, made, n+1)
		}
	}
	kept := map[uint64]bool{}
	for n, l := range k.latents {
		kept[l.Seq] = true
		before := l.Seq // for the first latent, all earlier frames
		if n > 0 {
			before = l.Seq - k.latents[n-1].Seq - 1
		}
		if before != l.Dropped || lossless && before != 0 {
			t.Errorf("run %d: %d frames are missing before %d, which says %d", i, before, l.Seq, l.Dropped)
		}
	}
	for _, seq := range seen {
		if !kept[seq] {
			t.Errorf("run %d: latent %d was published and is not kept", i, seq)
		}
	}
}
