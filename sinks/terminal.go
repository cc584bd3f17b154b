package sinks

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// Intervals of the status, which is redrawn in place on a terminal, and printed as a line elsewhere.
const (
	redrawEvery = 200 * time.Millisecond
	lineEvery   = 5 * time.Second
)

// terminal shows the present state of the stream, with events above it.
type terminal struct {
	env   Env
	size  func() (width, height int)
	drawn time.Time
	lines int // number of lines of the block on the screen

	estimate latent.Estimate
	tracked  bool // estimate is set
	health   latent.Health

	population latent.Population
	page       bytes.Buffer
}

// terminalOptions has no keys.
type terminalOptions struct {
	_ struct{} `reaches:"nothing"`
}

func newTerminal(decode decoder, env Env) (*terminal, error) {
	if err := decode(&terminalOptions{}); err != nil {
		return nil, err
	}
	return &terminal{env: env, size: screen(env), drawn: time.Now()}, nil
}

// screen returns a function that reads the terminal's size, or 80 by 24 if it is unknown.
func screen(env Env) func() (width, height int) {
	file, ok := env.Stdout.(*os.File)
	return func() (int, int) {
		if ok {
			if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 0 && h > 0 {
				return w, h
			}
		}
		return 80, 24
	}
}

// Write stores m, and redraws the status when it is due. Health arrives every second, so the status also shows a stalled camera.
func (s *terminal) Write(_ context.Context, m latent.Message) error {
	switch m := m.(type) {
	case *latent.Estimate:
		s.estimate.Copy(m)
		s.tracked = true
	case *latent.Law:
		s.estimate.SDE.Copy(&m.SDE)
	case *latent.Health:
		s.health = *m
	case *latent.Event:
		return s.event(m)
	case *latent.Population:
		s.population = *m
	case *latent.View, *latent.Track:
		return nil
	}
	every := lineEvery
	if s.env.Terminal {
		every = redrawEvery
	}
	if time.Since(s.drawn) < every {
		return nil
	}
	return s.draw()
}

// Close draws the final state.
func (s *terminal) Close(context.Context) error { return s.draw() }

// event prints e permanently, above the status.
func (s *terminal) event(e *latent.Event) error {
	s.page.Reset()
	s.erase()
	if !s.env.Terminal {
		s.page.WriteString(s.env.Stream + " ") // other streams may write to the same screen
	}
	fmt.Fprintf(&s.page, "%s %s %s: %s", e.Time.Local().Format(time.TimeOnly), e.Level, message.Printable(e.Code), message.Printable(e.Text))
	if e.Count > 1 {
		fmt.Fprintf(&s.page, " (%d times)", e.Count)
	}
	s.page.WriteByte('\n')
	if s.env.Terminal {
		s.block()
	}
	return s.show()
}

// draw updates the status.
func (s *terminal) draw() error {
	s.drawn = time.Now()
	s.page.Reset()
	if s.env.Terminal {
		s.erase()
		s.block()
	} else {
		s.page.WriteString(s.oneLine())
	}
	return s.show()
}

// show writes the page in one call, so that no half-drawn page appears.
func (s *terminal) show() error {
	_, err := s.env.Stdout.Write(s.page.Bytes())
	return err
}

// erase removes the block from the screen, and leaves the cursor at its start.
func (s *terminal) erase() {
	if s.lines > 0 {
		fmt.Fprintf(&s.page, "\x1b[%dA\x1b[J", s.lines)
		s.lines = 0
	}
}

// block adds the status, cut to the screen.
func (s *terminal) block() {
	width, height := s.size()
	for _, line := range s.status() {
		if s.lines == height-1 {
			return
		}
		s.page.WriteString(cut(line, width-1))
		s.page.WriteByte('\n')
		s.lines++
	}
}

// cut shortens a line to width columns. Dots at the end mark a shortened line.
func cut(line string, width int) string {
	runes := []rune(line)
	switch {
	case len(runes) <= width:
		return line
	case width < 1:
		return ""
	}
	return string(runes[:width-1]) + "…"
}
