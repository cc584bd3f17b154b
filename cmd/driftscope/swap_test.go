package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/micro"

	"driftscope/infer"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/stream"
	"driftscope/sinks/message"
	"driftscope/sinks/natsink"
)

// swapping is a run in this process that changes its model.
type swapping struct {
	t       *testing.T
	streams *stream.Process
	ended   chan error
	server  modelServer
}

// startSwapping runs a configuration until the command stop.
func startSwapping(t *testing.T, text string) *swapping {
	t.Helper()
	cfg, err := config.Parse("swap.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := stream.Assemble(t.Context(), []config.Config{cfg}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	r := &swapping{t: t, streams: s, ended: make(chan error, 1)}
	if s.Bus != nil {
		r.server = modelServer{NATS: s.Bus.URL(), Prefix: cfg.NATS.Prefix, Site: cfg.NATS.Site}
	}
	go func() { r.ended <- s.Run(t.Context(), 0) }()
	return r
}

// put stores a model on the run's server.
func (r *swapping) put(name string, data []byte) (digest string) {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), name+".onnx")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
	m, err := infer.Load(file)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := (&putModelCmd{File: file, modelServer: r.server}).Run(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return m.Digest
}

// ask sends a command, and checks the answer's code (empty for none) and text.
func (r *swapping) ask(name, payload, code, want string) []byte {
	r.t.Helper()
	m, err := r.streams.Bus.NATS().Request("driftscope.local.molecule.cmd."+name, []byte(payload), 20*time.Second)
	if err != nil {
		r.t.Fatalf("%s %s: %v", name, payload, err)
	}
	if m.Header.Get(micro.ErrorCodeHeader) != code || !strings.Contains(string(m.Data), want) || strings.ContainsRune(string(m.Data), '\n') {
		r.t.Errorf("%s %s: found %s %q, expected %s and %q", name, payload, m.Header.Get(micro.ErrorCodeHeader), m.Data, code, want)
	}
	return m.Data
}

// tracks checks that info names this model, and waits for frames tracked with it.
func (r *swapping) tracks(model, digest string, latents int) {
	r.t.Helper()
	var info struct{ natsink.About }
	if err := json.Unmarshal(r.ask("info", "", "", "{"), &info); err != nil || info.Model != model || info.ModelSHA256 != digest || info.Latents != latents {
		r.t.Errorf("info says %+v, %v: expected %s, %s with %d latents", info, err, model, digest, latents)
	}
	seen, err := r.streams.Bus.NATS().SubscribeSync("driftscope.local.molecule.latent")
	if err != nil {
		r.t.Fatal(err)
	}
	defer seen.Unsubscribe()
	for range 60 {
		if _, err := seen.NextMsg(10 * time.Second); err != nil {
			r.t.Fatal(err)
		}
	}
}

// stop ends the run.
func (r *swapping) stop() {
	r.t.Helper()
	r.ask("stop", "", "", "ok")
	if err := <-r.ended; err != nil {
		r.t.Error(err)
	}
	r.close()
}

func (r *swapping) close() {
	r.streams.Disconnect()
}

const molecules = "source: {sim: {name: molecule, seed: 1, realtime: false}}\nonline: {refine_lag: 20, state: %[1]s/law}\ndashboard: {address: \"off\"}\nsinks: [jsonl: {path: %[1]s/results.jsonl}]\n"

