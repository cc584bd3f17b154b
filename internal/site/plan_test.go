package site

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"driftscope/internal/suite"
)

// runs is a stream with its holder.
type runs struct {
	Name           string
	Cores          float64
	Labels         []string
	Pinned, Holder string
}

// planOf returns the plan for streams with the given holders.
func planOf(workers []Worker, streams []runs) *Plan {
	s := Snapshot{Workers: workers}
	for _, x := range streams {
		s.Streams = append(s.Streams, Stream{Name: x.Name, Cores: x.Cores, Labels: x.Labels, Worker: x.Pinned})
		if x.Holder != "" {
			s.Leases = append(s.Leases, Lease{Stream: x.Name, State: Taken, Record: Record{Worker: x.Holder}})
		}
	}
	return s.Plan()
}

// even returns n workers with an equal number of cores.
func even(n int, cores float64) (workers []Worker) {
	for i := range n {
		workers = append(workers, Worker{Name: fmt.Sprint("w", i), Cores: cores})
	}
	return workers
}

// ones returns n streams of one core.
func ones(n int) (streams []runs) {
	for i := range n {
		streams = append(streams, runs{Name: fmt.Sprint("s", i), Cores: 1})
	}
	return streams
}

// carried returns the holders after a plan was carried out.
func carried(streams []runs, p *Plan) []runs {
	out := slices.Clone(streams)
	for i := range out {
		out[i].Holder = p.Places[out[i].Name]
	}
	return out
}

// counts returns the number of streams per worker.
func counts(p *Plan) map[string]int {
	n := map[string]int{}
	for _, w := range p.Places {
		n[w]++
	}
	return n
}

// TestJoinAndLeave: four workers have three streams each. A fifth worker gets two. If one drains, only its streams move.
func TestJoinAndLeave(t *testing.T) {
	streams, workers := ones(12), even(4, 4)
	p := planOf(workers, streams)
	if n := counts(p); !reflect.DeepEqual(n, map[string]int{"w0": 3, "w1": 3, "w2": 3, "w3": 3}) || len(p.Moves)+len(p.Waiting) != 0 {
		t.Fatalf("found %v, %v, %v, expected three on each", n, p.Moves, p.Waiting)
	}
	streams = carried(streams, p)
	workers = even(5, 4)
	p = planOf(workers, streams)
	if n := counts(p); n["w4"] != 2 || len(p.Moves) != 2 {
		t.Fatalf("a fifth worker: found %v by %v, expected that it gets two", n, p.Moves)
	}
	streams = carried(streams, p)
	had := counts(p)["w1"]
	workers[1].Draining = true
	p = planOf(workers, streams)
	if n := counts(p); n["w1"] != 0 || len(p.Moves) != had {
		t.Errorf("w1 drains: found %v by %v, expected that its %d alone move", n, p.Moves, had)
	}
}

