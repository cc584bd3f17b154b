package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestSecrets: WithoutSecrets refuses secrets, and Resolve inserts a secret for each reference.
func TestSecrets(t *testing.T) {
	for source, plain := range map[string]bool{
		`{gst: {pipeline: "rtspsrc location=rtsp://host/a ! decodebin"}}`:                                          false,
		`{gst: {pipeline: "rtspsrc location=rtsp://me:hunter2@host/a ! decodebin"}}`:                               true,
		`{gst: {pipeline: "rtspsrc location=rtsp://${secret:user}:${secret:camera-1}@host/a ! decodebin"}}`:        false,
		`{gst: {pipeline: "rtspsrc location=rtsp://me:${secret:camera-1}@host/a ! decodebin"}}`:                    false,
		`{gst: {pipeline: "rtspsrc location=rtsp://me:${secret:camera-1}x@host/a ! decodebin"}}`:                   true,
		`{gst: {pipeline: "souphttpsrc location=http://host user-pw=hunter2 ! decodebin"}}`:                        true,
		`{gst: {pipeline: "souphttpsrc location=http://host user-pw=${secret:camera-1} ! decodebin", width: 640}}`: false,
	} {
		c, err := Parse("a.yaml", []byte("source: "+source+"\n"))
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if err := c.WithoutSecrets(); errors.Is(err, ErrSecret) != plain {
			t.Errorf("%s: %v", source, err)
		}
		resolved, err := c.Resolve(func(name string) (string, error) { return "<" + name + ">", nil })
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(resolved.Source.Options())
		if strings.Contains(text, "${secret:") || strings.Contains(source, "${secret:camera-1}") != strings.Contains(text, "<camera-1>") {
			t.Errorf("%s: resolved to %s", source, text)
		}
	}
	c, err := Parse("a.yaml", []byte("source: {sim: {name: \"${secret:none}\"}}\nnats: {token: hunter2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WithoutSecrets(); !errors.Is(err, ErrSecret) {
		t.Errorf("found %v of a token", err)
	}
	missing := errors.New("no such secret")
	if _, err := c.Resolve(func(string) (string, error) { return "", missing }); !errors.Is(err, missing) || !strings.HasPrefix(err.Error(), "source: name: ") {
		t.Errorf("found %v", err)
	}
}
