package natsource

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// occupied is a stream in which every message has this ID.
type occupied struct {
	jetstream.Stream
	id string
}

func (o occupied) GetMsg(context.Context, uint64, ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return &jetstream.RawStreamMsg{Header: nats.Header{jetstream.MsgIDHeader: {o.id}}}, nil
}

// TestSkipped: if another publisher's message is stored in place of a frame's message, in a cluster, the frame counts as lost, with a warning. If the message
// is the frame's own, neither happens.
func TestSkipped(t *testing.T) {
	told := 0
	p := &DurablePublisher{subject: "cam", window: []outgoing{{id: "s-0-0"}, {id: "s-1-0"}}, warn: func(string, ...any) { told++ }}
	p.skipped(t.Context(), occupied{id: "s-0-0"}, 8, 1)
	if told != 0 || p.Delivered().Lost != 0 {
		t.Errorf("told %d times, %d lost, expected nothing", told, p.Delivered().Lost)
	}
	p.skipped(t.Context(), occupied{id: "stranger"}, 8, 1)
	if told != 1 || p.Delivered().Lost != 1 {
		t.Errorf("told %d times, %d lost, expected 1 and 1", told, p.Delivered().Lost)
	}
}