// TestPinsAndReasons: a pinned stream moves to its worker once there is room, and runs on another until then. A stream that runs nowhere has a reason.
func TestPinsAndReasons(t *testing.T) {
	workers := []Worker{{Name: "a", Cores: 2, Labels: []string{"camera1"}}, {Name: "b", Cores: 4}, {Name: "c", Cores: 8, Draining: true, Labels: []string{"gpu"}}}
	p := planOf(workers, []runs{
		{Name: "pinned", Cores: 1, Pinned: "b", Holder: "a"},
		{Name: "away", Cores: 1, Pinned: "nobody", Holder: "b"},
		{Name: "drains", Cores: 0.5, Pinned: "c"},
		{Name: "camera", Cores: 1, Labels: []string{"camera1"}, Holder: "b"},
		{Name: "unlabelled", Cores: 0, Labels: []string{"camera1"}, Pinned: "b"},
		{Name: "large", Cores: 4.5},
		{Name: "gpu", Cores: 1, Labels: []string{"gpu"}},
		{Name: "none", Cores: math.NaN()},
	})
	if p.Places["pinned"] != "b" || p.Places["away"] != "b" || p.Places["camera"] != "a" || p.Places["drains"] == "" {
		t.Errorf("found %v", p.Places)
	}
	why := map[string]string{}
	for _, w := range p.Waiting {
		why[w.Stream] = w.Why
	}
	for stream, expected := range map[string]string{
		"gpu": "no worker has label gpu", "none": "it needs NaN cores, expected 0 to 1024", "large": "it needs 4.5 cores, but the largest free number is 1.5",
	} {
		if why[stream] != expected {
			t.Errorf("%s: found %q, expected %q", stream, why[stream], expected)
		}
	}
	notes := map[string]string{}
	for _, n := range p.Notes {
		notes[n.Stream] = n.Why
	}
	if !reflect.DeepEqual(notes, map[string]string{"away": "there is no worker nobody", "drains": "worker c is draining", "unlabelled": "worker b: it lacks label camera1"}) {
		t.Errorf("found notes %q", notes)
	}
	for _, c := range []struct {
		workers []Worker
		why     string
	}{
		{nil, "there is no worker"}, {[]Worker{{Name: "a", Cores: math.Inf(1)}}, "every worker is draining, or has no cores"},
		{[]Worker{{Name: "a", Cores: 1, Labels: []string{"x"}}, {Name: "b", Cores: 1, Labels: []string{"y"}}}, "no worker has all of the labels x, y"},
	} {
		p := planOf(c.workers, []runs{{Name: "s", Cores: 1, Labels: []string{"x", "y"}}})
		if len(p.Waiting) != 1 || p.Waiting[0].Why != c.why {
			t.Errorf("found %v, expected %q", p.Waiting, c.why)
		}
	}
	full := planOf([]Worker{{Name: "a", Cores: 1}, {Name: "b", Cores: 2}}, []runs{{Name: "s", Cores: 1, Holder: "a"}, {Name: "x", Cores: 1, Holder: "b", Pinned: "a"}})
	if len(full.Notes) != 1 || full.Notes[0].Why != "it needs 1 cores, but worker a has 0 free" {
		t.Errorf("found %v, expected that a is full", full.Notes)
	}
}

// TestRelieved: a worker that has lost cores gives away just enough streams if others have room, and none otherwise.
func TestRelieved(t *testing.T) {
	streams := []runs{{Name: "x", Cores: 3, Holder: "a"}, {Name: "y", Cores: 1, Holder: "a"}, {Name: "z", Cores: 2, Holder: "a"}}
	p := planOf([]Worker{{Name: "a", Cores: 5}, {Name: "b", Cores: 1}}, streams)
	if !reflect.DeepEqual(p.Moves, []Move{{"y", "a", "b"}}) {
		t.Errorf("found %v, expected that y moves to b", p.Moves)
	}
	if p = planOf([]Worker{{Name: "a", Cores: 5}, {Name: "b", Cores: 0.5}}, streams); len(p.Moves)+len(p.Waiting) != 0 {
		t.Errorf("found %v, %v, expected that all goes on where it is", p.Moves, p.Waiting)
	}
}

// TestTurns: every worker that may run a stream has a position, the planned worker the first. Without that worker the next one gets the stream.
func TestTurns(t *testing.T) {
	workers := append(even(6, 4), Worker{Name: "drains", Cores: 4, Draining: true})
	p := planOf(workers, ones(1))
	turns := make([]string, 6)
	for _, w := range workers {
		if turn := p.Turn(w.Name, "s0"); turn >= 0 {
			turns[turn] = w.Name
		}
	}
	if turns[0] != p.Places["s0"] || slices.Contains(turns, "") || p.Turn("drains", "s0") != -1 || p.Turn("nobody", "s0") != -1 || p.Turn("w0", "none") != -1 {
		t.Errorf("turns %v, the plan says %s", turns, p.Places["s0"])
	}
	without := slices.DeleteFunc(slices.Clone(workers), func(w Worker) bool { return w.Name == turns[0] })
	if next := planOf(without, ones(1)).Places["s0"]; next != turns[1] {
		t.Errorf("without %s: %s, expected %s, whose turn is next", turns[0], next, turns[1])
	}
}

