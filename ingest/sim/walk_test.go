package sim

import (
	"slices"
	"testing"
)

// A walk returns the same truth as the scene with pictures.
func TestWalkIsTheScenesPath(t *testing.T) {
	const name = "digits-circle" // restarts every 100 frames
	scene, err := New(name, Options{Frames: 120, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	walk, err := NewWalk(name, 3)
	if err != nil {
		t.Fatal(err)
	}
	dst := new(Picture)
	for range 120 {
		want, err := scene.Next(dst)
		if err != nil {
			t.Fatal(err)
		}
		got := walk.Next()
		if got.T != want.T || got.Trajectory != want.Trajectory || !slices.Equal(got.Z, want.Z) || !slices.Equal(got.Mu, want.Mu) {
			t.Fatalf("%+v, expected %+v", got, want)
		}
	}
	if _, err := NewWalk("nonsense", 1); err == nil {
		t.Error("an unknown scene was walked")
	}
}
