package config

import (
	"strings"
	"testing"
	"time"
)

func TestReadLead(t *testing.T) {
	for text, want := range map[string]struct {
		auto bool
		more time.Duration
	}{"": {}, "auto": {auto: true}, "12ms": {more: 12 * time.Millisecond}, "auto+5ms": {true, 5 * time.Millisecond}, "10s": {more: 10 * time.Second}} {
		auto, more, err := (&Online{Lead: text}).ReadLead()
		if err != nil || auto != want.auto || more != want.more {
			t.Errorf("%q: found %v, %v, %v, expected %+v", text, auto, more, err, want)
		}
	}
	for _, text := range []string{"0s", "-1ms", "11s", "auto+", "auto-1ms", "auto+auto", "12", "soon"} {
		if _, _, err := (&Online{Lead: text}).ReadLead(); err == nil || !strings.Contains(err.Error(), "online.lead: found") {
			t.Errorf("%q: found %v, expected what is wrong with online.lead", text, err)
		}
	}
}

// A configuration without a lead keeps the digest from before the option existed.
func TestDigestOfLead(t *testing.T) {
	digest := func(lead string) string {
		c := Default()
		c.Online.Lead = lead
		d, err := c.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if digest("12ms") == digest("") || digest("12ms") == digest("auto") {
		t.Error("the lead decides what triggers say, and is not in the digest")
	}
}
