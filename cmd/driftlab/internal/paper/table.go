package paper

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"driftscope/internal/kit/console"
)

//go:embed paper.html
var paperPage string

// table is the paper's table of results from this machine.
type table struct {
	Rows    []tableRow `json:"rows"`
	Studies *studies   `json:"studies,omitempty"`
	Failed  []string   `json:"failed,omitempty"`
	Origin  origin     `json:"origin"`
	Since   time.Time  `json:"since"` // time of the first run
}

// tableRow has a row's means over runs, with the paper's figures.
type tableRow struct {
	Row     string `json:"row"`
	Runs    int    `json:"runs"`
	Recipes []int  `json:"recipes"` // recipes of the runs, without repetition
	figures
	SD       figures     `json:"sd"`
	Paper    quoted      `json:"paper"`
	Oracle   oracle      `json:"oracle"`
	GP       process     `json:"gp"`
	Allowed  *allowed    `json:"one_frame,omitempty"` // nil if the row's pictures are missing
	Clean    string      `json:"clean,omitempty"`     // name of the row without noise
	Pictures string      `json:"pictures,omitempty"`
	Apart    string      `json:"not_comparable,omitempty"`
	Misses   []shortfall `json:"misses"`
}

// figures are the figures of one run, or their mean or standard deviation over runs.
type figures struct {
	LLatent      float64 `json:"l_latent"`
	LLatentCoord float64 `json:"l_latent_coord"`
	LMu          float64 `json:"l_mu"`
	LMuCoord     float64 `json:"l_mu_coord"`
	LMuSeen      float64 `json:"l_mu_seen"`
	CRLB         float64 `json:"crlb"`
	ReconMSE     float64 `json:"recon_mse"`

	SmoothedCoord float64 `json:"l_smoothed_coord,omitempty"` // 0 except in rows with noise

	displacements
}

// displacements are the mean squared errors of the displacement between frames, from our latents and from registration. They are 0 in rows that are not
// compared with registration.
type displacements struct {
	DisplacementMSE float64 `json:"displacement_mse,omitempty"`
	RegistrationMSE float64 `json:"registration_mse,omitempty"`
}

// oracle is the error of our drift estimator on the true latents.
type oracle struct {
	drifting
	SD drifting `json:"sd"`
}

// process is the drift error of a Gaussian process on the true latents, and the p-value of the difference from our error over runs.
type process struct {
	oracle
	P *float64 `json:"p"`
}

// quoted has the paper's figures. The paper's code averages both losses over coordinates.
type quoted struct {
	LLatent  float64  `json:"l_latent"`
	LMu      float64  `json:"l_mu"`
	CRLB     *float64 `json:"crlb"`
	ReconMSE float64  `json:"recon_mse"`
	displacements
	SD struct {
		LLatent  float64 `json:"l_latent"`
		LMu      float64 `json:"l_mu"`
		ReconMSE float64 `json:"recon_mse"`
	} `json:"sd"`
	GP *quotedProcess `json:"gp"`
}

// quotedProcess has the paper's figures for the Gaussian process, and the p-value that follows from them.
type quotedProcess struct {
	LMu float64 `json:"l_mu"`
	SD  float64 `json:"sd"`
	P   float64 `json:"p"`
}

// shortfall is a figure above the paper's mean.
type shortfall struct {
	Figure string  `json:"figure"` // JSON name of the figure
	Times  float64 `json:"times"`  // ratio to the paper's mean
}

// newTable averages over each row's runs. It omits rows without runs.
func newTable(p plan, failed []string) *table {
	t := &table{Rows: []tableRow{}, Failed: failed, Origin: thisOrigin()}
	t.Since = t.Origin.Date
	for len(p) > 0 {
		row, n := p[0].row, 0
		var found []*finding
		for n < len(p) && p[n].Row == row.scene {
			if p[n].whole() {
				found = append(found, p[n].found)
				if made := p[n].found.Origin.Date; made.Before(t.Since) {
					t.Since = made
				}
			}
			n++
		}
		if len(found) > 0 {
			t.Rows = append(t.Rows, newTableRow(row, found))
		}
		p = p[n:]
	}
	return t
}

