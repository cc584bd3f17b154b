package natsource

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// occupied is a stream in which a message of this identity stands everywhere.
type occupied struct {
	jetstream.Stream
	id string
}

func (o occupied) GetMsg(context.Context, uint64, ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return &jetstream.RawStreamMsg{Header: nats.Header{jetstream.MsgIDHeader: {o.id}}}, nil
}

// TestSkipped: where somebody else's message stands in the place of a frame's, in a cluster, the frame is counted as lost and told; where it is the frame's own, nothing is.
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
