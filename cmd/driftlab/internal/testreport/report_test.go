package main

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// events is the output of go test -json for two packages: one passes slowly, and one fails.
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

// reported reads events and returns the printed text and the verdict.
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

// TestBudgets: if budgets bind, a test beyond twice its budget fails, unless the machine was slower by this factor.
func TestBudgets(t *testing.T) {
	at := func(s int) string { return time.Unix(int64(s), 0).UTC().Format(time.RFC3339) }
	text := `{"Time":"` + at(100) + `","Action":"run","Package":"driftscope/online","Test":"TestLaw"}
{"Time":"` + at(138) + `","Action":"pass","Package":"driftscope/online","Test":"TestLaw","Elapsed":38}
{"Time":"` + at(139) + `","Action":"pass","Package":"driftscope/online","Elapsed":39}
`
	for _, c := range []struct {
		load   float64 // load per processor
		budget float64
		fails  bool
	}{{0, 0, true}, {0, 20, false}, {3, 0, true}, {4, 0, false}} {
		r := newReport(&bytes.Buffer{})
		r.crowd.load = func() float64 { return c.load * float64(runtime.NumCPU()) }
		if err := r.read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		known := recorded{binds: true, seconds: map[name]float64{}}
		if c.budget > 0 {
			known.seconds[name{"online", "TestLaw"}] = c.budget
		}
		r.sum(known, 1)
		if err := r.verdict(known); (err != nil) != c.fails || c.fails && !strings.Contains(err.Error(), "online TestLaw: 38.0 s of a budget of 10 s") {
			t.Errorf("load %g, budget %g: %v", c.load, c.budget, err)
		}
	}
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

// TestMergedCoverage: the merged coverage of several runs replaces the coverage of one.
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

// TestRecorded: the recorded file can be read again. Lower coverage fails, and a damaged file is refused.
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
	if _, err := reported(t, events, known); err == nil || !strings.Contains(err.Error(), "71.5 % covered, 75.0 % before") {
		t.Errorf("found %v", err)
	}
	if _, err := readRecorded(filepath.Join("..", "..", "..", "..", "go.mod")); err == nil || !strings.Contains(err.Error(), "go.mod:1:") {
		t.Errorf("found %v", err)
	}
}