func newTableRow(row paperRow, found []*finding) tableRow {
	r := tableRow{Row: row.scene, Clean: row.clean, Runs: len(found), Apart: row.apart, Pictures: found[0].Settings.Pictures}
	quantities := []quantity{
		{func(f *finding) float64 { return f.Figures.LLatent }, &r.LLatent, &r.SD.LLatent},
		{func(f *finding) float64 { return f.Figures.LLatentCoord }, &r.LLatentCoord, &r.SD.LLatentCoord},
		{func(f *finding) float64 { return *f.Figures.LMu }, &r.LMu, &r.SD.LMu},
		{func(f *finding) float64 { return *f.Figures.LMuCoord }, &r.LMuCoord, &r.SD.LMuCoord},
		{func(f *finding) float64 { return *f.Figures.LMuSeen }, &r.LMuSeen, &r.SD.LMuSeen},
		{func(f *finding) float64 { return f.Figures.CRLB }, &r.CRLB, &r.SD.CRLB},
		{func(f *finding) float64 { return *f.Figures.ReconMSE }, &r.ReconMSE, &r.SD.ReconMSE},
		{func(f *finding) float64 { return f.Oracle.LMu }, &r.Oracle.LMu, &r.Oracle.SD.LMu},
		{func(f *finding) float64 { return f.Oracle.LMuCoord }, &r.Oracle.LMuCoord, &r.Oracle.SD.LMuCoord},
		{func(f *finding) float64 { return f.GP.LMu }, &r.GP.LMu, &r.GP.SD.LMu},
		{func(f *finding) float64 { return f.GP.LMuCoord }, &r.GP.LMuCoord, &r.GP.SD.LMuCoord},
	}
	if !slices.ContainsFunc(found, func(f *finding) bool { return f.Figures.RegistrationMSE == nil }) {
		quantities = append(quantities,
			quantity{func(f *finding) float64 { return *f.Figures.DisplacementMSE }, &r.DisplacementMSE, &r.SD.DisplacementMSE},
			quantity{func(f *finding) float64 { return *f.Figures.RegistrationMSE }, &r.RegistrationMSE, &r.SD.RegistrationMSE})
	}
	if row.clean != "" {
		quantities = append(quantities, quantity{func(f *finding) float64 { return *f.Figures.SmoothedCoord }, &r.SmoothedCoord, &r.SD.SmoothedCoord})
	}
	for _, q := range quantities {
		q.summarise(found)
	}
	for _, f := range found {
		r.Recipes = append(r.Recipes, f.Settings.Recipe)
	}
	r.Recipes = distinct(r.Recipes)
	if p := tTest(spread{r.LMu, r.SD.LMu}, spread{r.GP.LMu, r.GP.SD.LMu}, r.Runs); !math.IsNaN(p) {
		r.GP.P = &p
	}
	r.Paper = row.paper.quote()
	r.Paper.displacements = row.moved
	r.Misses = r.shortfalls()
	r.Allowed = newAllowed(&row, found)
	return r
}

// distinct sorts the recipes and removes repetitions.
func distinct(recipes []int) []int {
	slices.Sort(recipes)
	return slices.Compact(recipes)
}

// recipesText formats recipes for a cell.
func recipesText(recipes []int) string { return strings.Trim(fmt.Sprint(recipes), "[]") }

// quantity is a figure of every run, with the destinations of its mean and standard deviation.
type quantity struct {
	of       func(f *finding) float64
	mean, sd *float64
}

func (q quantity) summarise(found []*finding) {
	var values []float64
	for _, f := range found {
		values = append(values, q.of(f))
	}
	*q.mean = stat.Mean(values, nil)
	if len(values) > 1 {
		*q.sd = stat.StdDev(values, nil)
	}
}

func (p published) quote() quoted {
	q := quoted{LLatent: p.latent.mean, LMu: p.mu.mean, ReconMSE: p.recon.mean}
	q.SD.LLatent, q.SD.LMu, q.SD.ReconMSE = p.latent.sd, p.mu.sd, p.recon.sd
	if p.crlb > 0 {
		q.CRLB = &p.crlb
	}
	if p.gp.mean > 0 {
		q.GP = &quotedProcess{p.gp.mean, p.gp.sd, tTest(p.mu, p.gp, paperRuns)}
	}
	return q
}

// paperRuns is the number of runs behind the paper's means.
const paperRuns = 5

// shortfalls lists the losses above the paper's losses. For the drift it also checks the sum over coordinates, as in the paper's formula.
func (r *tableRow) shortfalls() []shortfall {
	missed := []shortfall{}
	if r.Apart != "" {
		return missed
	}
	for _, of := range []struct {
		figure      string
		here, paper float64
	}{{"l_latent_coord", r.LLatentCoord, r.Paper.LLatent}, {"l_mu_coord", r.LMuCoord, r.Paper.LMu}, {"l_mu", r.LMu, r.Paper.LMu}} {
		if !(of.here <= of.paper) {
			missed = append(missed, shortfall{of.figure, of.here / of.paper})
		}
	}
	return missed
}

// tableHead has the headings of the table's columns.
var tableHead = []string{"row", "runs", "recipe", "L_latent a coordinate", "L_latent", "paper", "one frame allows", "times that", "its unit leaves", "times both", "L_mu a coordinate", "L_mu", "at the latents", "oracle's L_mu", "CRLB", "paper", "paper's CRLB",
	"GP's L_mu", "p", "paper's GP", "paper's p", "reconstruction", "paper"}

