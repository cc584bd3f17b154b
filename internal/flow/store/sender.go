package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Queue holds the messages to store. Only one goroutine calls it.
type Queue interface {
	// Next returns the next message, with its identity in Nats-Msg-Id, or nil if none is left. The sender sets other headers.
	Next() (*nats.Msg, error)
	// Stored removes the oldest pending message, which the stream has stored.
	Stored() error
}

// Sender sends a queue to a JetStream stream, each message once and in order. Several messages may be in flight.
//
// Each message names the sequence number that the stream must have reached and, if Alone is set, the identity of its predecessor. So no message is stored
// before its predecessor. The number alone is not enough: if another client's message took the number of one of ours, our next message would be stored after
// the wrong one. In a cluster only the number can be used: a server that was away and has caught up refuses every message that names its predecessor, and its
// replica never recovers (nats-server 2.15: processCatchupMsg leaves lmsgId unchanged).
type Sender struct {
	Conn     *nats.Conn
	Stream   string
	Last     uint64                      // the stream's last sequence number
	Alone    bool                        // only one server has the stream
	Messages int                         // largest number of unconfirmed messages
	Bytes    int                         // largest number of their bytes; one further message may exceed it
	Wait     time.Duration               // time limit for the next confirmation
	Ready    <-chan struct{}             // has a token when the queue may have a message
	Look     func(context.Context) error // called every second; may be nil
}

// ErrUnstored reports that the server refused to store a message.
var ErrUnstored = errors.New("the server did not store a message")

// lookEvery is the interval between calls of Look.
const lookEvery = time.Second

// Send sends waiting messages, and removes confirmed ones from the queue, until an error occurs or ctx ends.
func (s *Sender) Send(ctx context.Context, q Queue) error {
	inbox := s.Conn.NewInbox()
	acks := make(chan *nats.Msg, s.Messages+1)
	replies, err := s.Conn.ChanSubscribe(inbox+".*", acks)
	if err != nil {
		return err
	}
	defer replies.Unsubscribe()
	late := time.NewTimer(s.Wait) // time limit for the first unconfirmed message
	defer late.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var sizes []int // sizes of the unconfirmed messages
	last, size, before := s.Last, 0, ""
	for {
		for len(sizes) < s.Messages && size < s.Bytes {
			m, err := q.Next()
			if err != nil {
				return err
			}
			if m == nil {
				break
			}
			if err := s.publish(m, inbox, last, before); err != nil {
				return err
			}
			if s.Alone {
				before = m.Header.Get(jetstream.MsgIDHeader)
			}
			if len(sizes) == 0 {
				late.Reset(s.Wait)
			}
			last, size, sizes = last+1, size+len(m.Data), append(sizes, len(m.Data))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Ready:
		case <-look.C:
			if s.Look == nil {
				continue
			}
			if err := s.Look(ctx); err != nil {
				return err
			}
		case <-late.C:
			if len(sizes) > 0 {
				return fmt.Errorf("the server confirmed nothing for %v", s.Wait)
			}
		case m := <-acks:
			stored, err := s.confirms(m)
			if err != nil {
				return err
			}
			number, _ := strconv.ParseUint(m.Subject[len(inbox)+1:], 10, 64)
			first := last + 1 - uint64(len(sizes))
			if !stored || number < first || number > last {
				continue // another client's answer, or a duplicate
			}
			if number > first {
				return errors.New("a confirmation out of order: the previous one is lost")
			}
			if err := q.Stored(); err != nil {
				return err
			}
			size, sizes = size-sizes[0], sizes[1:]
			late.Reset(s.Wait)
		}
	}
}

// publish publishes m as the successor of sequence number last and, unless before is empty, of the message with identity before. The subject of the answer
// contains the number of m.
func (s *Sender) publish(m *nats.Msg, inbox string, last uint64, before string) error {
	m.Reply = inbox + "." + strconv.FormatUint(last+1, 10)
	m.Header.Set(jetstream.ExpectedLastSeqHeader, strconv.FormatUint(last, 10))
	m.Header.Del(jetstream.ExpectedLastMsgIDHeader)
	if before != "" {
		m.Header.Set(jetstream.ExpectedLastMsgIDHeader, before)
	}
	return s.Conn.PublishMsg(m)
}

// confirms reports whether m is the stream's confirmation that it has stored a message. Subscribers of the messages may also answer; confirms ignores their
// answers.
func (s *Sender) confirms(m *nats.Msg) (bool, error) {
	if m.Header.Get("Status") != "" {
		return false, errors.New("no JetStream stream stores the messages: is JetStream enabled, and does the stream exist?")
	}
	var ack struct {
		Stream string `json:"stream"`
		Error  *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &ack); err != nil || ack.Stream != s.Stream {
		return false, nil
	}
	if ack.Error != nil {
		return false, fmt.Errorf("%w: %.200q", ErrUnstored, ack.Error.Description)
	}
	return true, nil
}
