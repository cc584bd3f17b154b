package natsink

import (
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// Limits on requests. The client library drops requests above the last two limits, and they time out at the client.
const (
	maxCommand      = 4 << 10 // bytes of a payload
	maxRequests     = 64
	maxRequestBytes = 64 << 10
)

// About describes the present run, for the command info.
type About struct {
	Source       string    `json:"source"`
	Model        string    `json:"model"`
	ModelSHA256  string    `json:"model_sha256"`
	ConfigSHA256 string    `json:"config_sha256"` // of what decides the results: equal where the same would come out
	Latents      int       `json:"latents"`       // dimensions
	Seed         uint64    `json:"seed"`          // of the estimator
	Started      time.Time `json:"started"`
	Triggers     []string  `json:"triggers,omitempty"` // names of the rules, in the configuration's order

	Rules []json.RawMessage `json:"rules,omitempty"` // the rules as written, {kind: options}
}

// responder answers the requests to a stream while it runs. It passes commands that change something to the runner.
type responder struct {
	stream    string
	about     func() About
	latest    *latest
	durable   *durable // nil without durability
	bucket    *Bucket  // nil without durability
	log       *slog.Logger
	endpoints atomic.Pointer[endpoints] // endpoints that receive the requests; nil until they are ready
	commands  chan latent.Command
	ended     chan struct{}
}

func newResponder(env Env, l *latest, d *durable) *responder {
	s := &responder{
		stream: env.Stream, about: env.About, latest: l, durable: d, bucket: env.Bucket, log: env.Log,
		commands: make(chan latent.Command), ended: make(chan struct{}),
	}
	if s.about == nil {
		s.about = func() About { return About{} }
	}
	return s
}

// carryOut returns the answer to one request.
func (r *responder) carryOut(name string, payload []byte) ([]byte, error) {
	switch name {
	case "info":
		return r.info()
	case "stats":
		if health := r.latest.last(latent.KindHealth); health != nil {
			return health, nil
		}
		return nil, latent.Refuse(latent.NotNow, "stats: the stream has only just started: try again in a second")
	case "snapshot":
		return r.latest.snapshot(r.stream)
	}
	return r.apply(latent.Command{Name: name, Payload: payload})
}

// InfoRecord is the answer to the command info.
type InfoRecord struct {
	message.Header
	About
	Kept  *Kept      `json:"kept,omitempty"`  // where nats.durable is on
	State *KeptState `json:"state,omitempty"` // the law in KV, where nats.durable is on

	Refused    uint64   `json:"refused"`               // requests that wanted their answer where no inbox is
	CapturedBy []string `json:"captured_by,omitempty"` // JetStream streams that take the commands, too: delete them
}

// info describes the present run.
func (r *responder) info() ([]byte, error) {
	record := InfoRecord{Header: message.Header{V: latent.Version, Kind: "info", Stream: r.stream}, About: r.about()}
	if r.durable != nil {
		kept := r.durable.kept()
		record.Kept = &kept
	}
	if r.bucket != nil {
		state := r.bucket.kept()
		record.State = &state
	}
	if e := r.endpoints.Load(); e != nil {
		record.Refused, record.CapturedBy = e.irregular()
	}
	return json.Marshal(record)
}

// apply passes c to the runner and waits for its answer.
func (r *responder) apply(c latent.Command) ([]byte, error) {
	answer := make(chan error, 1)
	c.Reply = func(err error) { answer <- err }
	ending := latent.Refuse(latent.NotNow, "the run is ending: the command was not applied: start the stream again")
	select {
	case r.commands <- c:
	case <-r.ended:
		return nil, ending
	}
	select {
	case err := <-answer:
		return []byte("ok"), err
	case <-r.ended:
	}
	select {
	case err := <-answer:
		return []byte("ok"), err
	default:
		return nil, ending
	}
}

// end refuses waiting and later requests.
func (r *responder) end() { close(r.ended) }
