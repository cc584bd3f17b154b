package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/configs"
	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/job/reach"
)

// shippedModel returns the file of the model in the program.
func shippedModel(t *testing.T) []byte {
	t.Helper()
	data, err := configs.Model(reach.DefaultModel)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// shipped returns the model in the program.
func shipped(t *testing.T) *infer.Model {
	t.Helper()
	m, err := reach.OpenModel(reach.EmbeddedModel + reach.DefaultModel)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// spun returns the shipped model with other weights in one layer, so that it gives other latents.
func spun(t *testing.T) []byte {
	t.Helper()
	data := slices.Clone(shippedModel(t))
	tensors, err := card.Tensors(data)
	if err != nil {
		t.Fatal(err)
	}
	var largest []byte
	for _, tensor := range tensors {
		var raw []byte
		for _, v := range tensor.Data {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		if len(raw) > len(largest) && bytes.Contains(data, raw) {
			largest = raw
		}
	}
	at := bytes.Index(data, largest)
	for i := at; i < at+len(largest); i += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))
		binary.LittleEndian.PutUint32(data[i:], math.Float32bits(0.7*v))
	}
	return data
}

// ownSteps returns the shipped model's preprocessing in the form of a configuration.
func ownSteps(t *testing.T) string {
	t.Helper()
	m, err := reach.OpenModel(reach.EmbeddedModel + reach.DefaultModel)
	if err != nil {
		t.Fatal(err)
	}
	var steps []map[string]any
	for _, s := range m.Card.Preprocess {
		steps = append(steps, map[string]any{s.Kind: s.Options})
	}
	text, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// plainModel returns an encoder that is a weighted sum of pixels, for square pictures with the given channels. The preprocessing is the shipped
// model's, except for the size.
func plainModel(t *testing.T, latents, channels, side int) []byte {
	t.Helper()
	m, err := reach.OpenModel(reach.EmbeddedModel + reach.DefaultModel)
	if err != nil {
		t.Fatal(err)
	}
	c := card.Card{Version: card.Version, Input: card.Input{Channels: channels, Height: side, Width: side}, Latent: latents, Preprocess: m.Card.Preprocess, DT: m.Card.DT, Seconds: 10}
	rng, pixels := rand.New(rand.NewPCG(1, 1)), channels*side*side
	w := make([]float32, latents*pixels)
	for i := range w {
		w[i] = rng.Float32() / 100
	}
	c.Preprocess[len(c.Preprocess)-1].Options["width"], c.Preprocess[len(c.Preprocess)-1].Options["height"] = side, side
	for range latents {
		c.Sigma, c.Mean, c.SD = append(c.Sigma, 1), append(c.Mean, 0), append(c.SD, 1)
	}
	g := &card.Graph{
		Name: "plain", Inputs: []card.Value{{Name: "x", Shape: []int{1, channels, side, side}}},
		Outputs: []card.Value{{Name: "mean", Shape: []int{1, latents}}, {Name: "log_sd", Shape: []int{1, latents}}},
		Tensors: []card.Tensor{{Name: "w", Shape: []int{latents, pixels}, Data: w}, {Name: "b", Shape: []int{latents}, Data: make([]float32, latents)}, {Name: "s", Shape: []int{latents, pixels}, Data: make([]float32, latents*pixels)}},
	}
	for out, in := range map[string][]string{"mean": {"w", "b"}, "log_sd": {"s", "b"}} {
		g.Nodes = append(g.Nodes, card.Node{Op: "Gemm", Inputs: append([]string{"flat"}, in...), Outputs: []string{out}, Attrs: []card.Attr{{Name: "transB", Value: 1}}})
	}
	g.Nodes = append([]card.Node{{Op: "Flatten", Inputs: []string{"x"}, Outputs: []string{"flat"}, Attrs: []card.Attr{{Name: "axis", Value: 1}}}}, g.Nodes...)
	data, err := card.Write(&c, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// spoil puts invalid and damaged models on the server.
func (r *swapping) spoil(whole []byte) {
	r.t.Helper()
	js, err := jetstream.New(r.streams.Bus.NATS())
	if err != nil {
		r.t.Fatal(err)
	}
	check := func(err error) {
		r.t.Helper()
		if err != nil {
			r.t.Fatal(err)
		}
	}
	const bucket = "driftscope_local_models"
	store, err := js.ObjectStore(r.t.Context(), bucket)
	check(err)
	stream, err := js.Stream(r.t.Context(), "OBJ_"+bucket)
	check(err)
	meta := func(name string, change func(*jetstream.ObjectInfo)) {
		info, err := store.PutBytes(r.t.Context(), name, whole)
		check(err)
		change(info)
		text, err := json.Marshal(info)
		check(err)
		m := nats.NewMsg("$O." + bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name)))
		m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
		m.Data = text
		_, err = js.PublishMsg(r.t.Context(), m)
		check(err)
	}
	_, err = store.PutBytes(r.t.Context(), "foreign", []byte("not a model"))
	check(err)
	meta("forged", func(info *jetstream.ObjectInfo) { info.Digest = "SHA-256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=" })
	meta("huge", func(info *jetstream.ObjectInfo) { info.Size = 1 << 40 })
	meta("halved", func(info *jetstream.ObjectInfo) {
		check(stream.Purge(r.t.Context(), jetstream.WithPurgeSubject("$O."+bucket+".C."+info.NUID), jetstream.WithPurgeKeep(1)))
	})
	info, err := store.GetInfo(r.t.Context(), "spot")
	check(err)
	_, err = store.AddLink(r.t.Context(), "linked", info)
	check(err)
}
