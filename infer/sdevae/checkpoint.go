package sdevae

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"driftscope/internal/kit/archive"
)

// format describes checkpoints. They contain everything that later steps depend on. Of the clip and the continued model they contain only digests.
var format = archive.Format{Magic: "driftscope training\n", Version: 3, Limit: MaxCheckpoint, Unusable: ErrCheckpoint}

// Bounds on the parts of a checkpoint, in bytes.
const (
	MaxCheckpoint = 640 << 20 // two models of 64 latents with a full posterior, and their moments, take five sixths of this
	maxNotes      = 1 << 20
	maxSettings   = 1 << 14
	maxDigest     = 1 << 8
)

// ErrCheckpoint is in the chain of every error about data that is not a checkpoint of this training.
var ErrCheckpoint = errors.New("unusable checkpoint")

// Checkpoint is the state of an unfinished training.
type Checkpoint struct {
	Notes       []byte // the caller's notes, as in Training
	Step, Steps int    // optimiser steps done, and in total

	config     Config // with the defaults filled in
	clip, from []byte // digests
	state      []byte // state of the job
}

// ReadCheckpoint parses a checkpoint from Training.Save. It returns ErrCheckpoint if data is anything else. The Checkpoint refers to data.
func ReadCheckpoint(data []byte) (*Checkpoint, error) {
	a, err := format.Open(data)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{}
	c.archive(a)
	c.state = a.Bytes()
	return c, a.Err()
}

// archive reads or writes everything except the state.
func (c *Checkpoint) archive(a *archive.Codec) {
	a.Blob(&c.Notes, maxNotes)
	a.Count(&c.Steps, math.MaxInt32)
	a.Count(&c.Step, c.Steps)
	a.Blob(&c.clip, maxDigest)
	a.Blob(&c.from, maxDigest)
	var settings []byte
	if a.Writing() {
		var err error
		if settings, err = json.Marshal(c.config); err != nil {
			a.Fail(err)
		}
	}
	if a.Blob(&settings, maxSettings); a.Reading() {
		d := json.NewDecoder(bytes.NewReader(settings))
		d.DisallowUnknownFields()
		err := d.Decode(&c.config)
		a.Require(err == nil, "invalid settings: %v", err)
	}
}

// checkpoint passes the job's state to the function that saves it.
func (j *job) checkpoint() error {
	if j.training.Save == nil {
		return nil
	}
	a := format.Writer()
	c := Checkpoint{Notes: j.training.Notes, Step: j.taken, Steps: j.config.TotalSteps(), config: j.config, clip: j.digest, from: j.fromDigest()}
	c.archive(a)
	j.archive(a)
	if a.Err() != nil {
		return a.Err()
	}
	return j.training.Save(format.Seal(a))
}

// resume restores a new job to the checkpoint.
func (j *job) resume(c *Checkpoint) error {
	switch {
	case !bytes.Equal(c.clip, j.digest):
		return fmt.Errorf("%w: it belongs to another recording, or to other frames of this recording", ErrCheckpoint)
	case !bytes.Equal(c.from, j.fromDigest()):
		return fmt.Errorf("%w: it continues another model", ErrCheckpoint)
	case c.config != j.config:
		return fmt.Errorf("%w: it belongs to a training with other settings", ErrCheckpoint)
	}
	a := archive.NewReader(c.state, ErrCheckpoint)
	j.archive(a)
	return a.End()
}
