package soak

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/latent"
)

// subjects is the prefix of every stream's subjects.
const subjects = "driftscope.local."

// hub is the soak's own connection to one of the two servers.
type hub struct {
	name string
	nc   *nats.Conn
	js   jetstream.JetStream

	mu       sync.Mutex
	commands map[string]map[string]int // by name and outcome
}

// newHub returns a connection that also waits for a server that does not listen yet, and reconnects after every loss.
func newHub(name, url string) (*hub, error) {
	nc, err := nats.Connect(url, nats.Name("soak"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond),
		nats.ReconnectBufSize(-1), nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(3), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	return &hub{name: name, nc: nc, js: js, commands: map[string]map[string]int{}}, err
}

// live holds the content of a live message.
type live struct {
	Seq     uint64
	State   string
	Problem string
	Code    string
	Text    string
	Time    time.Time
	UptimeS float64           `json:"uptime_s"`
	Frames  uint64            `json:"frames_in"`
	Tracked uint64            `json:"frames_tracked"`
	Dropped map[string]uint64 `json:"frames_dropped"`
}

// listen passes every health, event and latent of every stream to take.
func (h *hub) listen(take func(stream string, kind latent.Kind, m *live)) error {
	s, err := h.nc.Subscribe(subjects+"*.*", func(m *nats.Msg) {
		stream, kind, _ := strings.Cut(strings.TrimPrefix(m.Subject, subjects), ".")
		switch k := latent.Kind(kind); k {
		case latent.KindHealth, latent.KindEvent, latent.KindLatent:
			var l live
			if json.Unmarshal(m.Data, &l) == nil {
				take(stream, k, &l)
			}
		}
	})
	if err != nil {
		return err
	}
	return s.SetPendingLimits(1<<17, 256<<20)
}

// command sends a command to a stream and counts the outcome: ok, the code of a refusal, or unanswered. why is the text of a refusal.
func (h *hub) command(stream, name, payload string, patience time.Duration) (outcome, why string) {
	outcome = "unanswered"
	m, err := h.nc.Request(subjects+stream+".cmd."+name, []byte(payload), patience)
	if err == nil {
		if outcome = m.Header.Get("Nats-Service-Error-Code"); outcome == "" {
			outcome = "ok"
		} else {
			why = string(m.Data)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.commands[name] == nil {
		h.commands[name] = map[string]int{}
	}
	h.commands[name][outcome]++
	return outcome, why
}

// settle waits until earlier messages have been handled.
func (h *hub) settle() { h.nc.FlushTimeout(2 * time.Second) }

// follow reads the stored messages of a stream, from k's last position, until ctx ends. It retries after failures.
func (h *hub) follow(ctx context.Context, k *kept) {
	for ctx.Err() == nil {
		if h.nc.IsConnected() {
			h.session(ctx, k)
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// session reads until an operation fails or a message is missing.
func (h *hub) session(ctx context.Context, k *kept) {
	asking, done := context.WithTimeout(ctx, 5*time.Second)
	defer done()
	stream, err := h.js.Stream(asking, k.name)
	if err != nil {
		return
	}
	state := stream.CachedInfo().State
	k.found(state.LastSeq)
	at := k.place()
	if at >= state.LastSeq {
		return
	}
	consumer, err := stream.CreateConsumer(asking, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: at + 1, AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Minute, MemoryStorage: true,
	})
	if err != nil {
		return
	}
	defer func() {
		deleting, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		stream.DeleteConsumer(deleting, consumer.CachedInfo().Name)
	}()
	for ctx.Err() == nil {
		batch, err := consumer.Fetch(500, jetstream.FetchMaxWait(2*time.Second))
		if err != nil {
			return
		}
		n := 0
		for m := range batch.Messages() {
			n++
			meta, err := m.Metadata()
			if err != nil {
				return
			}
			if at := k.place(); meta.Sequence.Stream > at+1 && !h.hole(ctx, stream, k, at+1, meta.Sequence.Stream) {
				return // lost in transit: request it again
			}
			kind := latent.Kind(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:])
			k.take(meta.Sequence.Stream, kind, m.Headers().Get(jetstream.MsgIDHeader), m.Data())
		}
		if batch.Error() != nil || n == 0 {
			return
		}
	}
}

// hole reports whether the server has none of the messages in [first, next), and counts them.
func (h *hub) hole(ctx context.Context, stream jetstream.Stream, k *kept, first, next uint64) bool {
	asking, done := context.WithTimeout(ctx, 5*time.Second)
	defer done()
	if _, err := stream.GetMsg(asking, first); !errors.Is(err, jetstream.ErrMsgNotFound) {
		return false
	}
	k.skip(next - 1)
	return true
}

// stored returns the last sequence number of the server's stream.
func (h *hub) stored(ctx context.Context, name string) (last uint64, err error) {
	asking, done := context.WithTimeout(ctx, 5*time.Second)
	defer done()
	stream, err := h.js.Stream(asking, name)
	if err != nil {
		return 0, err
	}
	return stream.CachedInfo().State.LastSeq, nil
}
