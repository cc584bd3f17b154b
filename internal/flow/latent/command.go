package latent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Command is a request from outside; the runner applies it between two frames and answers on Reply.
type Command struct {
	Name    string
	Payload []byte      // JSON, as it came: bounded in size, and not yet looked at
	Reply   func(error) // called exactly once, from any goroutine; never nil. A *Refusal says whose fault it is
}

// DecodePayload fills dst from a command's payload: one JSON value, no key that dst does not have, and nothing behind it.
func DecodePayload(payload []byte, dst any) error {
	if !json.Valid(payload) { // a decoder stops where the first value ends
		return errors.New("not one JSON value")
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	return d.Decode(dst)
}

// Refusal is why a command was not applied. Code is one of the constants below, as in HTTP.
type Refusal struct {
	Code int
	Text string // ends in what to do
}

// Whose fault a refusal is.
const (
	Malformed = 400 // the payload is not what the command takes
	Unknown   = 404 // there is no such command
	Conflict  = 409 // this stream cannot do it, or not in its state
	NotNow    = 503 // it may work later
)

func (r *Refusal) Error() string { return r.Text }

// Refuse makes a Refusal.
func Refuse(code int, format string, args ...any) error {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Applied lists the commands that the runner applies, with what each does.
func Applied() []struct{ Name, Does string } {
	return []struct{ Name, Does string }{
		{"pause", "tracking waits: a live stream's frames are dropped and counted, a file's wait"},
		{"resume", "tracking and the law go on"},
		{"freeze", "the law stays as it is while latents go on"},
		{"reset", "the law forgets all it has learnt"},
		{"roll_back", "the law becomes what it was half a minute or more ago"},
		{"checkpoint", "the law's state is kept now, in its file and in KV; answered when it is there"},
		{"roi", `the region of interest moves: {"x": 120, "y": 80} is its upper left corner in the step's input, pixels`},
		{"model", `another model tracks from the next frame on: {"name": "spot"} is one that the server keeps, {"back": true} the one before`},
		{"follow", `of a field: the latents and the law of one object are published as those of a single one: {"id": 17}`},
		{"unfollow", "no object is followed any more"},
		{"stop", "the stream ends, with all it has read tracked and delivered"},
		{"start", `with run --stay: a stream that has stopped is assembled anew and runs; {"config": true} takes its configuration from KV`},
	}
}