// world returns random workers and streams.
func world(r *rand.Rand) (workers []Worker, streams []runs) {
	labels := func(most int) (l []string) {
		for range r.IntN(most + 1) {
			l = append(l, fmt.Sprint("l", r.IntN(3)))
		}
		return l
	}
	for i := range r.IntN(8) {
		workers = append(workers, Worker{Name: fmt.Sprint("w", i), Cores: float64(r.IntN(64)) / 4, Labels: labels(3), Draining: r.IntN(8) == 0})
	}
	for i := range r.IntN(24) {
		s := runs{Name: fmt.Sprint("s", i), Cores: float64(r.IntN(20)) / 4, Labels: labels(1)}
		if r.IntN(2) == 0 {
			s.Holder = fmt.Sprint("w", r.IntN(9))
		}
		if r.IntN(6) == 0 {
			s.Pinned = fmt.Sprint("w", r.IntN(9))
		}
		streams = append(streams, s)
	}
	return workers, streams
}

// check checks the rules that every plan must follow.
func check(t *testing.T, workers []Worker, streams []runs, p *Plan) {
	t.Helper()
	byName := map[string]Worker{}
	for _, w := range workers {
		byName[w.Name] = w
	}
	load, came := map[string]float64{}, map[string]bool{}
	for _, s := range streams {
		at := p.Places[s.Name]
		if at == "" {
			continue
		}
		load[at] += s.Cores
		came[at] = came[at] || at != s.Holder
		if byName[at].Draining {
			t.Fatalf("%s is placed on %s, which drains", s.Name, at)
		}
		for _, l := range s.Labels {
			if !slices.Contains(byName[at].Labels, l) {
				t.Fatalf("%s is placed on %s, which has not label %s", s.Name, at, l)
			}
		}
	}
	for w, l := range load {
		if l > byName[w].Cores && came[w] {
			t.Fatalf("%s gets streams beyond its cores: %g of %g", w, l, byName[w].Cores)
		}
	}
	for _, s := range streams {
		for _, w := range workers {
			has := func(l string) bool { return slices.Contains(w.Labels, l) }
			if fits := !w.Draining && w.Cores > 0 && load[w.Name]+s.Cores <= w.Cores && !slices.ContainsFunc(s.Labels, func(l string) bool { return !has(l) }); !fits {
				continue
			}
			if at := p.Places[s.Name]; at == "" {
				t.Fatalf("%s waits, and %s has room", s.Name, w.Name)
			} else if at != w.Name && s.Pinned == w.Name {
				t.Fatalf("%s is on %s, and has room where it is pinned, on %s", s.Name, at, w.Name)
			} else if at != w.Name && s.Pinned != at && s.Cores > 0 && load[at] > byName[at].Cores {
				t.Fatalf("%s is on %s, which is overfull, and %s has room", s.Name, at, w.Name)
			}
		}
	}
	if len(p.Places)+len(p.Waiting) != len(streams) {
		t.Fatalf("%d placed and %d waiting, of %d", len(p.Places), len(p.Waiting), len(streams))
	}
}

// same reports whether two plans are equal.
func same(p, q *Plan) bool {
	return reflect.DeepEqual(p.Places, q.Places) && slices.Equal(p.Moves, q.Moves) && slices.Equal(p.Waiting, q.Waiting) && slices.Equal(p.Notes, q.Notes)
}

// TestRandomWorlds: after a plan is carried out, the next plan changes nothing, for any order of the records.
func TestRandomWorlds(t *testing.T) {
	suite.Calculation(t)
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		workers, streams := world(r)
		p := planOf(workers, streams)
		check(t, workers, streams, p)
		again := planOf(workers, carried(streams, p))
		if !reflect.DeepEqual(again.Places, p.Places) || len(again.Moves) != 0 {
			t.Fatalf("seed %d: a plan of a plan moves %v", seed, again.Moves)
		}
		r.Shuffle(len(workers), func(i, j int) { workers[i], workers[j] = workers[j], workers[i] })
		r.Shuffle(len(streams), func(i, j int) { streams[i], streams[j] = streams[j], streams[i] })
		if shuffled := planOf(workers, streams); !same(p, shuffled) {
			t.Fatalf("seed %d: the order of records matters", seed)
		}
	}
}

