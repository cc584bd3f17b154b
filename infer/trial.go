//go:build cgo

package infer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"driftscope/infer/card"
	"driftscope/internal/kit/system"
)

// TrialCommand is the hidden command that calls TrialProcess.
const TrialCommand = "try-model"

// Limits of a trial. The child limits its own processor time and memory: see confine.
const (
	trialTime   = 20 * time.Second // enough on a busy machine
	trialCPU    = 5                // seconds
	trialMemory = 2 << 30          // bytes in addition to the program: 1 GiB for a run, the file, and OpenCV's copy
	trialAnswer = 4 << 10
)

// A child's answers. A reason follows answerRefused.
const (
	answerRuns    = "runs"
	answerRefused = "refused "
)

// watchful is the environment of a trial, for glibc's checking allocator. glibc then ends the process if it detects a write beyond allocated memory, and
// overwrites freed memory, so that no read of old content succeeds by chance. Other C libraries ignore these variables.
var watchful = []string{"LD_PRELOAD=libc_malloc_debug.so.0", "GLIBC_TUNABLES=glibc.malloc.check=3:glibc.malloc.perturb=165:glibc.malloc.arena_max=1"}

// trial is the header sent to a child before the graphs. It contains the part of the card that bounds them.
type trial struct {
	Name    string     `json:"name"`
	Input   card.Input `json:"input"`
	Latent  int        `json:"latent"`
	SD      []float64  `json:"sd"`
	Clock   float64    `json:"clock_s"`
	Encoder int        `json:"encoder"` // bytes
	Decoder int        `json:"decoder"`
}

// tryApart opens the model in a child process and runs it on one picture there. OpenCV's operators trust the numbers in foreign graphs and may crash. tryApart
// returns an error if the child crashes.
func (m *Model) tryApart(patience time.Duration) error {
	c := &m.Card
	order, err := json.Marshal(trial{m.name, c.Input, c.Latent, c.SD, c.Clock, len(m.encoder), len(m.decoder)})
	if err != nil {
		return fmt.Errorf("model %s: %w", m.name, err)
	}
	child, err := system.StartChild(TrialCommand, watchful...)
	if err != nil {
		return fmt.Errorf("model %s: cannot start the process that tests it: %w", m.name, err)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for _, part := range [][]byte{append(order, '\n'), m.encoder, m.decoder} {
			if _, err := child.Input.Write(part); err != nil {
				return // the child has ended; its answer has the reason
			}
		}
	}()
	err = m.verdict(child, patience)
	child.Kill()
	<-sent
	return err
}

// verdict waits for the child's answer, for its end, or for the timeout.
func (m *Model) verdict(child *system.Child, patience time.Duration) error {
	if err := child.Output.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return fmt.Errorf("model %s: %w", m.name, err)
	}
	answer, err := io.ReadAll(io.LimitReader(child.Output, trialAnswer))
	text := string(answer)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return graphError{fmt.Errorf("model %s: a child process could not open and run it once within %g s: export a smaller one", m.name, patience.Seconds())}
	case text == answerRuns:
		return nil
	case strings.HasPrefix(text, answerRefused):
		return graphError{errors.New(strings.TrimPrefix(text, answerRefused))}
	}
	return graphError{fmt.Errorf("model %s: OpenCV ended the process that tested it (%s): export it with other operators, or export a smaller one", m.name, child.Fate())}
}

// TrialProcess runs a whole trial in a child process. It reads the model from standard input and writes the verdict to system.ChildOutput.
func TrialProcess() error {
	if err := confine(); err != nil {
		return fmt.Errorf("%s: %w", TrialCommand, err)
	}
	SetThreads(2) // each thread needs memory
	m, err := tried(os.Stdin)
	if err != nil {
		return fmt.Errorf("%s: %w: only driftscope itself starts this command, use driftscope run", TrialCommand, err)
	}
	answer := answerRuns
	if err := m.try(); err != nil {
		answer = answerRefused + oneLine(err)
	}
	out := system.ChildOutput()
	_, err = out.WriteString(answer[:min(len(answer), trialAnswer)])
	return errors.Join(err, out.Close())
}

// tried reads the model from the parent, which has checked it.
func tried(in io.Reader) (*Model, error) {
	from := bufio.NewReader(in)
	line, err := from.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("found no header: %w", err)
	}
	var t trial
	if err := json.Unmarshal(line, &t); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if t.Encoder < 0 || t.Decoder < 0 || t.Encoder > card.MaxFile || t.Decoder > card.MaxFile {
		return nil, fmt.Errorf("header: found graphs of %d and %d bytes, at most %d expected", t.Encoder, t.Decoder, card.MaxFile)
	}
	m := &Model{name: t.Name, Card: card.Card{Input: t.Input, Latent: t.Latent, SD: t.SD, Clock: t.Clock}}
	m.encoder = make([]byte, t.Encoder)
	if t.Decoder > 0 {
		m.decoder = make([]byte, t.Decoder)
	}
	for _, graph := range [][]byte{m.encoder, m.decoder} {
		if _, err := io.ReadFull(from, graph); err != nil {
			return nil, fmt.Errorf("the model is incomplete: %w", err)
		}
	}
	return m, nil
}

// try repeats the steps of a run. It opens the graphs whole and split for our own kernels, and runs each once.
func (m *Model) try() error {
	if err := m.open(); err != nil {
		return err
	}
	e, err := m.NewEncoder()
	if err != nil {
		return err
	}
	err = e.forward()
	if m.decoder != nil && err == nil {
		err = e.decode(make([]float64, m.Card.Latent))
	}
	if err != nil {
		err = fmt.Errorf("model %s: %w", m.name, err)
	}
	return errors.Join(err, e.Close())
}
