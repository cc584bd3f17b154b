package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// operator lists the inputs, outputs and attributes that a kind of node may have. OpenCV 4.6 does not check everything that it trusts,
// so a form that is missing here is refused.
type operator struct {
	inputs     string // name and mark of each input: see role
	attributes map[string]rule
	outputs    int // maximum; 0 means 1
	infer      func(c *call) ([][]int, error)
}

// role describes one input of an operator. operator.inputs writes a role as a name and a mark. No mark: the input depends on the graph's input. *: a float32
// constant. #: an int64 constant. ~: a float32 constant, or a value that depends on the graph's input. A trailing ? marks an optional input. A trailing ...
// lets the name take up to maxInputs inputs.
type role struct {
	name     string
	mark     byte
	optional bool
}

// maxInputs is the largest number of inputs of a node, and of outputs.
const maxInputs = 64

func (o *operator) roles() (roles []role, more bool) {
	for name := range strings.FieldsSeq(o.inputs) {
		name, again := strings.CutSuffix(name, "...")
		name, optional := strings.CutSuffix(name, "?")
		r := role{name: name, optional: optional}
		if i := strings.IndexAny(name, "*#~"); i >= 0 {
			r.name, r.mark = name[:i], name[i]
		}
		roles, more = append(roles, r), more || again
	}
	return roles, more
}

// rule bounds an attribute.
type rule struct {
	form      protowire.Number
	low, high float64 // bounds on each number
	count     int     // number of integers; 0 allows any number up to maxInputs
	words     []string
}

func integer(low, high float64) rule { return rule{form: formInt, low: low, high: high} }
func integers(n int, low, high float64) rule {
	return rule{form: formInts, low: low, high: high, count: n}
}
func number(low, high float64) rule { return rule{form: formFloat, low: low, high: high} }
func word(words ...string) rule     { return rule{form: formText, words: words} }
func with(a, b map[string]rule) map[string]rule {
	all := map[string]rule{}
	for _, rules := range []map[string]rule{a, b} {
		for name, r := range rules {
			all[name] = r
		}
	}
	return all
}

// check compares an attribute with its rule.
func (r rule) check(a attribute) error {
	if a.form != r.form {
		return fmt.Errorf("found an attribute of type %d, expected type %d", a.form, r.form)
	}
	switch {
	case r.form == formText && !slices.Contains(r.words, a.text):
		return fmt.Errorf("found %.40q, expected %s", a.text, strings.Join(r.words, " or "))
	case r.form == formFloat && !(float64(a.float) >= r.low && float64(a.float) <= r.high):
		return fmt.Errorf("found %g, expected %g to %g", a.float, r.low, r.high)
	case r.form == formInts && (r.count > 0 && len(a.ints) != r.count || len(a.ints) == 0 || len(a.ints) > maxInputs):
		return fmt.Errorf("found %d numbers, expected %d", len(a.ints), max(r.count, 1))
	}
	for _, i := range a.ints {
		if float64(i) < r.low || float64(i) > r.high {
			return fmt.Errorf("found %d, expected %g to %g", i, r.low, r.high)
		}
	}
	return nil
}

const maxFloat = math.MaxFloat32

// Rules for attributes that several operators share.
var (
	itself   = word("NOTSET", "SAME_UPPER", "VALID")
	axis     = integer(-maxRank, maxRank-1)
	axes     = integers(0, -maxRank, maxRank-1)
	yesOrNo  = integer(0, 1)
	windowed = map[string]rule{
		"kernel_shape": integers(2, 1, maxAttribute), "strides": integers(2, 1, maxAttribute), "pads": integers(4, 0, maxAttribute),
	}
	pooling  = with(windowed, map[string]rule{"auto_pad": itself, "ceil_mode": yesOrNo})
	reducing = map[string]rule{"axes": axes, "keepdims": yesOrNo}
)

