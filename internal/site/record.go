package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"driftscope/internal/flow/bus"
)

const (
	mostName  = 64 // characters of a worker's name, an id or a version, as for a token of a subject
	mostEpoch = 1<<53 - 1
)

// Record is the value of a lease's key.
type Record struct {
	Worker  string    `json:"worker"`
	ID      string    `json:"id"`                // of the worker's process, random
	Epoch   uint64    `json:"epoch,omitempty"`   // 0 in a claim, whose revision determines the epoch
	Since   time.Time `json:"since"`             // time of the claim, by the worker's clock; for display
	Version string    `json:"version,omitempty"` // of the program
	Free    bool      `json:"free,omitempty"`    // the holder has released it
	To      string    `json:"to,omitempty"`      // the worker that should take it next
}

// read checks the bounds of a record.
func read(value []byte) (r Record, err error) {
	if len(value) > bus.MostLease {
		return r, fmt.Errorf("%d bytes, expected at most %d", len(value), bus.MostLease)
	}
	if err := json.Unmarshal(value, &r); err != nil {
		return Record{}, fmt.Errorf("not a lease's record: %w", err)
	}
	switch {
	case !token(r.Worker):
		err = fmt.Errorf("worker: found %.70q, expected 1 to %d letters, digits, - or _", r.Worker, mostName)
	case !token(r.ID):
		err = fmt.Errorf("id: found %.70q, expected 1 to %d letters, digits, - or _", r.ID, mostName)
	case r.To != "" && !token(r.To):
		err = fmt.Errorf("to: found %.70q, expected a worker's name", r.To)
	case len(r.Version) > mostName:
		err = fmt.Errorf("version: found %d characters, expected at most %d", len(r.Version), mostName)
	case r.Epoch > mostEpoch:
		err = fmt.Errorf("epoch: found %d, expected less than 2^53", r.Epoch)
	case r.To != "" && !r.Free:
		err = errors.New("to: is set without free, but a worker that hands over a lease has released it")
	}
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// bytes returns the record in its stored form.
func (r Record) bytes() []byte {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings, a number, and a time of this century
	}
	return data
}

// token reports whether a name is valid in a subject and in a key.
func token(name string) bool {
	return name != "" && len(name) <= mostName && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) < 0
}
