package evaluation

import (
	"strings"
	"testing"
)

func TestParseTruth(t *testing.T) {
	got, err := ParseTruth(strings.NewReader("t,z1,z2,mu1,mu2\n0,1,2,3,4\n0.1,5,6,7,8\n"))
	if err != nil || got.Z.At(1, 1) != 6 || got.Mu.At(0, 0) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err = ParseTruth(strings.NewReader("z1\n1\n")); err != nil || got.Mu != nil {
		t.Errorf("without drift: %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                     "no header",
		"t,x\n0,1\n":           "0 z columns",
		"t,z1,z2,mu1\n":        "1 mu columns",
		"t,z1\n":               "no rows",
		"t,z1\n0,one\n":        `line 2: found "one"`,
		"t,z1\n0,1\n0.1,2,3\n": "wrong number of fields",
	} {
		if _, err := ParseTruth(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, an error with %q expected", text, err, want)
		}
	}
}

func FuzzParseTruth(f *testing.F) {
	f.Add("t,z1,mu1\n0,1,2\n")
	f.Add("z2,z1\n\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTruth(strings.NewReader(text))
		if err == nil && got.Mu != nil && got.Mu.RawMatrix().Cols != got.Z.RawMatrix().Cols {
			t.Error("as many drifts as coordinates expected")
		}
	})
}
