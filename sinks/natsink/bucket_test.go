package natsink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// newBucket opens the bucket of stream bead on the server at this address, as if in a separate process.
func newBucket(t *testing.T, at string) *Bucket {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	k, err := OpenBucket(b, BucketOptions{Stream: "bead", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// law returns n bytes that do not compress, like the numbers of a law.
func law(seed uint64, n int) []byte {
	state, r := make([]byte, n), rand.New(rand.NewPCG(seed, 0))
	for i := range state {
		state[i] = byte(r.Uint32())
	}
	return state
}

// holds checks the state that a new process finds.
func holds(t *testing.T, at, model string, want []byte) {
	t.Helper()
	kept, err := newBucket(t, at).State(model, AnyFrames)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(kept.Checkpoint); err != nil || !bytes.Equal(got, want) || !strings.HasPrefix(kept.Where, "bead.state in KV driftscope_local, revision ") {
		t.Errorf("%s: found %d bytes, %v, expected the %d that were kept", kept.Where, len(got), err, len(want))
	}
}

func TestBucket(t *testing.T) {
	t.Parallel()
	at := keeper(t).URL()
	k := newBucket(t, at)
	if _, err := k.State("model-a", AnyFrames); !errors.Is(err, ErrNotKept) {
		t.Errorf("nothing is kept: found %v", err)
	}
	if _, err := k.Configuration(); !errors.Is(err, ErrNotKept) {
		t.Errorf("nothing is kept: found %v", err)
	}
	for seed := range uint64(3) {
		if err := k.KeepState(law(seed, 200_000), "model-a", At{}); err != nil {
			t.Fatal(err)
		}
	}
	if kept := k.kept(); kept.Revision != 3 || kept.Failed != 0 || kept.Problem != "" {
		t.Errorf("found %+v", kept)
	}
	holds(t, at, "model-a", law(2, 200_000))
	if kept, err := newBucket(t, at).State("model-b", AnyFrames); err == nil || kept.Where == "" || !strings.Contains(err.Error(), "another model, SHA-256 model-a") {
		t.Errorf("of another model: found %s, %v", kept.Where, err)
	}
	for _, text := range []string{"stream: bead\n", "stream: bead\n", "stream: bead\nqueue: 3\n"} {
		k.KeepConfiguration([]byte(text))
		suite.Until(t, func() bool { return !k.waiting() })
		if got, err := k.Configuration(); err != nil || string(got) != text {
			t.Errorf("found %q, %v, expected %q", got, err, text)
		}
	}
	if h, err := k.kv.Values().History(t.Context(), "bead.config"); err != nil || len(h) != 2 {
		t.Errorf("%d revisions, %v, expected none for what is the same", len(h), err)
	}
}

// TestBucketDamaged: any value that is not a state is refused, and later overwritten.
func TestBucketDamaged(t *testing.T) {
	t.Parallel()
	at := keeper(t).URL()
	k := newBucket(t, at)
	whole, err := k.packed(law(1, 10_000), "model-a", At{})
	if err != nil {
		t.Fatal(err)
	}
	anonymous := bytes.Replace(whole, []byte("model-a "), []byte("model-a+"), 1)
	for name, value := range map[string][]byte{"empty": nil, "text": []byte("notes"), "anonymous": anonymous} {
		if _, err := k.kv.Values().Put(t.Context(), "bead.state", value); err != nil {
			t.Fatal(err)
		}
		if kept, err := k.State("model-a", AnyFrames); err == nil || kept.Where == "" || !strings.Contains(err.Error(), "it is no state") {
			t.Errorf("%s: found %s, %v", name, kept.Where, err)
		}
	}
	if _, err := k.kv.Values().Put(t.Context(), "bead.state", whole[:len(whole)/2]); err != nil {
		t.Fatal(err)
	}
	kept, err := k.State("model-a", AnyFrames)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(kept.Checkpoint); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("torn: found %v", err)
	}
	if err := newBucket(t, at).KeepState(law(2, 100), "model-a", At{}); err != nil {
		t.Error(err)
	}
	holds(t, at, "model-a", law(2, 100))
}

// TestBucketTooLarge: a state above the server's limit is refused, counted and reported. The stored state remains.
func TestBucketTooLarge(t *testing.T) {
	t.Parallel()
	at := bustest.Start(t, fmt.Sprintf("max_payload: 65536\njetstream {store_dir: %q}", t.TempDir())).URL()
	k := newBucket(t, at)
	if err := k.KeepState(law(1, 60_000), "model-a", At{}); err != nil {
		t.Fatal(err)
	}
	if err := k.KeepState(law(2, 62_000), "model-a", At{}); err == nil || !strings.Contains(err.Error(), "raise its max_payload") {
		t.Errorf("found %v", err)
	}
	if kept := k.kept(); kept.Failed != 1 || !strings.Contains(kept.Problem, "the server accepts 61440") {
		t.Errorf("found %+v", kept)
	}
	holds(t, at, "model-a", law(1, 60_000))
}

// TestTwoProcesses: if two processes run one stream, the process that did not write last gets an error. It never overwrites the other's state, until the key is
// deleted.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	at := keeper(t).URL()
	one, two := newBucket(t, at), newBucket(t, at)
	if err := one.KeepState(law(1, 1000), "model-a", At{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := two.KeepState(law(2, 1000), "model-a", At{}); !errors.Is(err, errOther) || !strings.Contains(err.Error(), "bead.state in KV driftscope_local: ") {
			t.Errorf("found %v", err)
		}
		if err := one.KeepState(law(1, 1000), "model-a", At{}); err != nil {
			t.Error(err)
		}
	}
	if kept := two.kept(); kept.Failed != 2 || !strings.Contains(kept.Problem, "another process keeps") {
		t.Errorf("found %+v", kept)
	}
	holds(t, at, "model-a", law(1, 1000))
	if err := one.kv.Values().Delete(t.Context(), "bead.state"); err != nil {
		t.Fatal(err)
	}
	if err := two.KeepState(law(2, 1000), "model-a", At{}); err != nil {
		t.Error(err)
	}
	if kept := two.kept(); kept.Problem != "" {
		t.Errorf("found %+v", kept)
	}
	if err := one.KeepState(law(1, 1000), "model-a", At{}); !errors.Is(err, errOther) {
		t.Errorf("found %v", err)
	}
}

// TestBucketAway: an unreachable server delays nothing, and receives only the newest state when it is back. A lost confirmation is not mistaken for the state
// of another process.
func TestBucketAway(t *testing.T) {
	t.Parallel()
	server := keeper(t)
	k := newBucket(t, server.URL())
	if err := k.KeepState(law(0, 1000), "model-a", At{}); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	suite.Until(t, func() bool { return !k.bus.Connected() })
	for seed := range uint64(4) {
		asked := time.Now()
		if err := k.KeepState(law(seed+1, 1000), "model-a", At{}); !errors.Is(err, ErrServerAway) && !errors.Is(err, errNewer) {
			t.Errorf("found %v", err)
		}
		if took := time.Since(asked); took > keepWait/2 {
			t.Errorf("took %v", took)
		}
	}
	server.Run()
	suite.Until(t, func() bool { return !k.waiting() }, "the newest state is not written")
	if kept := k.kept(); kept.Revision != 2 || kept.Failed != 4 || kept.Problem != "" {
		t.Errorf("found %+v, expected one more revision, and no problem left", kept)
	}
	holds(t, server.URL(), "model-a", law(4, 1000))

	k.known(1) // as if the second state had not been confirmed
	if err := k.KeepState(law(5, 1000), "model-a", At{}); err != nil {
		t.Error(err)
	}
	holds(t, server.URL(), "model-a", law(5, 1000))
}

// TestBucketRefused: a server without JetStream gives an error at once.
func TestBucketRefused(t *testing.T) {
	t.Parallel()
	b, err := bus.Connect(t.Context(), bus.Options{URL: bustest.Start(t, "").URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := OpenBucket(b, BucketOptions{Stream: "bead", Log: nil}); err == nil || !strings.Contains(err.Error(), "enable JetStream there") {
		t.Errorf("found %v", err)
	}
}

// TestBucketEmbedded: the embedded server also stores the state, and has it after a restart of the program.
func TestBucketEmbedded(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	for run := range uint64(2) {
		b, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Store: store})
		if err != nil {
			t.Fatal(err)
		}
		k, err := OpenBucket(b, BucketOptions{Stream: "bead", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if run == 1 {
			holds(t, b.URL(), "model-a", law(0, 5_000_000))
		}
		if err := k.KeepState(law(run, 5_000_000), "model-a", At{}); err != nil {
			t.Fatal(err)
		}
		k.Close()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBucketNames: two sites never share a bucket.
func TestBucketNames(t *testing.T) {
	for _, test := range []struct{ prefix, site, want string }{
		{"", "", "driftscope_local"},
		{"lab", "scope-3", "lab_scope-3"},
		{"lab_a", "b", "b-"},
		{"lab", "a_b", "a_b-"},
		{strings.Repeat("p", 60), strings.Repeat("s", 60), "sssssssssssssss-"},
	} {
		s, err := bus.NewSubject(test.prefix, test.site, "bead")
		if err != nil {
			t.Fatal(err)
		}
		name := s.Bucket()
		if !strings.HasPrefix(name, test.want) || strings.HasSuffix(test.want, "-") != (name != test.want) || len("KV_"+name) > 31 || strings.Contains(name, ".") {
			t.Errorf("%s, %s: found %s, expected %s", test.prefix, test.site, name, test.want)
		}
	}
}
