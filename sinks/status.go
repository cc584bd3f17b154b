package sinks

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// maxRows is the largest number of latent dimensions with a row of their own in the status.
const maxRows = 8

// status formats the whole state as lines.
func (s *terminal) status() []string {
	h := &s.health
	lines := []string{
		fmt.Sprintf("%s  %s %s  frames %d  tracked %d  %.1f fps  queue %d", s.env.Stream, orStarting(h.State), uptime(h.UptimeS), h.Frames, h.Tracked, h.FPS, h.Queue),
		"dropped  " + s.drops(),
		"latency  " + s.latency(),
	}
	if !s.tracked {
		return lines
	}
	if s.estimate.Objects != nil {
		lines = append(lines, s.field()...)
		if len(s.estimate.Latent.Mean) == 0 {
			return lines
		}
	}
	lines = append(lines, fmt.Sprintf("%4s  %20s  %24s  %-9s %10s", "", "z ± sd", "σ [95 %]", "motion", "drift"))
	for i := range min(len(s.estimate.Latent.Mean), maxRows) {
		lines = append(lines, s.row(i))
	}
	if more := len(s.estimate.Latent.Mean) - maxRows; more > 0 {
		lines = append(lines, fmt.Sprintf("      and %d more", more))
	}
	return append(lines, strings.Split(s.law(), "\n")...)
}

// oneLine formats the state for a log.
func (s *terminal) oneLine() string {
	h := &s.health
	line := fmt.Sprintf("%s %s %s frames %d tracked %d %.1f fps dropped %s", s.env.Stream, orStarting(h.State), uptime(h.UptimeS), h.Frames, h.Tracked, h.FPS, s.drops())
	if s.tracked && s.estimate.Objects != nil {
		return line + " " + strings.Join(s.field(), " ") + "\n"
	}
	if s.tracked {
		line += fmt.Sprintf(" z %.3g active %d of %d", s.estimate.Latent.Mean, s.estimate.SDE.ActiveCount, len(s.estimate.Latent.Mean))
	}
	return line + "\n"
}

// field formats all objects together, as lines.
func (s *terminal) field() []string {
	o, p := s.estimate.Objects, &s.population
	lines := []string{fmt.Sprintf("objects %d  born %d  ended %d", len(o.ID), p.Births, p.Deaths)}
	if p.Steps == 0 {
		return lines
	}
	unit, d := "px²/s", p.Px
	if p.UM != (latent.Range{}) {
		unit, d = "µm²/s", p.UM
	}
	return append(lines, fmt.Sprintf("mean D %s [%s, %s] %s  common velocity %s, %s ± %s px/s", number(d.D), number(d.Low), number(d.High), unit,
		number(p.CommonX), number(p.CommonY), number(p.CommonSD)))
}

// row formats one latent dimension.
func (s *terminal) row(i int) string {
	l, law := &s.estimate.Latent, &s.estimate.SDE
	interval := fmt.Sprintf("%s [%s, %s]", number(message.At(law.Sigma, i)), number(message.At(law.SigmaLow, i)), number(message.At(law.SigmaHigh, i)))
	motion := "-"
	if i < len(law.Activity) {
		motion = string(law.Activity[i])
	}
	z := number(l.Mean[i]) + " ± " + number(message.At(l.SD, i))
	return fmt.Sprintf("z%-3d  %20s  %24s  %-9s %10s", i+1, z, interval, motion, number(message.At(s.estimate.Drift, i)))
}

// law formats a summary of the motion.
func (s *terminal) law() string {
	law := &s.estimate.SDE
	line := fmt.Sprintf("active %d of %d  drift bound (CRLB) %s (latent/s)²  observed %s s  revision %d",
		law.ActiveCount, len(s.estimate.Latent.Mean), number(law.CRLB), number(law.Seconds), law.Revision)
	if law.Units.Calibration != latent.Calibrated {
		return line
	}
	unit, d := "px²/s", law.Units.Px
	if law.Units.UM != (latent.Spread{}) {
		unit, d = "µm²/s", law.Units.UM
	}
	return line + fmt.Sprintf("\nD %s [%s, %s] %s", number(d.D), number(d.Low), number(d.High), unit)
}

func (s *terminal) drops() string {
	if len(s.health.Dropped) == 0 {
		return "none"
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(s.health.Dropped)) {
		parts = append(parts, fmt.Sprintf("%s %d", message.Printable(cause), s.health.Dropped[cause]))
	}
	return strings.Join(parts, ", ")
}

func (s *terminal) latency() string {
	parts := []string{"p50/p95/p99 ms:"}
	for _, stage := range s.health.Stages {
		parts = append(parts, fmt.Sprintf("%s %.2f/%.2f/%.2f", stage.Name, stage.P50MS, stage.P95MS, stage.P99MS))
	}
	return strings.Join(parts, "  ")
}

func orStarting(state string) string {
	if state == "" {
		return "starting"
	}
	return state
}

func uptime(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// number formats v with three significant digits, or as a dash if it is unknown.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.3g", v)
}
