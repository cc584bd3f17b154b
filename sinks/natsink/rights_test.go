package natsink

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/rights"
	"driftscope/internal/suite"
)

// TestRights tests every cell of the table of rights on real servers: allowed actions work, and no other action has an effect. Observers with all rights in
// every account detect the effects.
func TestRights(t *testing.T) {
	suite.Calculation(t) // nats-server 2.15.2 has a data race between creating and changing a stream, which the detector finds in the embedded server
	cells, wrong := 0, 0
	for _, start := range []func(*testing.T) *trial{embeddedTrial("", true), embeddedTrial("", false), embeddedTrial("a secret of the lab", true), instrumentTrial, siteTrial} {
		tr := start(t)
		for _, w := range tr.ways {
			found := &effects{how: map[effect]string{}}
			for try := 0; try == 0 || try < 3 && tr.lacks(w, found); try++ { // on a busy machine the server may disconnect a slow connection
				tr.attempt(w, found)
			}
			for i, c := range rights.Classes {
				for _, v := range rights.Verbs {
					if c.Stream == "" && v.OfStreams() || v == rights.Deliver && w.role != nil && w.role.Has(i, rights.Put) {
						continue
					}
					cells++
					how, did := found.did(i, v)
					if want := w.role != nil && w.role.May(w.door, i, v); did != want {
						wrong++
						t.Errorf("%s, %s by %s, %s, %c: the table says %v, the server %v %s", tr.name, w.name, w.door, c.Name, v, want, did, how)
					}
				}
			}
		}
	}
	t.Logf("rights: %d cells tried, %d wrong", cells, wrong)
}

// way is a way of connecting to a server.
type way struct {
	name string
	role *rights.Role // role whose cells apply; nil for a client without rights
	door rights.Door
	dial func() (hand, error) // returns an error if the server refuses the connection
}

// hand is a client's connection.
type hand interface {
	publish(subject, reply string, data []byte)
	subscribe(subject string, heard func(subject string, data []byte))
	flush()
	inbox() string // empty if the connection cannot receive answers
	close()
}

// trial is a server with its streams, an observer in every account, and all ways of connecting.
type trial struct {
	t         *testing.T
	name      string
	of        *rights.Server
	observers map[string]*nats.Conn // by account
	authority string                // authority of the server's certificates
	ways      []way

	mu    sync.Mutex
	seen  []sighting
	moved time.Time
}

// sighting is a message on the sample subject of a class.
type sighting struct {
	account string
	class   int
	message *nats.Msg
}

// effect is an observed cell of the table: an action that had an effect.
type effect struct {
	class int
	verb  rights.Verb
}

// effects are the effects of a client's attempts, with a description of how each was observed.
type effects struct {
	mu  sync.Mutex
	how map[effect]string
}

func (e *effects) did(class int, v rights.Verb) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	how, did := e.how[effect{class, v}]
	return how, did
}

func (e *effects) add(class int, v rights.Verb, how string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.how[effect{class, v}] = how
}

// await collects effects of verbs until all allowed effects have occurred, however slow the machine is, and then for a while longer.
func (tr *trial) await(w way, h hand, found *effects, collect func(), verbs ...rights.Verb) {
	for end := time.Now().Add(10 * time.Second); ; {
		h.flush()
		collect()
		h.flush()
		whole := true
		for i := range rights.Classes {
			for _, v := range verbs {
				if _, did := found.did(i, v); !did && w.role != nil && w.role.May(w.door, i, v) {
					whole = false
				}
			}
		}
		if whole || time.Now().After(end) {
			return
		}
	}
}

// observe connects an observer in every account.
func (tr *trial) observe() {
	tr.moved = time.Now()
	for account, nc := range tr.observers {
		for i, c := range rights.Classes {
			sub, err := nc.Subscribe(c.Sample, func(m *nats.Msg) {
				tr.mu.Lock()
				defer tr.mu.Unlock()
				tr.seen, tr.moved = append(tr.seen, sighting{account, i, m}), time.Now()
			})
			if err == nil {
				err = sub.SetPendingLimits(-1, -1)
			}
			if err != nil {
				tr.t.Fatal(err)
			}
		}
		tr.flush(nc)
	}
}

func (tr *trial) flush(nc *nats.Conn) {
	tr.t.Helper()
	if err := nc.Flush(); err != nil {
		tr.t.Fatal(err)
	}
}

// settled waits until nothing has been observed for a while, and returns the effects.
func (tr *trial) settled() (seen []sighting) {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, nc := range tr.observers {
			tr.flush(nc)
		}
		tr.mu.Lock()
		quiet := time.Since(tr.moved) > quietFor
		tr.mu.Unlock()
		if quiet {
			break
		}
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	seen, tr.seen = tr.seen, nil
	return seen
}

