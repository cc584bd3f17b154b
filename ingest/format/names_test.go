package format

import (
	"reflect"
	"slices"
	"testing"
)

func TestNaturally(t *testing.T) {
	want := []string{"a", "a01", "a1", "a2", "a9b", "a10", "a10b2", "a10b11", "a123456789012345678901234567890", "b", "b0"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Naturally)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v expected", got, want)
	}
}
