package card

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Bounds on a verdict. It has at most four reasons today, one per check; the bound leaves room for more.
const (
	maxReasons = 16
	maxReason  = 4096 // bytes: a line that names MaxLatent latents with their numbers
)

// Verdict grades the reliability of the model on its training clip.
type Verdict struct {
	Level   string   `json:"level" yaml:"level"` // good, doubt or bad
	Reasons []string `json:"reasons" yaml:"reasons"`
}

// validate refuses a verdict that pretrain would not write. Each reason must be one line, because it is printed.
func (v *Verdict) validate() error {
	if !slices.Contains([]string{"good", "doubt", "bad"}, v.Level) {
		return fmt.Errorf("training.verdict.level: found %q, expected good, doubt or bad", v.Level)
	}
	if len(v.Reasons) > maxReasons {
		return fmt.Errorf("training.verdict.reasons: found %d, expected at most %d", len(v.Reasons), maxReasons)
	}
	for _, r := range v.Reasons {
		if len(r) > maxReason || strings.ContainsFunc(r, unicode.IsControl) {
			return fmt.Errorf("training.verdict.reasons: found one of %d bytes, expected one line of at most %d bytes", len(r), maxReason)
		}
	}
	return nil
}

// Doubted returns the reasons why the model is not reliable, in one line, or "" if the model is good or has no verdict.
func (v *Verdict) Doubted() string {
	if v == nil || v.Level == "good" {
		return ""
	}
	return strings.Join(v.Reasons, "; ")
}