// quietFor is the longest time in which JetStream answers on this machine.
const quietFor = 50 * time.Millisecond

// matters reports whether a message of a class has an effect in an account: a stream stores it, the program executes it, or a user receives it.
func (tr *trial) matters(account string, class int) bool {
	if account == tr.of.Home(rights.Classes[class]) {
		return true
	}
	return slices.ContainsFunc(tr.of.Roles, func(r rights.Role) bool {
		return r.Account == account && r.May(r.Doors[0], class, rights.Hear)
	})
}

// js returns the JetStream of an account, with the rights of its observer.
func (tr *trial) js(class int) jetstream.JetStream {
	tr.t.Helper()
	js, err := jetstream.New(tr.observers[tr.of.Home(rights.Classes[class])])
	if err != nil {
		tr.t.Fatal(err)
	}
	return js
}

// prepare recreates every stream, with a message of its class.
func (tr *trial) prepare() {
	tr.t.Helper()
	ctx := tr.t.Context()
	for i, c := range rights.Classes {
		if c.Stream == "" {
			continue
		}
		js := tr.js(i)
		for name := range js.StreamNames(ctx).Name() {
			if name == c.Stream || strings.HasPrefix(name, "STOLEN") {
				if err := js.DeleteStream(ctx, name); err != nil {
					tr.t.Fatal(err)
				}
			}
		}
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: c.Stream, Subjects: []string{c.Sample}, Storage: jetstream.MemoryStorage, AllowDirect: true})
		if err == nil {
			_, err = js.Publish(ctx, c.Sample, []byte("first"))
		}
		if err != nil {
			tr.t.Fatal(err)
		}
	}
	tr.settled()
}

// lacks reports whether an effect that the table allows was not observed.
func (tr *trial) lacks(w way, found *effects) bool {
	for i := range rights.Classes {
		for _, v := range rights.Verbs {
			if _, did := found.did(i, v); !did && w.role != nil && w.role.May(w.door, i, v) {
				return true
			}
		}
	}
	return false
}

// attempt tries all actions by one way.
func (tr *trial) attempt(w way, found *effects) {
	tr.t.Helper()
	h, err := w.dial()
	if err != nil {
		return
	}
	defer h.close()
	tr.prepare()
	tr.hear(w, h, found)
	tr.ask(w, h, found)
	tr.put(w, h, found)
	tr.deliver(w, h, found)
	tr.change(w, h, found)
}

// hear subscribes to everything, while the owners of the accounts publish.
func (tr *trial) hear(w way, h hand, found *effects) {
	patterns := []string{">", "*.>", "driftscope.>", "driftscope.*.*.*", "$KV.>", "$O.>", "camera.>", "$SRV.>"}
	for _, c := range rights.Classes {
		patterns = append(patterns, c.Sample)
	}
	for _, p := range patterns {
		h.subscribe(p, func(subject string, data []byte) {
			if i := slices.IndexFunc(rights.Classes, func(c rights.Class) bool { return c.Sample == subject }); i >= 0 && string(data) == "owner's" {
				found.add(i, rights.Hear, "by "+p)
			}
		})
	}
	h.flush()
	for _, c := range rights.Classes {
		if err := tr.observers[tr.of.Home(c)].Publish(c.Sample, []byte("owner's")); err != nil {
			tr.t.Fatal(err)
		}
	}
	tr.await(w, h, found, func() { tr.settled() }, rights.Hear)
}

// put publishes on every subject.
func (tr *trial) put(w way, h hand, found *effects) {
	for _, c := range rights.Classes {
		h.publish(c.Sample, "", []byte("put"))
	}
	tr.await(w, h, found, func() {
		for _, s := range tr.settled() {
			if string(s.message.Data) == "put" && tr.matters(s.account, s.class) {
				found.add(s.class, rights.Put, "in "+s.account)
			}
		}
	}, rights.Put)
}

// question is a request to JetStream, with a text that a successful answer contains.
type question struct {
	effect
	subject, body, proof string
}