// allowed lists the operators of ONNX's own domain that a graph may contain. docs/reference/models.md has the same list; a test compares the two.
var allowed = map[string]operator{
	"Abs": each1, "Ceil": each1, "Exp": each1, "Floor": each1, "HardSwish": each1, "Identity": each1, "Log": each1, "Neg": each1,
	"Relu": each1, "Sigmoid": each1, "Softplus": each1, "Sqrt": each1, "Tanh": each1,

	"Elu":       {inputs: "x", attributes: map[string]rule{"alpha": number(-maxFloat, maxFloat)}, infer: same},
	"LeakyRelu": {inputs: "x", attributes: map[string]rule{"alpha": number(-maxFloat, maxFloat)}, infer: same},
	"PRelu":     {inputs: "x slope*", infer: slope},
	"Clip":      {inputs: "x", attributes: map[string]rule{"min": number(-maxFloat, maxFloat), "max": number(-maxFloat, maxFloat)}, infer: clip},
	"Dropout":   {inputs: "x ratio*?", attributes: map[string]rule{"ratio": number(0, 1), "seed": integer(math.MinInt64, math.MaxInt64)}, infer: same},
	"Softmax":   {inputs: "x", attributes: map[string]rule{"axis": axis}, infer: alongAxis},

	"Add": each2, "Sub": each2, "Mul": each2, "Div": each2,
	"Pow": {inputs: "x exponent*", infer: power},

	"Conv": {inputs: "x weights* bias*?", infer: convolve, attributes: with(windowed, map[string]rule{
		"auto_pad": itself, "dilations": integers(2, 1, maxAttribute), "group": integer(1, maxDim)})},
	"ConvTranspose": {inputs: "x weights* bias*?", infer: convolveBack, attributes: with(windowed, map[string]rule{
		"auto_pad": word("NOTSET"), "dilations": integers(2, 1, 1), "group": integer(1, 1), "output_padding": integers(2, 0, maxAttribute)})},
	"MaxPool": {inputs: "x", infer: pool, attributes: with(pooling, map[string]rule{
		"dilations": integers(2, 1, 1), "storage_order": integer(0, 0)})},
	"AveragePool":           {inputs: "x", infer: pool, attributes: with(pooling, map[string]rule{"count_include_pad": yesOrNo})},
	"GlobalAveragePool":     {inputs: "x", infer: poolAll},
	"GlobalMaxPool":         {inputs: "x", infer: poolAll},
	"BatchNormalization":    {inputs: "x scale* bias* mean* variance*", infer: normalise, attributes: map[string]rule{"epsilon": number(0, 1), "momentum": number(0, 1), "training_mode": integer(0, 0)}},
	"InstanceNormalization": {inputs: "x scale* bias*", infer: normalise, attributes: map[string]rule{"epsilon": number(0, 1)}},

	"Gemm": {inputs: "x weights* bias*?", infer: gemm, attributes: map[string]rule{
		"alpha": number(1, 1), "beta": number(1, 1), "transA": integer(0, 0), "transB": integer(1, 1)}},
	"MatMul": {inputs: "x~ y~", infer: matMul},

	"ReduceMax": reduce, "ReduceMean": reduce, "ReduceSum": reduce,

	"Concat":    {inputs: "x~...", attributes: map[string]rule{"axis": axis}, infer: concatenate},
	"Flatten":   {inputs: "x", attributes: map[string]rule{"axis": integer(1, 1)}, infer: flatten},
	"Reshape":   {inputs: "x shape#", attributes: map[string]rule{"allowzero": integer(0, 0)}, infer: reshape},
	"Squeeze":   {inputs: "x", attributes: map[string]rule{"axes": axes}, infer: squeeze},
	"Unsqueeze": {inputs: "x axes#?", attributes: map[string]rule{"axes": integers(1, 0, maxRank-1)}, infer: unsqueeze},
	"Transpose": {inputs: "x", attributes: map[string]rule{"perm": integers(0, 0, maxRank-1)}, infer: transpose},
	"Split":     {inputs: "x", outputs: maxInputs, attributes: map[string]rule{"axis": axis, "split": integers(0, 1, maxDim)}, infer: split},
	"Slice": {inputs: "x starts#? ends#? axes#? steps#?", infer: slice, attributes: map[string]rule{
		"axes": axes, "starts": integers(0, math.MinInt64, math.MaxInt64), "ends": integers(0, math.MinInt64, math.MaxInt64)}},
	"Pad": {inputs: "x pads#? value*?", infer: pad, attributes: map[string]rule{
		"mode": word("constant", "reflect"), "pads": integers(0, 0, maxAttribute), "value": number(-maxFloat, maxFloat)}},
	"Resize": {inputs: "x roi*? scales*? sizes#?", infer: resize, attributes: map[string]rule{
		"mode": word("nearest", "linear"), "nearest_mode": word("floor", "round_prefer_floor"), "cubic_coeff_a": number(-maxFloat, maxFloat),
		"coordinate_transformation_mode": word("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners")}},
	"Upsample": {inputs: "x scales*", infer: upsample, attributes: map[string]rule{"mode": word("nearest")}},

	"Constant": {attributes: map[string]rule{"value": {form: formTensor}}},
}

var (
	each1  = operator{inputs: "x", infer: same}
	each2  = operator{inputs: "x~ y~", infer: elementwise}
	reduce = operator{inputs: "x", attributes: reducing, infer: reduced}
)

// allowedNames formats the list of operators for an error message.
func allowedNames() string {
	var names []string
	for name := range allowed {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
