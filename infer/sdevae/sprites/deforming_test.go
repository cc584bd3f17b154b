package sprites

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// find is the rigid sprite of a clip, with its training and held-out frames.
func find(t *testing.T, c *video.Clip) (m *Set, train, held []int) {
	t.Helper()
	some, others := video.Split(c.Pairs(c.MaxGap()))
	train, held = video.FramesOf(some), video.FramesOf(others)
	return Find(t.Context(), c, train, 1, rand.New(rand.NewPCG(3, 4))), train, held
}

// TestDeform: a bead that stays within a pixel of its place, and swells, is found to 0.035 px, a twentieth of its motion, though the median picture
// holds it; without its changes it is missed by twice as much. One mode is its swelling, to R² 0.9: the mode is its first order.
func TestDeform(t *testing.T) {
	suite.Calculation(t)
	clip, truth, swelling := sdevaetest.Trapped(100, 5)
	m, train, held := find(t, clip)
	rigid, _ := m.Track(clip, clip.Frames())
	d := m.Deform(t.Context(), clip, train, held)
	if d == nil || d.Modes() == 0 {
		t.Fatalf("%+v: a bead that swells is taken for a rigid one", d)
	}
	places, scores := d.Track(clip, clip.Frames())
	found, missed := sdevaetest.AffineError(t, places, truth), sdevaetest.AffineError(t, rigid, truth)
	for i := range found {
		if !(found[i] < 0.035 && missed[i] > 2*found[i]) {
			t.Errorf("coordinate %d is off by %.3f px, and by %.3f without its changes", i, found[i], missed[i])
		}
	}
	var first []float64
	for k := 0; k < len(scores); k += d.Modes() {
		first = append(first, scores[k])
	}
	if r := stat.Correlation(first, swelling, nil); r*r < 0.9 {
		t.Errorf("R² of the swelling by the first mode is %.2f", r*r)
	}
}

// TestDeformDraws: what is drawn at the tracked places and scores leaves what Left says, to a twentieth: modes end where the sprite's reach does, and no
// shift between pixels keeps an edge. At another place the centroid has moved by as much.
func TestDeformDraws(t *testing.T) {
	suite.Long(t)
	clip, _, _ := sdevaetest.Trapped(100, 5)
	m, train, held := find(t, clip)
	d := m.Deform(t.Context(), clip, train, held)
	places, scores := d.Track(clip, held)
	drawn := make([]float32, len(held)*clip.Size())
	d.Draw(drawn, places, scores, len(held))
	got, want := numeric.SquaredError(clip.Pick(held), drawn)/float64(len(held)), d.Left(clip, held, d.Modes())
	if math.Abs(got-want) > want/20 {
		t.Errorf("drawings leave %g of a frame, tracking says %g", got, want)
	}
	if none := d.Left(clip, held, 0); !(none > 2*want) {
		t.Errorf("without modes %g is left, with them %g", none, want)
	}
	moved := &video.Clip{Channels: 1, Height: clip.Height, Width: clip.Width, Pixels: make([]float32, clip.Size()), Times: []float64{0}, Trajectory: []uint64{0}}
	d.Draw(moved.Pixels, []float64{places[0] + 2.5, places[1] - 1.5}, scores, 1)
	at, _ := d.Track(moved, []int{0})
	if x, y := at[0]-places[0]-2.5, at[1]-places[1]+1.5; math.Hypot(x, y) > 0.05 { // the parabola's error
		t.Errorf("a sprite drawn elsewhere is found %.3f, %.3f px from there", x, y)
	}
}

// TestDeformRigid: a ring that keeps its shape is found no worse than as a rigid one, by a tenth of a pixel at most.
func TestDeformRigid(t *testing.T) {
	suite.Calculation(t)
	clip, truth := sdevaetest.Drifting(100, 5, sdevaetest.Ring)
	m, train, held := find(t, clip)
	rigid, _ := m.Track(clip, clip.Frames())
	d := m.Deform(t.Context(), clip, train, held)
	if d == nil {
		t.Fatal("the ring is taken as it is, so nothing is compared: choose a seed at which its background is filled in")
	}
	places, _ := d.Track(clip, clip.Frames())
	found, before := sdevaetest.AffineError(t, places, truth), sdevaetest.AffineError(t, rigid, truth)
	for i := range found {
		if found[i] > before[i]+0.1 {
			t.Errorf("coordinate %d is off by %.3f px, and by %.3f as a rigid one", i, found[i], before[i])
		}
	}
}

// TestFill: within what surrounds it a slope goes on, to a hundredth of its rise; it is the one function with these edges that has no middle.
func TestFill(t *testing.T) {
	const w, h = 12, 10
	picture, covered := make([]float64, w*h), make([]bool, w*h)
	for p := range picture {
		if covered[p] = p%w > 3 && p%w < 8 && p/w > 2 && p/w < 7; !covered[p] {
			picture[p] = float64(p%w) - 2*float64(p/w)
		}
	}
	for p, v := range fill(picture, covered, w) {
		if want := float64(p%w) - 2*float64(p/w); math.Abs(v-want) > 0.01 {
			t.Errorf("(%d, %d) is %g, expected %g", p%w, p/w, v, want)
		}
	}
}

// TestLeftBehind: a grating behind a disc that comes and goes is one principal picture, which takes most of what the disc leaves; a swelling bead's
// own change is not.
func TestLeftBehind(t *testing.T) {
	suite.Calculation(t)
	clip, _, _, _ := sdevaetest.Crossing(150, 9, sdevaetest.Disc, 1)
	m, train, held := find(t, clip)
	still, behind := m.LeftBehind(clip, train, held, 0), m.LeftBehind(clip, train, held, 1)
	if !(behind < still/2) {
		t.Errorf("a background of one light leaves %g of %g", behind, still)
	}
	if d := m.Deform(t.Context(), clip, train, held); d != nil && d.Left(clip, held, min(1, d.Modes())) < behind {
		t.Errorf("the disc's own change leaves less, %g, than the background's, %g", d.Left(clip, held, 1), behind)
	}
}
