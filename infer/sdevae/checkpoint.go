package sdevae

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// A checkpoint is magic, version (uint32), length of the payload (uint64), the payload, and the SHA-256 of all before it; numbers
// are little-endian. It holds everything that the steps to come depend on, but for the clip and the model continued, of which it
// holds digests.
const (
	checkpointMagic   = "driftscope training\n"
	checkpointVersion = 3
	checkpointHeader  = len(checkpointMagic) + 4 + 8
)

// Bounds on what is read from a checkpoint, in bytes.
const (
	MaxCheckpoint = 640 << 20 // two models of 64 latents with a full posterior, and their moments, take five sixths of it
	maxNotes      = 1 << 20
	maxSettings   = 1 << 14
	maxDigest     = 1 << 8
)

// ErrCheckpoint is wrapped by every error about bytes that are no checkpoint of the training at hand.
var ErrCheckpoint = errors.New("unusable checkpoint")

// Checkpoint is a training under way.
type Checkpoint struct {
	Notes       []byte // the caller's, as in Training
	Step, Steps int    // optimiser steps taken, and in all

	config     Config // with the defaults filled in
	clip, from []byte // digests
	state      []byte // of the job
}

// ReadCheckpoint takes a checkpoint apart that Training.Save was given. It returns ErrCheckpoint where data is anything else,
// and keeps data.
func ReadCheckpoint(data []byte) (*Checkpoint, error) {
	payload, err := checkEnvelope(data)
	if err != nil {
		return nil, err
	}
	a, c := archive{buf: payload}, &Checkpoint{}
	c.archive(&a)
	if a.err != nil {
		return nil, a.err
	}
	c.state = a.buf
	return c, nil
}

// archive goes through all but the state.
func (c *Checkpoint) archive(a *archive) {
	a.bytes(&c.Notes, maxNotes)
	a.count(&c.Steps, math.MaxInt32)
	a.count(&c.Step, c.Steps)
	a.bytes(&c.clip, maxDigest)
	a.bytes(&c.from, maxDigest)
	var settings []byte
	if a.writing {
		settings, a.err = json.Marshal(c.config)
	}
	a.bytes(&settings, maxSettings)
	if a.err == nil && !a.writing {
		d := json.NewDecoder(bytes.NewReader(settings))
		d.DisallowUnknownFields()
		err := d.Decode(&c.config)
		a.require(err == nil, "its settings: %v", err)
	}
}

// checkEnvelope gives the payload of a whole checkpoint.
func checkEnvelope(data []byte) ([]byte, error) {
	if len(data) < checkpointHeader || string(data[:len(checkpointMagic)]) != checkpointMagic {
		return nil, fmt.Errorf("%w: it does not begin like one", ErrCheckpoint)
	}
	if v := binary.LittleEndian.Uint32(data[len(checkpointMagic):]); v != checkpointVersion {
		return nil, fmt.Errorf("%w: its version is %d, this build reads %d", ErrCheckpoint, v, checkpointVersion)
	}
	body := data[checkpointHeader:]
	size := binary.LittleEndian.Uint64(data[len(checkpointMagic)+4:])
	if size > MaxCheckpoint || uint64(len(body)) != size+sha256.Size {
		return nil, fmt.Errorf("%w: it is torn: %d bytes follow the header, which announces %d", ErrCheckpoint, len(body), size)
	}
	if sum := sha256.Sum256(data[:checkpointHeader+int(size)]); !bytes.Equal(sum[:], body[size:]) {
		return nil, fmt.Errorf("%w: it is damaged: its digest does not match its content", ErrCheckpoint)
	}
	return body[:size], nil
}

// envelope begins a checkpoint for append; seal completes it.
func envelope() []byte {
	b := append([]byte(checkpointMagic), make([]byte, 12)...)
	binary.LittleEndian.PutUint32(b[len(checkpointMagic):], checkpointVersion)
	return b
}

func seal(b []byte) []byte {
	binary.LittleEndian.PutUint64(b[len(checkpointMagic)+4:], uint64(len(b)-checkpointHeader))
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// checkpoint hands the job's state to whoever saves it.
func (j *job) checkpoint() error {
	if j.training.Save == nil {
		return nil
	}
	a := archive{writing: true, buf: envelope()}
	c := Checkpoint{Notes: j.training.Notes, Step: j.taken, Steps: j.config.TotalSteps(), config: j.config, clip: j.digest, from: j.fromDigest()}
	c.archive(&a)
	j.archive(&a)
	if a.err != nil {
		return a.err
	}
	return j.training.Save(seal(a.buf))
}

// resume brings a new job to where the checkpoint was made.
func (j *job) resume(c *Checkpoint) error {
	switch {
	case !bytes.Equal(c.clip, j.digest):
		return fmt.Errorf("%w: it was made from another recording, or from other frames of this one", ErrCheckpoint)
	case !bytes.Equal(c.from, j.fromDigest()):
		return fmt.Errorf("%w: it continues another model", ErrCheckpoint)
	case c.config != j.config:
		return fmt.Errorf("%w: it was made with other settings", ErrCheckpoint)
	}
	a := archive{buf: c.state}
	j.archive(&a)
	a.require(len(a.buf) == 0, "%d bytes too many", len(a.buf))
	return a.err
}
