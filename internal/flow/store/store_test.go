package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"driftscope/internal/flow/bus"
	"driftscope/internal/suite"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}

// embedded returns a server with JetStream in this process.
func embedded(t *testing.T) (jetstream.JetStream, *bus.Conn) {
	t.Helper()
	c, err := bus.Connect(context.Background(), bus.Options{URL: bus.Embedded, Store: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	js, err := jetstream.New(c.NATS())
	must(t, err)
	return js, c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// seen is a reader that records its calls.
type seen struct {
	mu     sync.Mutex
	begun  int
	whole  bool
	made   time.Time // creation time of the bucket
	values map[string]string
}

func (s *seen) Begin(info *jetstream.StreamInfo) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun, s.whole, s.made, s.values = s.begun+1, false, info.Created, map[string]string{}
	return nil
}

func (s *seen) Take(e jetstream.KeyValueEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e == nil {
		s.whole = true
		return
	}
	s.values[e.Key()] = string(e.Value())
}

// Look also detects a bucket that was deleted and created again between two calls.
func (s *seen) Look(info *jetstream.StreamInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return info == nil || !info.Created.Equal(s.made)
}

// is reports whether the nth bucket, or a later one, has been read completely and has the given number of keys. On a busy machine the reading may begin once
// more.
func (s *seen) is(nth, keys int) func() bool {
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.begun >= nth && s.whole && len(s.values) == keys
	}
}

func bucket(js jetstream.JetStream, makes bool, s *seen) *Bucket {
	names, err := bus.NewSubject("", "", "any")
	if err != nil {
		panic(err) // the defaults are valid names
	}
	return &Bucket{JS: js, Is: func() bus.Resource { return names.Laws(1) }, Makes: makes, Every: 100 * time.Millisecond, Reader: s, Log: slog.New(slog.DiscardHandler)}
}

// TestHeals: after a followed bucket is deleted, the followers with Makes create and read it again. The others wait for it, and Read returns the same entries.
func TestHeals(t *testing.T) {
	js, _ := embedded(t)
	var made, watched, read seen
	if err := bucket(js, false, &watched).Follow(t.Context()); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Fatalf("found %v, expected that there is none", err)
	}
	maker, watcher := bucket(js, true, &made), bucket(js, false, &watched)
	must(t, maker.Follow(t.Context()))
	defer maker.Close()
	must(t, watcher.Follow(t.Context()))
	defer watcher.Close()
	before := watched.begun
	for _, key := range []string{"a", "b", "c"} {
		_, err := maker.Values().PutString(t.Context(), key, "old")
		must(t, err)
	}
	suite.Until(t, made.is(1, 3))
	must(t, bucket(js, false, &read).Read(t.Context()))
	if !read.is(1, 3)() {
		t.Errorf("who reads once found %v", read.values)
	}
	must(t, js.DeleteKeyValue(t.Context(), maker.Values().Bucket()))
	suite.Until(t, made.is(2, 0))
	suite.Until(t, watched.is(before+1, 0))
	_, err := maker.Values().PutString(t.Context(), "a", "new")
	must(t, err)
	suite.Until(t, watched.is(before+1, 1))
}

// numbers is a queue of messages whose contents are numbers.
type numbers struct{ next, first, most int }

func (q *numbers) Next() (*nats.Msg, error) {
	if q.next == q.most {
		return nil, nil
	}
	m := nats.NewMsg("numbers")
	m.Header.Set(jetstream.MsgIDHeader, fmt.Sprint("id-", q.next))
	m.Data = fmt.Append(nil, q.next)
	q.next++
	return m, nil
}

func (q *numbers) Stored() error {
	if q.first++; q.first == q.most {
		return errDone
	}
	return nil
}

var errDone = errors.New("all are stored")

// TestSender: messages are stored once and in order, even if another client publishes to the stream. After that, nothing more is stored until the sender starts
// again.
func TestSender(t *testing.T) {
	js, c := embedded(t)
	s, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "numbers", Subjects: []string{"numbers"}})
	must(t, err)
	const most = 3000
	q := &numbers{most: most}
	sender := Sender{Conn: c.NATS(), Stream: "numbers", Alone: true, Messages: 16, Bytes: math.MaxInt, Wait: 10 * time.Second, Ready: make(chan struct{})}
	strange := 0
	for q.first < most {
		info, err := s.Info(t.Context())
		must(t, err)
		sender.Last = info.State.LastSeq
		q.next = q.first
		if q.first < most/2 { // another client's message takes the number of our next one
			_, err := js.Publish(t.Context(), "numbers", []byte("strange"))
			must(t, err)
			strange++
		}
		switch err := sender.Send(suite.Soon(t), q); {
		case errors.Is(err, errDone):
		case errors.Is(err, ErrUnstored) && q.first < most/2:
			q.most = most
			sender.Last = info.State.LastSeq + 1
			q.next = q.first
			short := *q
			short.most = q.first + 500
			if err := sender.Send(suite.Soon(t), &short); !errors.Is(err, errDone) {
				t.Fatal(err)
			}
			q.first = short.first
		default:
			t.Fatal(err)
		}
	}
	var found []string
	info, err := s.Info(t.Context())
	must(t, err)
	for seq := uint64(1); seq <= info.State.LastSeq; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		must(t, err)
		if string(m.Data) != "strange" {
			found = append(found, string(m.Data))
		}
	}
	expected := make([]string, most)
	for i := range expected {
		expected[i] = fmt.Sprint(i)
	}
	if !slices.Equal(found, expected) || strange == 0 || info.State.LastSeq != uint64(most+strange) {
		t.Errorf("found %d messages, and %d of a stranger's, of %d: not each once and in order", len(found), strange, info.State.LastSeq)
	}
}
