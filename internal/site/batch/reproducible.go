//go:build cgo

package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// Bounds on an account's data about a film's events.
const (
	maxEvents    = 32
	maxEventText = 300 // bytes
)

// latency is the only stored field that depends on a clock besides the film's.
var latency = []byte(`,"latency_ms":`)

// timeless copies the messages of a run, one per line, without the parts that would differ in another run of the same film. It sets the latency of a frame
// to 0. It adds health and events to the account instead, because they depend on this process and its clock.
func timeless(to io.Writer, from io.Reader) (account, error) {
	a, in := account{}, bufio.NewReaderSize(from, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if failed := a.copy(to, line); failed != nil {
				return a, failed
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return a, nil
		case err != nil:
			return a, err
		}
	}
}

// copy writes a line, or adds it to the account.
func (a *account) copy(to io.Writer, line []byte) error {
	kind, err := kindOf(line)
	switch {
	case err != nil:
		return err
	case kind == latent.KindHealth:
		return a.health(line)
	case kind == latent.KindEvent:
		return a.event(line)
	}
	if at := bytes.Index(line, latency); at >= 0 {
		from := at + len(latency)
		if n := bytes.IndexAny(line[from:], ",}"); n >= 0 {
			line = slices.Replace(line, from, from+n, '0')
		}
	}
	_, err = to.Write(line)
	return err
}

// kindOf returns the kind of a line. Every line begins in the same way, so large lines need no parsing.
func kindOf(line []byte) (latent.Kind, error) {
	rest, ok := bytes.CutPrefix(line, fmt.Appendf(nil, `{"v":%d,"kind":"`, latent.Version))
	kind, _, closed := bytes.Cut(rest, []byte{'"'})
	if !ok || !closed {
		return "", fmt.Errorf("a result's line begins %.60q, expected a driftscope message", line)
	}
	return latent.Kind(kind), nil
}

// health adds the counts. The last message has the counts of the whole film.
func (a *account) health(line []byte) error {
	var r message.HealthRecord
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("a result's health: %w", err)
	}
	a.In, a.Tracked, a.Dropped, a.Alarms = r.Frames, r.Tracked, r.Dropped, r.Alarms
	return nil
}

// event stores an event, except the film's end.
func (a *account) event(line []byte) error {
	var r message.EventRecord
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("a result's event: %w", err)
	}
	if r.Code == "stream_ended" {
		return nil
	}
	if len(a.Events) == maxEvents {
		a.More++
		return nil
	}
	text := fmt.Sprintf("frame %d, %s: %s", r.Seq, r.Code, r.Text)
	a.Events = append(a.Events, text[:min(len(text), maxEventText)])
	return nil
}
