package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"driftscope/configs"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// TestRunObjects: run follows every object of a film without a model and writes a table, whose score is checked (0.9 on 512 px, less if objects leave a
// small picture). The messages agree with the table.
func TestRunObjects(t *testing.T) {
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "vesicle", "--frames", "60", "--density", "20", "--size", "200", "--snr", "5", "--out", "film"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	for _, name := range []string{"tracks.csv", "all.jsonl"} {
		if o := drive(t, folder, "run", "film", "--objects", "--nats", "off", "--no-status", "--out", name); o.status != 0 || !strings.Contains(o.out, "tracked 60, dropped 0") {
			t.Fatalf("%+v", o)
		}
	}
	o := drive(t, folder, "eval", "--tracks", "film/tracks.csv", "--result", "tracks.csv")
	var score struct{ Beta, JSC float64 }
	if err := json.Unmarshal([]byte(o.out), &score); err != nil || score.Beta < 0.75 || score.JSC < 0.85 {
		t.Errorf("%v: %s", err, o.out)
	}
	table, err := os.ReadFile(filepath.Join(folder, "tracks.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Count(string(table), "\n") - 1
	said, err := os.ReadFile(filepath.Join(folder, "all.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	places, kinds := 0, map[latent.Kind]int{}
	for line := range strings.Lines(string(said)) {
		var of message.Header
		if err := json.Unmarshal([]byte(line), &of); err != nil {
			t.Fatal(err)
		}
		kinds[of.Kind]++
		r, err := message.Decode(of.Kind, []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if o, ok := r.(*message.ObjectsRecord); ok {
			for _, m := range o.Marks {
				if m&(latent.Predicted|latent.Merged) == 0 {
					places++
				}
			}
			if o.Earlier != nil {
				places += len(o.Earlier.ID)
			}
		}
	}
	if places != rows || kinds[latent.KindObjects] != 60 || kinds[latent.KindPopulation] < 3 || kinds[latent.KindTrack] < 40 || kinds[latent.KindLatent] != 0 {
		t.Errorf("%d places in messages, %d rows in the table; %v", places, rows, kinds)
	}
	drive(t, folder, "run", "film", "--objects", "--model", "embedded:molecule").check(t, 2, "is for a whole scene")
}

// TestPretrainObjects: a briefly trained model of objects' appearance gives every detected object latents, in the table and in messages, also the followed
// object. The model works only with --objects, and pretrain refuses identical objects.
func TestPretrainObjects(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	film := "sim:focus?density=12&snr=8&width=200&height=200&frames=150&seed=2"
	few := []string{"--steps", "30", "--restarts", "1", "--synthetic-steps=-1", "--reinit-steps=-1"}
	o := drive(t, folder, append([]string{"pretrain", film, "--objects", "--latent", "2", "--out", "look.onnx"}, few...)...)
	if o.status != 0 || !strings.Contains(o.errors, "16x16 px of 1 px of the film each") {
		t.Fatalf("%+v", o)
	}
	film = strings.Replace(film, "seed=2", "seed=3", 1)
	for _, name := range []string{"look.csv", "look.jsonl"} {
		if o := drive(t, folder, "run", film, "--objects", "--model", "look.onnx", "--nats", "off", "--no-status", "--out", name); o.status != 0 {
			t.Fatalf("%+v", o)
		}
	}
	table, err := os.ReadFile(filepath.Join(folder, "look.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")
	if !strings.HasSuffix(rows[0], "filled,p_link,x_located,y_located,located,time,z_0,z_1,z_sd_0,z_sd_1") {
		t.Errorf("columns %s", rows[0])
	}
	said, err := os.ReadFile(filepath.Join(folder, "look.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(said)) {
		if !strings.Contains(line, `"kind":"objects"`) {
			continue
		}
		r, err := message.Decode(latent.KindObjects, []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		o := r.(*message.ObjectsRecord)
		for i, m := range o.Marks {
			known := len(o.Z) == 2 && !math.IsNaN(o.Z[0][i]) && !math.IsNaN(o.Z[1][i]) && o.ZSD[0][i] > 0
			if known != (m&(latent.Predicted|latent.Merged) == 0) {
				t.Fatalf("object %d, marks %d: latents %v", o.ID[i], m, o.Z)
			}
			seen++
		}
	}
	if seen < 500 {
		t.Errorf("%d places of objects, expected some 12 in 150 frames", seen)
	}
	drive(t, folder, "run", film, "--model", "look.onnx", "--nats", "off").check(t, 2, "is for objects: run it with --objects")
	drive(t, folder, "eval", "--model", "look.onnx", "--video", "film", "--truth", "truth.csv").check(t, 2, "is a model of objects")
	alike := strings.Replace(film, "focus", "trapped", 1)
	drive(t, folder, "pretrain", alike, "--objects", "--latent", "auto", "--out", "no.onnx").check(t, 1, "all objects look alike except for noise")
	drive(t, folder, "pretrain", "sim:vesicle?density=0&width=64&height=64&frames=60", "--objects", "--latent", "1", "--out", "no.onnx").check(t, 1, "no object is visible")
	drive(t, folder, "pretrain", film, "--objects", "--latent", "1", "--crop", "none", "--out", "no.onnx").check(t, 2, "leave --crop and --clahe out")
}

// TestObjectsLater: with a lag the objects of every frame arrive once and in order to the film's end, after the triggers of the same frame.
func TestObjectsLater(t *testing.T) {
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "vesicle", "--frames", "30", "--density", "8", "--size", "120", "--snr", "6", "--out", "film"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	text := "source: {directory: {path: film, fps: 50}}\nobjects: {enabled: true, lag: 4}\nnats: {url: \"off\"}\nsinks: [jsonl: {path: all.jsonl}]\n" +
		"triggers: [zone: {name: left, object: any, centroid_px: {x: [0, 60], y: [0, 120]}}]\n"
	if err := os.WriteFile(filepath.Join(folder, "later.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if o := drive(t, folder, "run", "later.yaml", "--no-status"); o.status != 0 || !strings.Contains(o.out, "tracked 30, dropped 0") {
		t.Fatalf("%+v", o)
	}
	said, err := os.ReadFile(filepath.Join(folder, "all.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	next, triggers := uint64(0), 0
	for line := range strings.Lines(string(said)) {
		var m struct {
			Kind latent.Kind
			Seq  uint64
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		switch m.Kind {
		case latent.KindObjects:
			if m.Seq != next {
				t.Errorf("frame %d, expected %d", m.Seq, next)
			}
			next++
		case latent.KindTrigger:
			if triggers++; m.Seq != next {
				t.Errorf("a trigger of frame %d ahead of frame %d", m.Seq, next)
			}
		}
	}
	if next != 30 || triggers == 0 {
		t.Errorf("%d frames of 30, %d triggers", next, triggers)
	}
}

// TestObjectsGoOn: a second run continues the state of the first: births add up, and no object number is reused.
func TestObjectsGoOn(t *testing.T) {
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "vesicle", "--frames", "40", "--density", "10", "--size", "120", "--snr", "6", "--out", "film"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	numbers := map[uint64]bool{}
	births := uint64(0)
	for run := range 2 {
		name := fmt.Sprintf("%d.jsonl", run)
		o := drive(t, folder, "run", "film", "--objects", "--nats", "off", "--no-status", "--state", "field.state", "--out", name)
		if o.status != 0 || strings.Contains(o.errors, "continues from field.state") != (run == 1) {
			t.Fatalf("%+v", o)
		}
		said, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		before, last := births, uint64(0)
		for line := range strings.Lines(string(said)) {
			var m struct {
				Kind   latent.Kind
				ID     json.RawMessage
				Change latent.Change
				Births uint64
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			switch {
			case m.Kind == latent.KindPopulation:
				last = m.Births
			case m.Kind == latent.KindTrack && m.Change == latent.Born:
				var id uint64
				if err := json.Unmarshal(m.ID, &id); err != nil || numbers[id] {
					t.Errorf("run %d: %v; the number %d is used again", run, err, id)
				}
				numbers[id] = true
				births++
			}
		}
		if last != births || births-before < 5 {
			t.Errorf("run %d: %d births in all, %d were told", run, last, births)
		}
	}
}

// TestFollowObject: a live field publishes its objects on NATS. The command follow selects one, whose latents and law are published until unfollow.
func TestFollowObject(t *testing.T) {
	t.Parallel()
	r := startSwapping(t, "stream: molecule\nsource: {sim: {name: trapped, density: 8, snr: 6, width: 160, height: 160, seed: 3}}\nobjects: {enabled: true, population_every: 5}\nnats: {port: 0}\ndashboard: {address: \"off\"}\n")
	conn := r.streams.Bus.NATS()
	next := func(kind string, dst any) {
		t.Helper()
		heard, err := conn.SubscribeSync("driftscope.local.molecule." + kind)
		if err != nil {
			t.Fatal(err)
		}
		defer heard.Unsubscribe()
		m, err := heard.NextMsg(20 * time.Second)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if err := json.Unmarshal(m.Data, dst); err != nil {
			t.Fatal(err)
		}
	}
	r.ask("follow", `{"id": 0}`, "400", `send {"id": 17}`)
	r.ask("follow", `{"id": 123456}`, "404", "no object has the number 123456 now")
	r.ask("model", `{"back": true}`, "409", "there is no earlier model")
	heard, err := conn.SubscribeSync("driftscope.local.molecule.latent")
	if err != nil {
		t.Fatal(err)
	}
	var l message.LatentRecord
	for end := time.Now().Add(patience); len(l.Z) == 0; { // objects live for half a second, so the selected one may have ended
		var o message.ObjectsRecord
		if next("objects", &o); len(o.ID) == 0 {
			continue
		}
		if _, err := conn.Request("driftscope.local.molecule.cmd.follow", fmt.Appendf(nil, `{"id": %d}`, o.ID[len(o.ID)-1]), 20*time.Second); err != nil {
			t.Fatal(err)
		}
		if m, err := heard.NextMsg(time.Second); err == nil {
			if err := json.Unmarshal(m.Data, &l); err != nil {
				t.Fatal(err)
			}
		} else if time.Now().After(end) {
			t.Fatal("no object could be followed")
		}
	}
	if len(l.Z) != 2 || len(l.Centroid) != 2 || l.Z[0] != l.Centroid[0] {
		t.Errorf("%+v", l)
	}
	var p message.PopulationRecord
	next("population", &p)
	if p.Count < 2 || p.Template < 1 || p.Template > 2 {
		t.Errorf("%+v", p)
	}
	var glance struct {
		Kind latent.Kind
	}
	next("glance", &glance)
	if glance.Kind != latent.KindObjects && glance.Kind != latent.KindLatent {
		t.Errorf("%+v", glance)
	}
	r.ask("unfollow", "", "", "ok")
	r.stop()
}

// TestSwapLooks: between two frames a run changes from no model to a model of objects, and back. The objects keep their numbers: at least half persist from
// one message to the next, with an average life of 30 frames. The run refuses a model of a scene.
func TestSwapLooks(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	o := drive(t, folder, "pretrain", "sim:focus?density=12&snr=8&width=200&height=200&frames=100&seed=2", "--objects", "--latent", "1", "--out", "look.onnx",
		"--steps", "20", "--restarts", "1", "--synthetic-steps=-1", "--reinit-steps=-1")
	if o.status != 0 {
		t.Fatalf("%+v", o)
	}
	model, err := os.ReadFile(filepath.Join(folder, "look.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	r := startSwapping(t, "stream: molecule\nsource: {sim: {name: focus, density: 12, snr: 8, width: 200, height: 200, seed: 3, realtime: false}}\nobjects: {enabled: true}\nnats: {port: 0, durable: true, store: "+filepath.Join(folder, "store")+"}\ndashboard: {address: \"off\"}\n")
	heard, err := r.streams.Bus.NATS().SubscribeSync("driftscope.local.molecule.objects")
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Unsubscribe()
	before := map[uint64]bool{}
	until := func(latents int) { // reads until objects have this number of latents, for some frames
		t.Helper()
		for seen := 0; seen < 20; {
			m, err := heard.NextMsg(patience)
			if err != nil {
				t.Fatal(err)
			}
			var o message.ObjectsRecord
			if err := json.Unmarshal(m.Data, &o); err != nil {
				t.Fatal(err)
			}
			same, now := 0, map[uint64]bool{}
			for _, id := range o.ID {
				now[id] = true
				if before[id] {
					same++
				}
			}
			if 2*same < len(before) {
				t.Errorf("frame %d: of %d objects %d are left", o.Seq, len(before), same)
			}
			if before = now; len(o.Z) == latents && len(o.ID) > 0 {
				seen++
			}
		}
	}
	until(0)
	scene, err := configs.Model("molecule")
	if err != nil {
		t.Fatal(err)
	}
	r.put("scene", scene)
	digest := r.put("look", model)
	r.ask("model", `{"name": "scene"}`, "409", "is for a whole scene")
	r.ask("model", `{"name": "nobody"}`, "404", "nobody")
	r.ask("model", `{"name": "look"}`, "", "ok")
	until(1)
	if info := string(r.ask("info", "", "", "{")); !strings.Contains(info, digest) || !strings.Contains(info, `"latents":3`) {
		t.Errorf("info says %s", info)
	}
	r.ask("model", `{"name": "look"}`, "409", "already tracks")
	r.ask("model", `{"back": true}`, "", "ok")
	until(0)
	r.ask("model", `{"back": true}`, "", "ok")
	until(1)
	r.stop()
}
