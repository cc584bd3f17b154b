package infer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"driftscope/infer"
	"driftscope/infer/card"
)

// TestDamagedGraphs: each of these graphs, or a similar one, crashes OpenCV 4.6 with a signal that no exception handler sees.
func TestDamagedGraphs(t *testing.T) {
	conv := func(change func(n *card.Node)) *card.Graph {
		g := newGraph("x", 1, 1, 4, 4)
		g.conv("c", g.random(25, 1), g.random(1, 1))
		change(&g.Nodes[0])
		return g.outputs(card.Value{Name: "c", Shape: []int{1, 1, 4, 4}})
	}
	for _, c := range []struct {
		name string
		g    *card.Graph
		want string
	}{
		{"no stride", conv(func(n *card.Node) { n.Attrs[2].Value = []int{0, 1} }), "attribute strides: found 0, expected 1 to 1024"},
		{"huge kernel", conv(func(n *card.Node) { n.Attrs[0].Value = []int{1 << 30, 5} }), "attribute kernel_shape: found 1073741824"},
		{"negative padding", conv(func(n *card.Node) { n.Attrs[1].Value = []int{-1, 2, 2, 2} }), "attribute pads: found -1, expected 0 to 1024"},
		{"unknown input", conv(func(n *card.Node) { n.Inputs[1] = "nobody" }), `reads "nobody", which no earlier node produces`},
		{"short constant", func() *card.Graph {
			g := newGraph("x", 1, 1, 4, 4)
			g.flatten("flat")
			g.gemm("mean", make([]float32, 64), make([]float32, 4))
			g.Tensors[0].Shape = []int{4, 1 << 20}
			return g.outputs(card.Value{Name: "mean", Shape: []int{1, 4}})
		}(), `constant "t0" of type 1 has 64 numbers, but its shape needs 4194304`},
		{"overflowing shape", func() *card.Graph {
			g := newGraph("x", 1, 1, 4, 4)
			g.flatten("flat")
			g.gemm("mean", make([]float32, 64), make([]float32, 4))
			g.Tensors[0].Shape = []int{1 << 22, 1 << 22, 1 << 22, 1 << 22}
			return g.outputs(card.Value{Name: "mean", Shape: []int{1, 4}})
		}(), `constant "t0" of type 1 has 64 numbers`},
		{"size zero", func() *card.Graph {
			g := newGraph("x", 1, 0, 4, 4)
			g.flatten("flat")
			return g.outputs(card.Value{Name: "flat", Shape: []int{1, 4}})
		}(), "found the size 0 in a shape, expected 1 to 16777216"},
	} {
		_, err := infer.Parse("damaged.onnx", written(t, 2, c.g, nil))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", c.name, err, c.want)
		}
	}
}

// wire is an encoded protobuf message.
type wire []byte

func (w wire) integer(field protowire.Number, v uint64) wire {
	return protowire.AppendVarint(protowire.AppendTag(w, field, protowire.VarintType), v)
}

func (w wire) fixed32(field protowire.Number, v uint32) wire {
	return protowire.AppendFixed32(protowire.AppendTag(w, field, protowire.Fixed32Type), v)
}

func (w wire) bytes(field protowire.Number, v ...byte) wire {
	return protowire.AppendBytes(protowire.AppendTag(w, field, protowire.BytesType), v)
}

// withGraph returns a working model after change has rewritten its graph.
func withGraph(t *testing.T, change func(graph wire) wire) []byte {
	data := written(t, 2, linearEncoder(grey4x4, random(64, 1), make([]float32, 4)), nil)
	var out wire
	for len(data) > 0 {
		field, kind, n := protowire.ConsumeField(data)
		if field == 7 && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(data)
			graph, _ := protowire.ConsumeBytes(data[tag:])
			out = out.bytes(7, change(slices.Clip(graph))...) // later fields do not change
		} else {
			out = append(out, data[:n]...)
		}
		data = data[n:]
	}
	return out
}

