package bus

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

func openModels(t *testing.T, o Options) *Models {
	t.Helper()
	m, err := connect(t, o).Models()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestModels: Get returns the stored bytes of a name, Put replaces an earlier file, and Remove deletes it.
func TestModels(t *testing.T) {
	o := Options{URL: Embedded, Store: t.TempDir()}
	m, ctx := openModels(t, o), t.Context()
	if kept, err := m.List(ctx); err != nil || len(kept) != 0 {
		t.Errorf("an empty store lists %v, %v", kept, err)
	}
	for what, err := range map[string]error{
		"get": func() error { _, err := m.Get(ctx, "spot", 100); return err }(), "remove": m.Remove(ctx, "spot"),
	} {
		if !errors.Is(err, ErrNoModel) {
			t.Errorf("%s before anything was put: %v", what, err)
		}
	}
	large := make([]byte, 1<<20+7)
	rand.NewChaCha8([32]byte{}).Read(large)
	for _, put := range []struct {
		name string
		data []byte
	}{{"spot", []byte("old")}, {"bead", []byte("b")}, {"spot", large}} {
		if err := m.Put(ctx, put.name, "about "+put.name, put.data); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := m.Get(ctx, "spot", int64(len(large))); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d bytes came back of %d: %v", len(got), len(large), err)
	}
	if _, err := m.Get(ctx, "spot", int64(len(large)-1)); !errors.Is(err, ErrTorn) {
		t.Errorf("more than is read: %v", err)
	}
	kept, err := m.List(ctx)
	if err != nil || len(kept) != 2 || kept[0].Name != "bead" || kept[1].About != "about spot" || kept[1].Size != int64(len(large)) ||
		kept[0].SHA256 != "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d" { // sha256sum of b
		t.Errorf("found %+v, %v", kept, err)
	}
	if err := m.Remove(ctx, "spot"); err != nil {
		t.Error(err)
	}
	if _, err := m.Get(ctx, "spot", 100); !errors.Is(err, ErrNoModel) {
		t.Errorf("after it was removed: %v", err)
	}
	for _, name := range []string{"", "a.b", "a b", ">", strings.Repeat("n", 65)} {
		if err := m.Put(ctx, name, "", large); !errors.Is(err, ErrName) {
			t.Errorf("put as %q: %v", name, err)
		}
		if _, err := m.Get(ctx, name, 100); !errors.Is(err, ErrName) {
			t.Errorf("get %q: %v", name, err)
		}
	}
}

// TestModelsWithoutStore: without JetStream the error explains how to enable it.
func TestModelsWithoutStore(t *testing.T) {
	m := openModels(t, Options{URL: Embedded})
	_, listed := m.List(t.Context())
	_, got := m.Get(t.Context(), "spot", 100)
	for _, err := range []error{listed, got, m.Put(t.Context(), "spot", "", []byte("b")), m.Remove(t.Context(), "spot")} {
		if !errors.Is(err, ErrNoStore) || !strings.Contains(err.Error(), "nats.durable and nats.store") || strings.Contains(err.Error(), "\n") {
			t.Errorf("found %v", err)
		}
	}
	c := connect(t, Options{URL: Embedded, Store: t.TempDir()})
	m, err := c.Models()
	if err != nil {
		t.Fatal(err)
	}
	c.NATS().Close()
	if _, err := m.Get(t.Context(), "spot", 100); !errors.Is(err, ErrUnanswered) {
		t.Errorf("without a connection: %v", err)
	}
}

// TestBucket: every prefix and site has its own store, and every file system accepts the name of its stream.
func TestBucket(t *testing.T) {
	long := strings.Repeat("x", 64)
	seen := map[string]string{}
	for _, c := range [][2]string{{"", ""}, {"driftscope", "lab"}, {"a_b", "c"}, {"a", "b_c"}, {long, "a"}, {long, "b"}, {"a", long}} {
		m, err := connect(t, Options{URL: Embedded, Prefix: c[0], Site: c[1]}).Models()
		if err != nil {
			t.Fatal(err)
		}
		name := m.bucket
		if other, taken := seen[name]; taken || len("OBJ_"+name) > maxName || strings.Contains(name, ".") {
			t.Errorf("%v is kept in %s, which %s has, or is no name", c, name, other)
		}
		seen[name] = c[0] + "." + c[1]
	}
	if seen["driftscope_local_models"] == "" {
		t.Errorf("found %v", seen)
	}
}
