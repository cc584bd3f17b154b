package infer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrGraph is in the chain of every error that refuses a graph, because of an operator that is not allowed or a failed trial.
var ErrGraph = errors.New("the graph is refused")

// Bounds on a whole graph. guard.cc also bounds the memory that OpenCV reports for a run.
const (
	maxNodes    = 2048
	maxRank     = 6
	maxElements = 1 << 27 // numbers in all values, per picture
	maxProducts = 1 << 35 // multiplications per picture: a few seconds of one core
)

// known describes a value before the graph runs.
type known struct {
	shape    []int
	constant *constant // nil if the value depends on the graph's input
}

// call is a node with the shapes of its inputs.
type call struct {
	node     *node
	in       []known // one per input; an omitted input has no shape
	products int64   // multiplications per output value
}

// inference computes the shapes of a graph's values, node by node from the inputs.
type inference struct {
	values             map[string]known
	elements, products int64
}

// checkOperators refuses a graph with an operator, or a variant of one, that is not in the list. Shapes must be consistent with each other and with the given
// inputs, and stay within the bounds. Every node must depend on an input, because OpenCV 4.6 folds all other nodes into constants and some of its operators
// hang then. checkStructure must have accepted the graph.
func checkOperators(onnx []byte, inputs ...[]int) error {
	_, err := shapes(onnx, inputs...)
	return err
}

// shapes returns the shapes of a graph's values, or the error of checkOperators.
func shapes(onnx []byte, inputs ...[]int) (map[string]known, error) {
	g, ok := readGraph(onnx)
	if !ok {
		return nil, errors.New("a value or an attribute is defined twice, or an attribute has values of two types: the file is damaged, export or copy it again")
	}
	if len(g.nodes) > maxNodes {
		return nil, fmt.Errorf("found %d nodes, expected at most %d: export a smaller encoder", len(g.nodes), maxNodes)
	}
	f := &inference{values: map[string]known{}}
	if err := f.begin(g, inputs); err != nil {
		return nil, err
	}
	for _, n := range g.nodes {
		if err := f.add(n); err != nil {
			return nil, fmt.Errorf("node %.80q (%.40s): %w", strings.Join(n.outputs, " "), n.op, err)
		}
	}
	for _, name := range g.outputs {
		if v, made := f.values[name]; !made || v.constant != nil || slices.Contains(g.inputs, name) {
			return nil, fmt.Errorf("no node computes the graph's output %.80q: export it again", name)
		}
	}
	return f.values, nil
}

// begin records the constants and the inputs. The declared inputs must match the given ones.
func (f *inference) begin(g *graph, inputs [][]int) error {
	if len(g.inputs) != len(inputs) {
		return fmt.Errorf("found %d inputs, expected %d", len(g.inputs), len(inputs))
	}
	for i, name := range g.inputs {
		if declared := g.shapes[i]; !slices.Equal(declared, inputs[i]) {
			return fmt.Errorf("its input %.80q is declared with the shape %s, expected float32 of shape %s: export it with the fixed sizes of the card",
				name, sizes(declared), sizes(inputs[i]))
		}
		f.values[name] = known{shape: inputs[i]}
	}
	for name, tensor := range g.tensors {
		f.values[name] = known{constant: readConstant(tensor)}
	}
	for name, v := range f.values {
		if v.constant != nil {
			f.values[name] = known{v.constant.shape, v.constant}
		}
	}
	return nil
}

// sizes formats a shape as 1x3x64x64.
func sizes(shape []int) string {
	if len(shape) == 0 {
		return "no dimensions"
	}
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", "x"), "[]")
	return text
}