// ask requests states, messages and consumers.
func (tr *trial) ask(w way, h hand, found *effects) {
	var questions []question
	for i, c := range rights.Classes {
		if c.Stream == "" {
			continue
		}
		consumer := fmt.Sprintf(`{"stream_name":%q,"config":{"durable_name":"mine","name":"mine","ack_policy":"none"}}`, c.Stream)
		questions = append(questions,
			question{effect{i, rights.Look}, "$JS.API.STREAM.INFO." + c.Stream, "", `"config"`},
			question{effect{i, rights.Read}, "$JS.API.DIRECT.GET." + c.Stream, `{"seq":1}`, "first"},
			question{effect{i, rights.Read}, "$JS.API.DIRECT.GET." + c.Stream + "." + c.Sample, "", "owner's"},
			question{effect{i, rights.Read}, "$JS.API.STREAM.MSG.GET." + c.Stream, `{"seq":1}`, `"message"`},
			question{effect{i, rights.Consume}, "$JS.API.CONSUMER.CREATE." + c.Stream, strings.Replace(consumer, `"durable_name":"mine","name":"mine",`, "", 1), `"config"`},
			question{effect{i, rights.Consume}, "$JS.API.CONSUMER.CREATE." + c.Stream + ".mine", consumer, `"config"`},
			question{effect{i, rights.Consume}, "$JS.API.CONSUMER.CREATE." + c.Stream + ".mine." + c.Sample, consumer, `"config"`},
			question{effect{i, rights.Consume}, "$JS.API.CONSUMER.DURABLE.CREATE." + c.Stream + ".mine", consumer, `"config"`},
		)
	}
	inbox := h.inbox()
	if inbox != "" {
		h.subscribe(inbox+".*", func(subject string, data []byte) {
			var i int
			if _, err := fmt.Sscanf(subject[len(inbox)+1:], "%d", &i); err == nil && strings.Contains(string(data), questions[i].proof) {
				found.add(questions[i].class, questions[i].verb, "by "+questions[i].subject)
			}
		})
	}
	for i, q := range questions {
		reply := ""
		if inbox != "" {
			reply = fmt.Sprint(inbox, ".", i)
		}
		h.publish(q.subject, reply, []byte(q.body))
	}
	tr.await(w, h, found, func() {
		tr.settled()
		time.Sleep(quietFor)
		for i, c := range rights.Classes {
			if c.Stream == "" {
				continue
			}
			s, err := tr.js(i).Stream(tr.t.Context(), c.Stream)
			if err != nil {
				tr.t.Fatal(err)
			}
			if s.CachedInfo().State.Consumers > 0 {
				found.add(i, rights.Consume, "seen")
			}
		}
	}, rights.Look, rights.Read, rights.Consume)
}

// deliver tries to make the server send every answer, and a message from every consumer, to every subject.
func (tr *trial) deliver(w way, h hand, found *effects) {
	for i, target := range rights.Classes {
		for _, subject := range []string{"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$SRV.PING", "$SRV.INFO", "driftscope.local.bead.cmd.info", "driftscope.local.bead.cmd.stats", "driftscope.local.bead.cmd.pause"} {
			h.publish(subject, target.Sample, nil)
		}
		for j, c := range rights.Classes {
			h.publish(c.Sample, target.Sample, []byte("put"))
			if c.Stream == "" {
				continue
			}
			name := fmt.Sprintf("spy%d-%d", i, j)
			consumer := fmt.Sprintf(`{"stream_name":%q,"config":{"name":%q,"deliver_subject":%q,"deliver_policy":"all","ack_policy":"explicit","max_ack_pending":1,"mem_storage":true}}`, c.Stream, name, target.Sample)
			for subject, body := range map[string]string{
				"$JS.API.STREAM.INFO." + c.Stream: "", "$JS.API.STREAM.MSG.GET." + c.Stream: `{"seq":1}`, "$JS.API.DIRECT.GET." + c.Stream: `{"seq":1}`, "$JS.API.DIRECT.GET." + c.Stream + "." + c.Sample: "",
				"leaf.bead.info": "", "leaf.bead.get": `{"seq":1}`,
			} {
				h.publish(subject, target.Sample, []byte(body))
			}
			reply := h.inbox()
			h.publish("$JS.API.CONSUMER.CREATE."+c.Stream+"."+name, reply, []byte(consumer))
		}
	}
	tr.await(w, h, found, func() { tr.delivered(found) }, rights.Deliver)
}

// delivered collects messages that the server published, not the client itself.
func (tr *trial) delivered(found *effects) {
	for _, s := range tr.settled() {
		own := string(s.message.Data) == "put" && s.message.Header.Get("Nats-Stream") == "" && !strings.HasPrefix(s.message.Reply, "$JS.ACK")
		if !own && tr.matters(s.account, s.class) {
			found.add(s.class, rights.Deliver, fmt.Sprintf("in %s came %.60q", s.account, s.message.Data))
		}
	}
}