// A run changes its model and returns to the previous one. Every latent is, bit for bit, equal to a run with that model alone, and laws continue
// where they stopped. An unusable model is refused and changes nothing.
func TestSwapModels(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	r := startSwapping(t, fmt.Sprintf(molecules, folder)+"nats: {port: 0, durable: true, store: "+folder+"}\npreprocess: "+ownSteps(t)+"\ntriggers: [sigma: {name: lively, of: z2, above: 1000}]\n")
	own := shipped(t)
	spot, three := spun(t), plainModel(t, 3, 1, 64)
	r.ask("model", `{"name": "spot"}`, "404", "driftscope model put")
	spotDigest, threeDigest := r.put("spot", spot), r.put("three", three)
	r.put("same", shippedModel(t))
	r.put("colour", plainModel(t, 2, 3, 64))
	r.put("small", plainModel(t, 2, 1, 32))
	r.put("one", plainModel(t, 1, 1, 64))
	r.spoil(spot)
	for _, refused := range []struct{ payload, code, want string }{
		{`{"name": "spot"`, "400", "send "},
		{`{"name": "spot"}}`, "400", "send "},
		{`{"name": "a.b"}`, "400", "letters"},
		{`{"name": "spot", "back": true}`, "400", "send "},
		{`{"name": "spot", "sha256": "abc"}`, "400", "64 hexadecimal"},
		{`{"back": false}`, "400", "send "},
		{``, "400", "send "},
		{`{"name": "nothing"}`, "404", "no such model"},
		{`{"name": "spot", "sha256": "` + threeDigest + `"}`, "409", spotDigest},
		{`{"back": true}`, "409", "there is no earlier model"},
		{`{"name": "same"}`, "409", "already tracks"},
		{`{"name": "colour"}`, "409", "does not fit this source"},
		{`{"name": "small"}`, "409", "the model was trained with resize"},
		{`{"name": "one"}`, "409", `triggers[0]: sigma: of: found dimension "z2", but the model has z1 to z1`},
		{`{"name": "foreign"}`, "409", "torn or not ONNX"},
		{`{"name": "forged"}`, "409", "digest does not match"},
		{`{"name": "halved"}`, "409", "pieces exist"},
		{`{"name": "linked"}`, "409", "not put by driftscope"},
		{`{"name": "huge"}`, "409", "at most"},
	} {
		r.ask("model", refused.payload, refused.code, refused.want)
	}
	r.tracks("embedded:molecule", own.Digest, 2)

	r.ask("model", `{"name": "spot", "sha256": "`+spotDigest+`"}`, "", "ok")
	r.tracks("nats:spot", spotDigest, 2)
	r.ask("model", `{"back": true}`, "", "ok")
	r.tracks("embedded:molecule", own.Digest, 2)
	r.ask("pause", "", "", "ok")
	r.ask("model", `{"name": "three"}`, "", "ok")
	r.ask("resume", "", "", "ok")
	r.tracks("nats:three", threeDigest, 3)
	r.stop()

	parts := byModel(t, filepath.Join(folder, "results.jsonl"))
	if len(parts) != 4 {
		t.Fatalf("%d parts, expected one a model", len(parts))
	}
	frames := 0
	for _, p := range parts {
		frames += len(p.z)
	}
	first := alone(t, shippedModel(t), frames)
	for i, alone := range []map[uint64]string{first, alone(t, spot, frames), first, alone(t, three, frames)} {
		for seq, z := range parts[i].z {
			if z != alone[seq] {
				t.Fatalf("part %d: frame %d has the latent %s, a run of its model alone %s", i, seq, z, alone[seq])
			}
		}
	}
	if p := parts[1].laws; p[0].Transitions != 0 || p[0].DriftRevision != 0 {
		t.Errorf("the second model's law begins with %d transitions", p[0].Transitions)
	}
	last, next := parts[0].laws[len(parts[0].laws)-1], parts[2].laws[0]
	renewed := next.Transitions == uint64(len(parts[0].z)-1) // figures are, every ten frames, and with the first one back perhaps
	same := next.Transitions == last.Transitions && fmt.Sprint(next.Sigma) == fmt.Sprint(last.Sigma)
	if !same && !renewed || next.DriftRevision < last.DriftRevision || next.DriftRevision > last.DriftRevision+1 {
		t.Errorf("the law was left as %+v and goes on as %+v", last, next)
	}
	if !strings.Contains(parts[1].event, "nats:spot, SHA-256 "+spotDigest) || !strings.Contains(parts[3].event, "3 latents") {
		t.Errorf("told %q and %q", parts[1].event, parts[3].event)
	}
	for name, there := range map[string]bool{"law": true, "law." + spotDigest[:12]: true, "law." + threeDigest[:12]: true} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	goesOn(t, folder, spotDigest)
}

