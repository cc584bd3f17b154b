package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// events are what go test -json prints of two packages: one passes, slowly, and one fails.
const events = `{"Action":"start","Package":"driftscope/online"}
{"Action":"run","Package":"driftscope/online","Test":"TestLaw"}
{"Action":"output","Package":"driftscope/online","Test":"TestLaw","Output":"quiet\n"}
{"Action":"pass","Package":"driftscope/online","Test":"TestLaw/part","Elapsed":17}
{"Action":"pass","Package":"driftscope/online","Test":"TestLaw","Elapsed":18}
{"Action":"output","Package":"driftscope/online","Output":"coverage: 71.5% of statements\n"}
{"Action":"pass","Package":"driftscope/online","Elapsed":19}
`

const failing = `{"Action":"output","Package":"driftscope/sinks","Test":"TestSpool","Output":"    spool_test.go:7: torn\n"}
{"Action":"fail","Package":"driftscope/sinks","Test":"TestSpool","Elapsed":1}
{"Action":"fail","Package":"driftscope/sinks","Elapsed":2}
`

// reported reads events, and gives what is printed and the verdict.
func reported(t *testing.T, text string, known recorded) (string, error) {
	t.Helper()
	var out bytes.Buffer
	r := newReport(&out)
	if err := r.read(strings.NewReader(text)); err != nil {
		return out.String(), err
	}
	r.sum(known, 1)
	return out.String(), r.verdict(known)
}

func TestReport(t *testing.T) {
	out, err := reported(t, events, recorded{})
	if err != nil || strings.Contains(out, "quiet") || strings.Contains(out, "part") || !strings.Contains(out, "18.0 of   10  online TestLaw\n") || !strings.Contains(out, "71.5 % covered") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = reported(t, events+failing, recorded{})
	if err == nil || !strings.Contains(err.Error(), "sinks TestSpool") || !strings.Contains(out, "spool_test.go:7: torn") || !strings.Contains(out, "FAIL  sinks") {
		t.Errorf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{"nothing": "", "words": "no Go files\n"} {
		if _, err := reported(t, text, recorded{}); err == nil {
			t.Errorf("%s: expected an error", name)
		}
	}
	if _, err := reported(t, `{"ImportPath":"driftscope/online","Action":"build-fail"}`+"\n"+events, recorded{}); err == nil || !strings.Contains(err.Error(), "does not build") {
		t.Errorf("found %v", err)
	}
}

// What several runs cover together counts in place of what one does.
func TestMergedCoverage(t *testing.T) {
	known := recorded{cover: map[string]float64{"online": 90, "sinks/file": 80}}
	if _, err := reported(t, events, known); err == nil || !strings.Contains(err.Error(), "online: 71.5 % covered") {
		t.Errorf("found %v", err)
	}
	together := "\tdriftscope/online\t\tcoverage: 89.1% of statements\n\tdriftscope/sinks/file\t\tcoverage: 77.9% of statements\n"
	if out, err := reported(t, events+together, known); err == nil || strings.Contains(err.Error(), "online") || !strings.Contains(err.Error(), "sinks/file: 77.9 %") || strings.Contains(out, "89.1") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What is recorded is read again; less coverage fails, and a torn file is refused.
func TestRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recorded.txt")
	r := newReport(&bytes.Buffer{})
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	if err := r.record(path); err != nil {
		t.Fatal(err)
	}
	known, err := readRecorded(path)
	if err != nil || known.budget(name{"online", "TestLaw"}) != 40 || known.budget(name{"online", "TestOther"}) != usual || known.cover["online"] != 71.5 {
		t.Errorf("found %+v, %v", known, err)
	}
	known.cover["online"] = 75
	if _, err := reported(t, events, known); err == nil || !strings.Contains(err.Error(), "71.5 % covered, 75.0 % were") {
		t.Errorf("found %v", err)
	}
	if _, err := readRecorded(filepath.Join("..", "..", "go.mod")); err == nil || !strings.Contains(err.Error(), "go.mod:1:") {
		t.Errorf("found %v", err)
	}
}
