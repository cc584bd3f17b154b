package paper

import (
	"encoding/json"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// A row reports displacements only if all its findings have them.
func TestPaperDisplacements(t *testing.T) {
	suite.Long(t)
	p := madeUp(t, &Options{Out: t.TempDir()}, "dna-0", 0.01, 0.5, 1.5)
	for i, e := range p {
		if row := newTable(p, nil).Rows[0]; row.displacements != (displacements{}) || strings.Contains(string(newTable(p, nil).markdown()), "phase correlation") {
			t.Errorf("with %d of 2 findings: found %+v, expected none", i, row.displacements)
		}
		ours, theirs := 0.001, 0.01+0.02*float64(i)
		e.found.Figures.DisplacementMSE, e.found.Figures.RegistrationMSE = &ours, &theirs
	}
	table := newTable(p, nil)
	if got, want := table.Rows[0].displacements, (displacements{0.001, 0.02}); got != want || table.Rows[0].Paper.displacements != (displacements{7.93e-2, 2.58}) {
		t.Errorf("found %+v, the paper's %+v", got, table.Rows[0].Paper.displacements)
	}
	want := "dna-0: mean squared error of the displacement between frames 0.001 ± 0, by phase correlation 0.02 ± 0.0141; in the paper 0.0793, by image registration 2.58."
	if got := string(table.markdown()); !strings.Contains(got, want) {
		t.Errorf("found\n%s\nexpected %q in it", got, want)
	}
	text, err := json.Marshal(table.Rows[0])
	if err != nil || !strings.Contains(string(text), `"displacement_mse":0.001,"registration_mse":0.02`) || !strings.Contains(string(text), `"displacement_mse":0.0793,"registration_mse":2.58`) {
		t.Errorf("%v: %s", err, text)
	}
}