// goesOn starts a run from the states on the server and the disk.
func goesOn(t *testing.T, folder, digest string) {
	t.Helper()
	run := func(model, state string) outcome {
		text := "source: {sim: {name: molecule, seed: 1, frames: 30, realtime: false}}\nmodel: nats:" + model + "\nonline: {refine_lag: 20, state: " + state + "}\ndashboard: {address: \"off\"}\nnats: {port: 0, durable: true, store: " + folder + "}\n"
		if err := os.WriteFile(filepath.Join(folder, "again.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return drive(t, folder, "run", "again.yaml")
	}
	o := run("spot", "law."+digest[:12])
	if o.status != 0 || !strings.Contains(o.out+o.errors, "continues from law."+digest[:12]) || !strings.Contains(o.out+o.errors, "model nats:spot (2 latents") {
		t.Errorf("found %+v", o)
	}
	run("three", "law").check(t, 2, "online.state: law: unusable checkpoint")
	run("nothing", "new").check(t, 2, "model nats:nothing: there is no such model")
	run("forged", "new").check(t, 2, "digest does not match its bytes")
	drive(t, folder, "run", "again.yaml", "--nats", "off").check(t, 2, "but nats.url is off")
	o = drive(t, folder, "lint", "again.yaml")
	if o.status != 0 {
		t.Errorf("lint: %+v", o)
	}
	_, err := stream.ReadEarlier(filepath.Join(folder, "results.jsonl"))
	if err == nil || !strings.Contains(err.Error(), "command_model after frame") {
		t.Errorf("its results are repeated: %v", err)
	}
	if _, err := reach.OpenModel("nats:spot"); err == nil || !strings.Contains(err.Error(), "driftscope model get spot") {
		t.Errorf("a command that takes none from a server says %v", err)
	}
}

// On a server without storage, a run refuses the command, names the setting that enables storage, and continues.
func TestSwapWithoutStore(t *testing.T) {
	folder := t.TempDir()
	r := startSwapping(t, fmt.Sprintf(molecules, folder)+"nats: {port: 0}\n")
	r.ask("model", `{"name": "spot"}`, "409", "nats.durable and nats.store")
	r.tracks("embedded:molecule", shipped(t).Digest, 2)
	r.stop()
}

// part has the latents of one model.
type part struct {
	event string
	z     map[uint64]string // by frame: the latents and their sds
	laws  []*message.SDERecord
}

// byModel splits the results of a run at every change of the model.
func byModel(t *testing.T, path string) []part {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parts := []part{{z: map[uint64]string{}}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, message.MaxRecord)
	for lines.Scan() {
		var of struct{ Kind latent.Kind }
		if err := json.Unmarshal(lines.Bytes(), &of); err != nil {
			t.Fatal(err)
		}
		record, err := message.Decode(of.Kind, lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		now := &parts[len(parts)-1]
		switch r := record.(type) {
		case *message.LatentRecord:
			now.z[r.Seq] = fmt.Sprint(r.Z, r.SD)
		case *message.SDERecord:
			now.laws = append(now.laws, r)
		case *message.EventRecord:
			if r.Code == "command_model" {
				parts = append(parts, part{event: r.Text, z: map[uint64]string{}})
			}
		}
	}
	return parts
}

// alone returns the latents of a run with one model.
func alone(t *testing.T, model []byte, frames int) map[uint64]string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "alone.onnx"), model, 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(molecules, folder) + "nats: {url: \"off\"}\nmodel: " + folder + "/alone.onnx\n"
	text = strings.Replace(text, "realtime: false", fmt.Sprint("realtime: false, frames: ", frames), 1)
	r := startSwapping(t, text)
	if err := <-r.ended; err != nil {
		t.Fatal(err)
	}
	r.close()
	return byModel(t, filepath.Join(folder, "results.jsonl"))[0].z
}
