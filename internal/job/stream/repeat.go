//go:build cgo

package stream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/sinks/message"
)

// Earlier is the part of an earlier run's JSON Lines that a repetition needs for the same estimates: the tracked frames, and the frames at which refined
// drifts were applied.
type Earlier struct {
	tracked map[uint64]bool
	applied []uint64 // frame number of each revision
}

// ReadEarlier reads the results at path.
func ReadEarlier(path string) (*Earlier, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, lines, number := &Earlier{tracked: map[uint64]bool{}, applied: []uint64{}}, bufio.NewScanner(f), 0
	lines.Buffer(nil, message.MaxRecord)
	for lines.Scan() {
		number++
		if err := e.take(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("%s:%d: %w: give a file from run --out", path, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w: give a file from run --out", path, number+1, err)
	}
	if len(e.tracked) == 0 {
		return nil, fmt.Errorf("%s: no latent in it: give a file from run --out", path)
	}
	return e, nil
}

// take reads one line.
func (e *Earlier) take(line []byte) error {
	var of struct{ Kind latent.Kind }
	if err := json.Unmarshal(line, &of); err != nil {
		return fmt.Errorf("not a driftscope message: %w", err)
	}
	if of.Kind != latent.KindLatent && of.Kind != latent.KindSDE && of.Kind != latent.KindEvent {
		return nil
	}
	r, err := message.Decode(of.Kind, line)
	if err != nil {
		return err
	}
	switch r := r.(type) {
	case *message.LatentRecord:
		e.tracked[r.Seq] = true
	case *message.EventRecord:
		switch r.Code {
		case "command_model", "command_roi", "command_freeze", "command_reset", "command_roll_back":
			return fmt.Errorf("%s after frame %d: a run that was steered cannot be repeated", r.Code, r.Seq)
		}
	case *message.SDERecord:
		switch known := uint64(len(e.applied)); {
		case r.DriftRevision == known+1:
			e.applied = append(e.applied, r.DriftFrame)
		case r.DriftRevision != known:
			return fmt.Errorf("drift revision %d after %d: the run was reset, continued a saved state or refined faster than it reported, and cannot be repeated", r.DriftRevision, known)
		}
	}
	return nil
}

// repeated is a source without the frames that the earlier run did not track. The next frame counts them as dropped.
type repeated struct {
	pipeline.Source
	earlier *Earlier
	lost    uint64 // frames since the last tracked one
}

// repeat limits a source to the frames that the earlier run tracked. It refuses live sources.
func (e *Earlier) repeat(s pipeline.Source) (pipeline.Source, error) {
	if s.Info().Live {
		return nil, errors.New("--repeat: a live source cannot be read again: give the recording, or a simulation with realtime: false")
	}
	return &repeated{Source: s, earlier: e}, nil
}

// Read skips the frames that the earlier run did not track.
func (r *repeated) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		f, err := r.Source.Read(ctx)
		if err != nil {
			return nil, err
		}
		f.Meta.Dropped += r.lost
		if r.earlier.tracked[f.Seq] {
			r.lost = 0
			return f, nil
		}
		r.lost = f.Meta.Dropped + 1
		f.Close()
	}
}