// change tries to create, purge and delete streams.
func (tr *trial) change(w way, h hand, found *effects) {
	tr.prepare()
	for i, c := range rights.Classes { // with settings that make JetStream copy or publish elsewhere
		for j, body := range []string{
			fmt.Sprintf(`"subjects":[%q],"republish":{"src":">","dest":"driftscope.local.other.latent"}`, c.Sample+".stolen"), fmt.Sprintf(`"mirror":{"name":%q}`, c.Stream), fmt.Sprintf(`"sources":[{"name":%q}]`, c.Stream),
		} {
			name := fmt.Sprintf("STOLEN%d-%d", i, j)
			h.publish("$JS.API.STREAM.CREATE."+name, h.inbox(), fmt.Appendf(nil, `{"name":%q,"storage":"memory","retention":"limits",%s}`, name, body))
		}
		if c.Stream != "" {
			config, err := json.Marshal(jetstream.StreamConfig{Name: c.Stream, Subjects: []string{c.Sample}, Storage: jetstream.MemoryStorage, AllowDirect: true, Description: "stolen", Replicas: 1, MaxConsumers: -1, MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxMsgSize: -1, RePublish: &jetstream.RePublish{Source: c.Sample, Destination: "stolen"}})
			if err != nil {
				tr.t.Fatal(err)
			}
			h.publish("$JS.API.STREAM.UPDATE."+c.Stream, h.inbox(), config)
			h.publish("$JS.API.STREAM.CREATE."+c.Stream, h.inbox(), config)
		}
	}
	tr.compare(w, h, rights.Make, found, func(s *jetstream.StreamInfo) bool { return s != nil && s.Config.RePublish != nil })
	for i, c := range rights.Classes {
		if c.Stream != "" && tr.stolen(i) {
			found.add(i, rights.Make, "a stream that is new")
		}
	}
	for _, verb := range []rights.Verb{rights.Empty, rights.Unmake} {
		for _, c := range rights.Classes {
			switch {
			case c.Stream == "":
			case verb == rights.Empty:
				h.publish("$JS.API.STREAM.PURGE."+c.Stream, h.inbox(), nil)
				h.publish("$JS.API.STREAM.MSG.DELETE."+c.Stream, h.inbox(), []byte(`{"seq":1}`))
			default:
				h.publish("$JS.API.STREAM.DELETE."+c.Stream, h.inbox(), nil)
			}
		}
		tr.compare(w, h, verb, found, func(s *jetstream.StreamInfo) bool {
			return s == nil || verb == rights.Empty && s.State.Msgs == 0
		})
	}
}

// compare checks every stream after the attempts to change it.
func (tr *trial) compare(w way, h hand, v rights.Verb, found *effects, changed func(*jetstream.StreamInfo) bool) {
	tr.await(w, h, found, func() {
		time.Sleep(quietFor)
		for i, c := range rights.Classes {
			if c.Stream == "" {
				continue
			}
			var info *jetstream.StreamInfo
			if s, err := tr.js(i).Stream(tr.t.Context(), c.Stream); err == nil {
				info = s.CachedInfo()
			}
			if changed(info) {
				found.add(i, v, "seen")
			}
		}
	}, v)
}

// stolen reports whether an attempt has created a stream in the account of a class.
func (tr *trial) stolen(class int) (found bool) {
	for name := range tr.js(class).StreamNames(tr.t.Context()).Name() {
		found = found || strings.HasPrefix(name, "STOLEN")
	}
	return found
}

// client is a hand that uses NATS.
type client struct {
	t  *testing.T
	nc *nats.Conn
}

func (c client) publish(subject, reply string, data []byte) {
	if err := c.nc.PublishMsg(&nats.Msg{Subject: subject, Reply: reply, Data: data}); err != nil {
		c.t.Fatal(err)
	}
}

func (c client) subscribe(subject string, heard func(string, []byte)) {
	if _, err := c.nc.Subscribe(subject, func(m *nats.Msg) { heard(m.Subject, m.Data) }); err != nil {
		c.t.Fatal(err)
	}
}

func (c client) flush() {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := c.nc.FlushTimeout(10 * time.Second)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			c.t.Fatal(err)
		}
	}
}

func (c client) inbox() string { return "_INBOX.mine" }
func (c client) close()        { c.nc.Close() }

// dials returns a function that connects by NATS.
func dials(t *testing.T, url string, options ...nats.Option) func() (hand, error) {
	return func() (hand, error) {
		nc, err := nats.Connect(url, append(options, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...) // the test expects refusals
		if err != nil {
			return nil, err
		}
		return client{t, nc}, nil
	}
}