// cells returns the row's cells, under tableHead.
func (r *tableRow) cells() []string {
	bound, p, process, paperP := "–", "–", "–", "–"
	if r.Paper.CRLB != nil {
		bound = short(*r.Paper.CRLB)
	}
	if r.GP.P != nil {
		p = short(*r.GP.P)
	}
	if g := r.Paper.GP; g != nil {
		process, paperP = spreadText(g.LMu, g.SD), short(g.P)
	}
	return slices.Concat([]string{r.Row, fmt.Sprint(r.Runs), recipesText(r.Recipes),
		r.plusMinus(r.LLatentCoord, r.SD.LLatentCoord) + r.mark("l_latent_coord"), r.plusMinus(r.LLatent, r.SD.LLatent), spreadText(r.Paper.LLatent, r.Paper.SD.LLatent)},
		r.allowedCells(), []string{
			r.plusMinus(r.LMuCoord, r.SD.LMuCoord) + r.mark("l_mu_coord"), r.plusMinus(r.LMu, r.SD.LMu) + r.mark("l_mu"), r.plusMinus(r.LMuSeen, r.SD.LMuSeen), r.plusMinus(r.Oracle.LMu, r.Oracle.SD.LMu), short(r.CRLB),
			spreadText(r.Paper.LMu, r.Paper.SD.LMu), bound,
			r.plusMinus(r.GP.LMu, r.GP.SD.LMu), p, process, paperP,
			r.plusMinus(r.ReconMSE, r.SD.ReconMSE), spreadText(r.Paper.ReconMSE, r.Paper.SD.ReconMSE)})
}

// plusMinus formats a mean and its standard deviation, which it omits for a single run.
func (r *tableRow) plusMinus(mean, sd float64) string {
	if r.Runs == 1 {
		return short(mean)
	}
	return spreadText(mean, sd)
}

func spreadText(mean, sd float64) string { return short(mean) + " ± " + short(sd) }

