package stream

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/natsink"
)

// refusedWith reports whether an error is a refusal with a code and a text.
func refusedWith(err error, code int, text string) bool {
	var refusal *latent.Refusal
	return errors.As(err, &refusal) && refusal.Code == code && strings.Contains(refusal.Text, text)
}

// onBus returns an assembled stream and its first frame. Its server stores the shipped model under the name spot.
func onBus(t *testing.T, text string) (*Stream, *frame.Frame) {
	t.Helper()
	cfg := configured(t, text+"sinks: []\n")
	cfg.NATS = config.Default().NATS
	cfg.NATS.URL, cfg.NATS.Port, cfg.NATS.Durable, cfg.NATS.Store = config.NATSEmbedded, 0, true, t.TempDir()
	b, err := Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	models, err := b.Models()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../../configs/molecule.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Put(t.Context(), "spot", "", data); err != nil {
		t.Fatal(err)
	}
	s, err := assemble(t.Context(), cfg, nil, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	s.tracking.bus = b
	if err := s.Stages.Source.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Stages.Source.Close()
	like, err := s.Stages.Source.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { like.Close() })
	return s, like
}

// renamed makes the running model appear as another one, because the server stores only one model.
func (t *tracking) renamed() {
	net := *t.now.model.Net
	net.Digest = strings.Repeat("0", 64)
	t.now.model, t.now.about.name, t.now.about.digest = &Model{Net: &net, name: "other"}, "other", net.Digest
	t.first = net.Digest
}

const ofMolecule = "source: {sim: {name: molecule, frames: 5, realtime: false}}\nmodel: embedded:molecule\n"

// TestSwapRefused: every refused command has a code for the cause, and changes nothing.
func TestSwapRefused(t *testing.T) {
	s, like := onBus(t, ofMolecule)
	track := s.tracking
	digest := track.now.about.digest
	for _, c := range []struct {
		payload string
		like    *frame.Frame
		other   bool // the running model differs from the one on the server
		code    int
		want    string
	}{
		{`{`, like, false, latent.Malformed, "model: found"},
		{`{}`, like, false, latent.Malformed, "model: found"},
		{`{"name": "spot", "back": true}`, like, false, latent.Malformed, "model: found"},
		{`{"name": "spot", "sha256": "12"}`, like, false, latent.Malformed, "model: found"},
		{`{"name": "a/b"}`, like, false, latent.Malformed, "a/b"},
		{`{"name": "missing"}`, like, false, latent.Unknown, "missing"},
		{`{"back": true}`, like, false, latent.Conflict, "there is no earlier model"},
		{`{"name": "spot"}`, like, false, latent.Conflict, "already tracks"},
		{`{"name": "spot", "sha256": "` + strings.Repeat("1", 64) + `"}`, like, false, latent.Conflict, "expected 1111"},
		{`{"name": "spot"}`, nil, true, latent.NotNow, "cannot be tried before"},
	} {
		if c.other {
			track.renamed()
		}
		if _, err := track.swap(t.Context(), []byte(c.payload), c.like); !refusedWith(err, c.code, c.want) {
			t.Errorf("%s: found %v, expected code %d and %q", c.payload, err, c.code, c.want)
		}
	}
	if about := track.about(natsink.About{}); track.changed || about.Model != "other" || about.Latents != 2 {
		t.Errorf("%+v tracks: %v", about, track.changed)
	}
	if digest == track.first {
		t.Error("the model was not renamed")
	}
}

// TestSwap: another model starts with its own law, stored next to the first model's. The command back restores the previous law. An unused replacement is
// closed and changes nothing.
func TestSwap(t *testing.T) {
	state := t.TempDir() + "/state"
	s, like := onBus(t, ofMolecule+fmt.Sprintf("online: {state: %q}\n", state))
	track := s.tracking
	track.renamed()
	first := track.now.law
	change := func(payload string, used bool) {
		t.Helper()
		r, err := track.swap(t.Context(), []byte(payload), like)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Encoders) == 0 || r.Encoders[0].Dim() != 2 || r.Viewer == nil || r.Keep == nil || !strings.Contains(r.Model, ", SHA-256 ") {
			t.Errorf("%s: %d encoders, model %s", payload, len(r.Encoders), r.Model)
		}
		closeSteps(r.Steps)
		closeEncoders(r.Encoders)
		r.Viewer.Close()
		r.Done(used)
	}
	change(`{"name": "spot"}`, false)
	if track.changed || track.now.law != first {
		t.Error("a model that was not used tracks")
	}
	change(`{"name": "spot"}`, true)
	if about := track.about(natsink.About{}); about.Model != "nats:spot" || track.now.law == first || track.before.law != first {
		t.Errorf("%+v tracks", about)
	}
	if at := track.state(track.now); at != state+"."+track.now.about.digest[:12] || track.state(track.before) != state {
		t.Errorf("the law is kept in %s, the one before in %s", at, track.state(track.before))
	}
	change(`{"back": true}`, true)
	if track.now.law != first || track.before.law == first {
		t.Error("the law that was left does not come back")
	}
	track.close()
	if (*tracking)(nil).close(); track.now.law != first {
		t.Error("closing changes what tracks")
	}
}

// TestSwapField: a field refuses a scene's model, and keeps its objects when it returns to no model.
func TestSwapField(t *testing.T) {
	s, like := onBus(t, "source: {sim: {name: vesicle, frames: 5, realtime: false, density: 5, width: 64, height: 64}}\nobjects: {enabled: true}\n")
	track := s.tracking
	if _, err := track.swap(t.Context(), []byte(`{"name": "spot"}`), like); !refusedWith(err, latent.Conflict, "is for a whole scene") {
		t.Errorf("found %v", err)
	}
	if err := track.try(t.Context(), track.now, like); err != nil {
		t.Error(err)
	}
	law := track.now.law
	if again, err := track.another(track.now); err != nil || again != law {
		t.Errorf("another law of the same objects: %v", err)
	}
	track.before, track.changed = track.now, true
	r, err := track.swap(t.Context(), []byte(`{"back": true}`), like)
	if err != nil {
		t.Fatal(err)
	}
	if r.Model != "none" || r.Estimator != law || r.Encoders[0].Dim() != 0 {
		t.Errorf("%s with %d latents", r.Model, r.Encoders[0].Dim())
	}
	closeSteps(r.Steps)
	closeEncoders(r.Encoders)
	r.Viewer.Close()
	r.Done(true)
	track.close()
	if about := track.about(natsink.About{}); about.Model != fieldName || about.Latents != 2 {
		t.Errorf("%+v tracks", about)
	}
	if err := law.Follow(3); !refusedWith(err, latent.Unknown, "no object has the number 3") {
		t.Errorf("found %v", err)
	}
}

// TestSceneHasNoObjects: a scene refuses commands about objects, and publishes no records about objects.
func TestSceneHasNoObjects(t *testing.T) {
	law := sceneLaw{}
	for id, name := range []string{"unfollow", "follow"} {
		if err := law.Follow(uint64(id)); !refusedWith(err, latent.Conflict, name+": this stream follows one scene") {
			t.Errorf("found %v", err)
		}
	}
	if law.Reports() != nil || law.Last() != nil {
		t.Error("a scene reports of objects")
	}
}