// add checks a node and records its outputs.
func (f *inference) add(n *node) error {
	o, listed := allowed[n.op]
	if !listed || n.domain != "" && n.domain != "ai.onnx" {
		return fmt.Errorf("found the operator %.40s, which is not supported: export the model without it; supported operators: %s", n.op, allowedNames())
	}
	for name, a := range n.attributes {
		r, listed := o.attributes[name]
		if !listed {
			return fmt.Errorf("found the attribute %.40q, which is not supported: export the model without it", name)
		}
		if r.form == formTensor && a.form == formTensor {
			continue
		}
		if err := r.check(a); err != nil {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	if len(n.outputs) < 1 || len(n.outputs) > max(o.outputs, 1) || slices.Contains(n.outputs, "") {
		return fmt.Errorf("found %d outputs, expected 1 to %d, each with a name", len(n.outputs), max(o.outputs, 1))
	}
	if n.op == "Constant" {
		return f.constant(n)
	}
	c := &call{node: n, products: 1}
	if err := c.read(o, f.values); err != nil {
		return err
	}
	shapes, err := o.infer(c)
	if err != nil {
		return err
	}
	return f.made(c, shapes)
}

// constant records the value of a Constant node.
func (f *inference) constant(n *node) error {
	a, given := n.attributes["value"]
	if !given || len(n.inputs) > 0 {
		return errors.New("expected the attribute value and no inputs: export the model again")
	}
	t := readConstant(a.tensor)
	f.values[n.outputs[0]] = known{t.shape, t}
	return nil
}

// read looks up a node's inputs and compares each with its role.
func (c *call) read(o operator, values map[string]known) error {
	roles, more := o.roles()
	for more && len(roles) < len(c.node.inputs) && len(roles) < maxInputs {
		roles = append(roles, roles[0])
	}
	least := 0
	for i, r := range roles {
		if !r.optional {
			least = i + 1
		}
	}
	if len(c.node.inputs) < min(least, len(roles)) || len(c.node.inputs) > len(roles) {
		return fmt.Errorf("found %d inputs, expected %q", len(c.node.inputs), o.inputs)
	}
	depends := false
	for i, name := range c.node.inputs {
		var v known // the empty name has no shape
		if name != "" {
			v = values[name]
		}
		if err := roles[i].check(name, v); err != nil {
			return err
		}
		depends = depends || name != "" && v.constant == nil
		c.in = append(c.in, v)
	}
	for len(c.in) < len(roles) {
		c.in = append(c.in, known{})
	}
	if !depends {
		return errors.New("depends on no input of the graph, and OpenCV does not run such a node: export the model with its constants folded")
	}
	return nil
}

// check compares a value with an input's role.
func (r role) check(name string, v known) error {
	switch {
	case name == "" && r.optional:
		return nil
	case name == "":
		return fmt.Errorf("its %s is missing", r.name)
	case r.mark == 0 && v.constant != nil:
		return fmt.Errorf("its %s is the constant %.80q, expected a value that depends on the graph's input: export the model with its constants folded", r.name, name)
	case (r.mark == '*' || r.mark == '#') && v.constant == nil:
		return fmt.Errorf("its %s is %.80q, expected a constant: export the model with fixed sizes", r.name, name)
	case v.constant == nil:
		return nil
	}
	kind, what := int64(typeFloat), "float32"
	if r.mark == '#' {
		kind, what = typeInt64, "int64"
	}
	if v.constant.kind != kind || len(v.shape) > maxRank {
		return fmt.Errorf("its %s %.80q has the type %d and %d dimensions, expected %s and at most %d", r.name, name, v.constant.kind, len(v.shape), what, maxRank)
	}
	if count(v.shape) == 0 && r.name != "roi" && r.name != "scales" {
		return fmt.Errorf("its %s %.80q is empty", r.name, name)
	}
	return nil
}

// made records the shapes of a node's outputs and checks the bounds.
func (f *inference) made(c *call, shapes [][]int) error {
	if len(shapes) != len(c.node.outputs) {
		return fmt.Errorf("found %d outputs, expected %d", len(c.node.outputs), len(shapes))
	}
	for i, shape := range shapes {
		if len(shape) < 1 || len(shape) > maxRank || slices.Min(shape) < 1 || slices.Max(shape) > maxDim {
			return fmt.Errorf("computes a value of shape %s, expected 1 to %d dimensions of size 1 to %d", sizes(shape), maxRank, maxDim)
		}
		n := count(shape)
		f.elements += n
		if n > maxElements || f.elements > maxElements || c.products > maxProducts/n {
			return tooMuch(shape)
		}
		if f.products += n * c.products; f.products > maxProducts {
			return tooMuch(shape)
		}
		f.values[c.node.outputs[i]] = known{shape: shape}
	}
	return nil
}

func tooMuch(shape []int) error {
	return fmt.Errorf("with its output of shape %s one picture needs more than %d values or %d multiplications: export a smaller model", sizes(shape), maxElements, maxProducts)
}
