package latent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Command is a request of a client. The runner applies it between two frames and answers with Reply.
type Command struct {
	Name    string
	Payload []byte      // received JSON: limited in size, but not yet checked
	Reply   func(error) // called exactly once, from any goroutine; never nil. A *Refusal names the party at fault
}

// DecodePayload fills dst from a command's payload. The payload must be one JSON value, with known keys only and nothing after it.
func DecodePayload(payload []byte, dst any) error {
	if !json.Valid(payload) { // a decoder stops after the first value
		return errors.New("not one JSON value")
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	return d.Decode(dst)
}

// Refusal is the reason why a command was not applied. Code is one of the constants below, as in HTTP.
type Refusal struct {
	Code int
	Text string // ends with advice for the user
}

// The codes of a Refusal name the party at fault.
const (
	Malformed = 400 // the payload is invalid for the command
	Unknown   = 404 // the command does not exist
	Conflict  = 409 // this stream can never apply it, or not in its present state
	NotNow    = 503 // it may succeed later
)

func (r *Refusal) Error() string { return r.Text }

// Refuse returns a *Refusal.
func Refuse(code int, format string, args ...any) error {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Applied lists the commands that the runner applies, with their effects.
func Applied() []struct{ Name, Does string } {
	return []struct{ Name, Does string }{
		{"pause", "tracking stops: a live stream's frames are dropped and counted, a file's wait"},
		{"resume", "tracking and the law continue"},
		{"freeze", "the law stays as it is; latents continue"},
		{"reset", "the law forgets everything"},
		{"roll_back", "the law returns to its state of half a minute ago or earlier"},
		{"checkpoint", "the law's state is saved to its file and to KV, before the answer"},
		{"roi", `the region of interest moves: {"x": 120, "y": 80} is its upper left corner in the step's input, pixels`},
		{"model", `another model tracks from the next frame on: {"name": "spot"} is a model on the server, {"back": true} the previous model`},
		{"follow", `in a field: publishes the latents and the law of one object: {"id": 17}`},
		{"unfollow", "ends follow"},
		{"stop", "the stream ends; everything it has read is tracked and delivered"},
		{"start", `with run --stay: a stopped stream starts again; {"config": true} takes its configuration from KV`},
	}
}
