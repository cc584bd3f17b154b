package natsink

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/sinks/message"
)

// leaderMessage gets one message from the leader of a JetStream stream, or returns jetstream.ErrMsgNotFound. The library may read from any
// replica, and a replica that lags reports that the newest message does not exist.
func leaderMessage(ctx context.Context, nc *nats.Conn, stream string, which messageWanted) (*nats.Msg, error) {
	ask, err := json.Marshal(which)
	if err != nil {
		return nil, err
	}
	reply, err := nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, ask)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error *struct {
			Code        int    `json:"code"`
			Description string `json:"description"`
		} `json:"error"`
		Message struct {
			Headers []byte `json:"hdrs"`
		} `json:"message"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return nil, fmt.Errorf("the server's answer about %s cannot be read: %w", stream, err)
	}
	if e := answer.Error; e != nil {
		const notFound = 404
		if e.Code == notFound {
			return nil, jetstream.ErrMsgNotFound
		}
		return nil, fmt.Errorf("%s: %s", stream, message.Printable(e.Description))
	}
	m := &nats.Msg{}
	if len(answer.Message.Headers) > 0 {
		if m.Header, err = nats.DecodeHeadersMsg(answer.Message.Headers); err != nil {
			return nil, fmt.Errorf("headers of a message of %s: %w", stream, err)
		}
	}
	return m, nil
}

// messageWanted selects one message, by its number or as the last of a subject.
type messageWanted struct {
	Seq  uint64 `json:"seq,omitempty"`
	Last string `json:"last_by_subj,omitempty"`
}