// TestAmbiguousGraphs: OpenCV reads each of these graphs differently than expected, and beyond its data if the sizes are large.
func TestAmbiguousGraphs(t *testing.T) {
	const side = 1 << 12
	row := wire{}.integer(1, side).integer(2, 1).bytes(9, make([]byte, 4*side)...)
	strides := wire{}.bytes(1, []byte("strides")...).integer(8, 0).integer(8, 0)
	for _, c := range []struct {
		name  string
		field protowire.Number // field of the graph: a node or a constant
		part  wire
		want  string
	}{
		{"numbers of another type", 5, wire{}.integer(1, 8).integer(2, 1).bytes(7, make([]byte, 8)...), "has 0 bytes of raw data and 8 numbers, 0 of them of its type"},
		{"raw data beside numbers", 5, wire{}.integer(1, 1).integer(2, 1).fixed32(4, 0).bytes(9, 0, 0, 0, 0), "has 4 bytes of raw data and 1 numbers"},
		{"raw data of parts", 5, wire{}.integer(1, 0).integer(2, 1).bytes(9, 0), "has 1 bytes of raw data and 0 numbers"},
		{"packed numbers of parts", 5, wire{}.integer(1, 1).integer(2, 1).bytes(4, 0, 0, 0, 0, 0), "found 5 bytes of packed numbers, expected a multiple of 4"},
		{"size of another wire type", 5, wire{}.integer(1, side).fixed32(1, 7).integer(2, 1), "field 1 of a constant has the wire type 5, expected 0"},
		{"two raw data", 5, wire{}.integer(1, 1).integer(2, 1).bytes(9, 0, 0, 0, 0).bytes(9, 0, 0, 0, 0), "found field 9 of a constant twice"},
		{"two types of data", 5, wire{}.integer(1, 1).integer(2, 1).integer(2, 1).bytes(9, 0, 0, 0, 0), "found field 2 of a constant twice"},
		{"two tensors", 1, wire{}.bytes(5, wire{}.bytes(1, 'a').bytes(5, row...).bytes(5, row...)...), "found field 5 of an attribute twice"},
		{"two names", 1, wire{}.bytes(5, strides.bytes(1, 'a')...), "found field 1 of an attribute twice"},
		{"name of another wire type", 1, wire{}.bytes(5, strides.integer(1, 0)...), "field 1 of an attribute has the wire type 0, expected 2"},
		{"two operators", 1, wire{}.bytes(4, 'a').bytes(4, 'b'), "found field 4 of a node twice"},
		{"a field beyond all", 1<<29 | 5, wire{}.integer(1, 1).integer(2, 8).bytes(9, 0), "found field 536870917, expected 1 to 536870911"},
		{"a type that is none", 13, wire{}.bytes(1, 'v').integer(2, 0), "field 2 of a value has the wire type 0, expected 2"},
	} {
		data := withGraph(t, func(graph wire) wire { return graph.bytes(c.field, c.part...) })
		if _, err := infer.Parse("ambiguous.onnx", data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", c.name, err, c.want)
		}
	}
	data := wire(withGraph(t, func(graph wire) wire { return graph })).bytes(7)
	if _, err := infer.Parse("ambiguous.onnx", data); err == nil || !strings.Contains(err.Error(), "found field 7 of the model twice") {
		t.Errorf("two graphs: found %v", err)
	}
}

// TestFoldedConstants: every node turns a constant of 1 MiB into 64 MiB, and OpenCV keeps the result. Twenty nodes need more memory than reading may take. The
// check of operators refuses such nodes; this test covers the second line of defence.
func TestFoldedConstants(t *testing.T) {
	row := wire{}.integer(1, 1).integer(1, 1<<18).integer(2, 1).bytes(8, 'r').bytes(9, make([]byte, 1<<20)...)
	join := wire{}.bytes(2, 'c').bytes(4, []byte("Concat")...)
	for range 64 {
		join = join.bytes(1, 'r')
	}
	for times, want := range map[int]string{1: "<nil>", 20: "reading the graph would take more than 1 GiB of memory"} {
		data := withGraph(t, func(graph wire) wire {
			graph = graph.bytes(5, row...)
			for range times {
				graph = graph.bytes(1, join...)
			}
			return graph
		})
		if err := infer.OpenUnchecked(data, []int{1, 1, 4, 4}); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%d nodes: found %v, expected %s", times, err, want)
		}
		if _, err := infer.Parse("folded.onnx", data); err == nil {
			t.Errorf("%d nodes that read only constants were accepted", times)
		}
	}
}

// TestExternalData: constants in another file are refused, because a model is one file.
func TestExternalData(t *testing.T) {
	data := withGraph(t, func(graph wire) wire { return graph.bytes(5, wire{}.integer(14, 1)...) }) // data_location: external
	if _, err := infer.Parse("external.onnx", data); err == nil || !strings.Contains(err.Error(), "export the model as one file") {
		t.Errorf("found %v, expected external data to be refused", err)
	}
}