func short(v float64) string {
	if v != 0 && math.Abs(v) < 1e-4 {
		return fmt.Sprintf("%.1e", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// mark returns the mark after a figure that is above the paper's mean.
func (r *tableRow) mark(figure string) string {
	for _, s := range r.Misses {
		if s.Figure == figure {
			return fmt.Sprintf(" ▲ %.3g×", s.Times)
		}
	}
	return ""
}

// notes returns the notes that explain the table, one or two sentences each.
func (t *table) notes() []string {
	notes := []string{
		fmt.Sprintf("`%s`, %d cores, %s.", t.Origin.Command, t.Origin.Cores, t.Origin.Date.Format(time.DateOnly)),
		"Means ± standard deviations over runs, the first made on " + t.Since.Format(time.DateOnly) + ". An isometry aligns the latents with the truth; nothing is rescaled. DNA rows have an affine map per film, " +
			"fitted on some frames and judged on others. The paper's losses are what its code computed: means over coordinates, with latents rescaled to the truth's range.",
		"L_mu: squared difference of the drifts at the true positions, the paper's formula. At the latents: the learnt drift at each latent against the true drift at the true position, as a sum; errors of the latents count here too.",
		"Oracle: the same drift estimator on the true latents. CRLB: for a constant drift. Reconstructions of noisy rows are compared with the pictures without noise.",
		"GP: a Gaussian process on the true latents (squared exponential, one length scale and variance per coordinate, by marginal likelihood), as a sum; the paper does not say whether its GP is a sum or a mean. " +
			"p: two-sided t-test of Student with pooled variance, L_mu against the GP's over runs, as in the paper.",
		fmt.Sprintf("One frame allows: the Cramér-Rao bound per coordinate from one frame, given renderer and noise (of DNA also the distribution of shapes), averaged over %d frames of each film. "+
			"*Times that* is L_latent per coordinate, divided by this bound, from the best film to the worst. Without noise the bound is the rounding to 8 bits, and the ratio means nothing. "+
			"Estimates from several frames, or with a prior, may fall below the bound. L_latent of DNA rows also contains the error of the map.", boundFrames),
		"*Its unit leaves* is L_latent per coordinate of the true latents, given in the unit of their own increments as a model gives its latents; an affine map has no unit. *Times both* is L_latent per coordinate, divided by the sum of this and the bound of one frame.",
		"▲: above the paper's mean, with the ratio; for L_mu as a mean over coordinates and as the sum.",
	}
	if slices.ContainsFunc(t.Rows, func(r tableRow) bool { return !slices.Equal(r.Recipes, t.Rows[0].Recipes) || len(r.Recipes) > 1 }) {
		notes = append(notes, "**Recipes differ.** A recipe is the number of the decision that last changed training. No run was repeated with a later one.")
	}
	if len(t.Rows) == 0 {
		notes = notes[:1]
	}
	notes = t.shared(t.shared(notes, func(r *tableRow) string { return r.Pictures }), func(r *tableRow) string {
		if r.Apart == "" {
			return ""
		}
		return "not comparable, " + r.Apart
	})
	for _, r := range t.Rows {
		if r.Clean != "" {
			notes = append(notes, t.noisy(&r))
		}
		notes = append(notes, r.allowedNotes()...)
		if r.RegistrationMSE > 0 {
			notes = append(notes, fmt.Sprintf("%s: mean squared error of the displacement between frames %s, by phase correlation %s; in the paper %s, by image registration %s.",
				r.Row, r.plusMinus(r.DisplacementMSE, r.SD.DisplacementMSE), r.plusMinus(r.RegistrationMSE, r.SD.RegistrationMSE), short(r.Paper.DisplacementMSE), short(r.Paper.RegistrationMSE)))
		}
	}
	for _, f := range t.Failed {
		notes = append(notes, "Failed: "+f+".")
	}
	return notes
}

// shared adds one note for each different result of text, with the names of the rows that have it.
func (t *table) shared(notes []string, text func(r *tableRow) string) []string {
	rows := map[string][]string{}
	var texts []string
	for i := range t.Rows {
		if of := text(&t.Rows[i]); of != "" {
			if rows[of] == nil {
				texts = append(texts, of)
			}
			rows[of] = append(rows[of], t.Rows[i].Row)
		}
	}
	for _, of := range texts {
		notes = append(notes, fmt.Sprintf("%s: %s.", strings.Join(rows[of], ", "), of))
	}
	return notes
}

// noisy returns a note on the cost of the noise: the error after smoothing over all frames of the film, and the ratios to the errors without noise.
func (t *table) noisy(r *tableRow) string {
	note := fmt.Sprintf("%s: L_latent a coordinate is %s if the whole film is smoothed by its law", r.Row, r.plusMinus(r.SmoothedCoord, r.SD.SmoothedCoord))
	if i := slices.IndexFunc(t.Rows, func(other tableRow) bool { return other.Row == r.Clean }); i >= 0 {
		clean := &t.Rows[i]
		note += fmt.Sprintf("; without noise (%s), frame by frame, L_latent is %s and L_mu %s as large", clean.Row, times(clean.LLatentCoord, r.LLatentCoord), times(clean.LMuCoord, r.LMuCoord))
	}
	return note + "."
}

// times formats a as a multiple of b.
func times(a, b float64) string { return fmt.Sprintf("%.2g×", a/b) }

func (t *table) markdown() []byte {
	var b bytes.Buffer
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	if len(t.Rows) > 0 {
		line(tableHead)
		fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(tableHead)))
	}
	for i := range t.Rows {
		line(t.Rows[i].cells())
	}
	for _, n := range t.notes() {
		fmt.Fprintf(&b, "\n%s\n", n)
	}
	for _, s := range t.Studies.sections() {
		b.WriteString(s.markdown())
	}
	return b.Bytes()
}

// shownRow is a row with its existing pictures.
type shownRow struct {
	Name     string
	Cells    []string
	Missed   bool
	Pictures []string
}

// page returns the table with each row's pictures from the folder.
func (t *table) page(folder string) ([]byte, error) {
	var rows []shownRow
	for i := range t.Rows {
		r := &t.Rows[i]
		shown := shownRow{Name: r.Row, Cells: r.cells(), Missed: len(r.Misses) > 0}
		for _, ending := range []string{framesPicture, pathPicture, driftPicture} {
			if _, err := os.Stat(filepath.Join(folder, r.Row+ending)); err == nil {
				shown.Pictures = append(shown.Pictures, r.Row+ending)
			}
		}
		rows = append(rows, shown)
	}
	var b bytes.Buffer
	err := template.Must(template.New("paper").Parse(paperPage)).Execute(&b, struct {
		Head    []string
		Rows    []shownRow
		Notes   []string
		Studies []section
	}{tableHead, rows, t.notes(), t.Studies.sections()})
	return b.Bytes(), err
}

// write writes table.md and table.html into the folder, and the studies' pictures.
func (t *table) write(folder string) error {
	if err := t.Studies.draw(folder); err != nil {
		return err
	}
	page, err := t.page(folder)
	if err != nil {
		return err
	}
	if err := console.WriteFile(filepath.Join(folder, "table.md"), t.markdown()); err != nil {
		return err
	}
	return console.WriteFile(filepath.Join(folder, "table.html"), page)
}