// TestOneByOne: workers join, drain and die. Each carries out its part of the plan at its own time, by its own snapshot, in any order. No running stream
// moves twice for one such event.
func TestOneByOne(t *testing.T) {
	suite.Calculation(t)
	twice, moves := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 2))
		streams := ones(8 + r.IntN(24))
		for i := range streams {
			streams[i].Cores = float64(1+r.IntN(8)) / 4
		}
		workers := even(3+r.IntN(4), 24)
		settle(t, r, workers, streams)
		for event := range 6 {
			switch r.IntN(3) {
			case 0:
				workers = append(workers, Worker{Name: fmt.Sprint("new", event), Cores: 24})
			case 1:
				if i := r.IntN(len(workers)); len(workers) > 2 {
					workers = slices.Delete(slices.Clone(workers), i, i+1)
				}
			case 2:
				workers[r.IntN(len(workers))].Draining = true
				if !slices.ContainsFunc(workers, func(w Worker) bool { return !w.Draining }) {
					workers = append(workers, Worker{Name: fmt.Sprint("more", event), Cores: 24})
				}
			}
			for _, n := range settle(t, r, workers, streams) {
				moves += n
				if n > 1 {
					twice++
				}
			}
		}
	}
	if twice > 0 {
		t.Errorf("%d of %d moves were of streams that had moved for the same reason already", twice, moves)
	}
	t.Logf("%d moves, %d again", moves, twice)
}

// settle carries out plans, one random step after another, and counts the moves of each stream that had a holder.
func settle(t *testing.T, r *rand.Rand, workers []Worker, streams []runs) map[string]int {
	t.Helper()
	moves := map[string]int{}
	there := map[string]bool{}
	for _, w := range workers {
		there[w.Name] = true
	}
	for range 10 * len(streams) {
		p := planOf(workers, streams)
		var steps []int
		for i, s := range streams {
			if at := p.Places[s.Name]; at != "" && at != s.Holder {
				steps = append(steps, i)
			}
		}
		if len(steps) == 0 {
			return moves
		}
		s := &streams[steps[r.IntN(len(steps))]]
		if there[s.Holder] {
			moves[s.Name]++
		}
		s.Holder = p.Places[s.Name]
	}
	t.Fatal("it does not settle")
	return nil
}

// FuzzPlan: any records give a valid plan.
func FuzzPlan(f *testing.F) {
	f.Add(uint64(1), 1.0, "w1")
	f.Add(uint64(7), math.NaN(), "")
	f.Add(uint64(9), -1e300, "\xff")
	f.Add(uint64(41), 1.0, "")
	f.Fuzz(func(t *testing.T, seed uint64, cores float64, name string) {
		workers, streams := world(rand.New(rand.NewPCG(seed, 3)))
		if name != "" && !slices.ContainsFunc(workers, func(w Worker) bool { return w.Name == name }) { // a bucket has one record per key
			workers = append(workers, Worker{Name: name, Cores: cores})
		}
		if !slices.ContainsFunc(streams, func(x runs) bool { return x.Name == name }) {
			streams = append(streams, runs{Name: name, Cores: cores, Labels: []string{name}, Pinned: name, Holder: name})
		}
		p := planOf(workers, streams)
		again := planOf(workers, carried(streams, p))
		if !reflect.DeepEqual(p.Places, again.Places) || len(again.Moves) != 0 {
			t.Errorf("a plan of a plan: %v, %v", p.Places, again.Places)
		}
	})
}

// BenchmarkPlan measures a plan in the largest site, if nothing changes.
func BenchmarkPlan(b *testing.B) {
	workers, streams := even(1000, 16), ones(10_000)
	p := planOf(workers, streams)
	streams = carried(streams, p)
	for b.Loop() {
		if p := planOf(workers, streams); len(p.Moves) != 0 {
			b.Fatal("it moves")
		}
	}
}
