// Package infer runs trained encoders and decoders from ONNX files. OpenCV's DNN module runs them, except for an encoder's first convolutions (trunk) and the
// vector layers after them (readout), which run in our own code. A model file contains a card, which describes how to prepare pictures. An ONNX encoder trained
// elsewhere has its card in a YAML file beside it.
package infer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"driftscope/infer/card"
	"driftscope/internal/kit/console"
)

// Bounds on a model card in YAML. For most kinds of input the parser's time grows quadratically with the size.
const (
	maxCardFile  = 64 << 10 // bytes
	maxCardDepth = 16       // nesting of brackets, and number of dashes on one line
)

// Names of a model's outputs and of its second input, the clock. A foreign encoder may instead have one output of 2d values: the means, followed by the
// logarithms of the standard deviations.
const (
	inputTime     = "t"
	outputMean    = "mean"
	outputLogSD   = "log_sd"
	outputPicture = "x"
)

// Model is a checked model file. A build with OpenCV has also run it once. A Model is immutable, so any number of goroutines may call NewEncoder.
type Model struct {
	Card   card.Card
	Digest string // SHA-256 of the model file, hexadecimal

	name             string
	encoder, decoder []byte // ONNX; decoder is nil if the model has none
	kernels
}

// Load reads the model file at path. An ONNX file without a card takes its card from the YAML file beside it: encoder.yaml for encoder.onnx. Load returns an
// error if the file is incomplete or contradicts its card, or if OpenCV cannot run it.
func Load(path string) (*Model, error) {
	data, err := readFile(path, card.MaxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("model: %s: %w: give a file that driftscope pretrain wrote, or embedded:molecule", path, os.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	m, err := Parse(path, data)
	if !errors.Is(err, card.ErrNoCard) {
		return m, err
	}
	beside := strings.TrimSuffix(path, filepath.Ext(path)) + ".yaml"
	text, cardErr := readFile(beside, maxCardFile)
	if errors.Is(cardErr, os.ErrNotExist) {
		return nil, fmt.Errorf("%w, or write them to %s", err, beside)
	}
	if cardErr != nil {
		return nil, fmt.Errorf("model card: %w", cardErr)
	}
	c, cardErr := readCard(text)
	if cardErr != nil {
		return nil, fmt.Errorf("model card %s: %s", beside, oneLine(cardErr))
	}
	return build(path, data, &card.File{Card: *c, Encoder: data})
}

// Parse reads a model file from memory. Errors call the file `name`. If the file has no card, the error wraps card.ErrNoCard. The model refers to data, so the
// caller must not change it.
func Parse(name string, data []byte) (*Model, error) {
	file, err := card.Read(data)
	if errors.Is(err, card.ErrNoCard) {
		return nil, fmt.Errorf("model %s: %w, which must hold version, input, latent, preprocess, dt_s, train_s, sigma, mean, sd: "+
			"export it with pretrain", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %s", name, oneLine(err))
	}
	return build(name, data, file)
}

// build checks both graphs against the card and runs each once. A foreign graph first runs in a child process.
func build(name string, data []byte, file *card.File) (*Model, error) {
	digest := sha256.Sum256(data)
	m := &Model{
		Card: file.Card, Digest: hex.EncodeToString(digest[:]),
		name: name, encoder: file.Encoder, decoder: file.Decoder,
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := m.tried(); err != nil {
		return nil, err
	}
	return m, nil
}

// graphError reports a refused graph. Its text is the text of the wrapped error.
type graphError struct{ error }

func (e graphError) Unwrap() error { return e.error }

// Is matches ErrGraph and console.ErrFailed: the failure is not a mistake of the user, because this file would have ended the process.
func (e graphError) Is(target error) bool { return target == ErrGraph || target == console.ErrFailed }

// check compares both graphs with the list of allowed operators, using the card's sizes. It does not call OpenCV.
func (m *Model) check() error {
	in, d := m.Card.Input, m.Card.Latent
	second, err := m.second()
	if err != nil {
		return fmt.Errorf("model %s: %w", m.name, err)
	}
	if err := checkGraphs(m.encoder, m.inputs(second)...); err != nil {
		return graphError{fmt.Errorf("model %s: the encoder does not run on the card's input of %dx%dx%d (channels, height, width): the ONNX graph: %w",
			m.name, in.Channels, in.Height, in.Width, err)}
	}
	if m.decoder == nil {
		return nil
	}
	if err := checkGraphs(m.decoder, []int{1, d}); err != nil {
		return graphError{fmt.Errorf("model %s: the decoder does not run on %d latents: the ONNX graph: %w", m.name, d, err)}
	}
	return nil
}

// inputs returns the shapes of the encoder's inputs. The second input may be a clock.
func (m *Model) inputs(second string) [][]int {
	in := m.Card.Input
	shapes := [][]int{{1, in.Channels, in.Height, in.Width}}
	if second != "" {
		shapes = append(shapes, []int{1, 1})
	}
	return shapes
}

// second returns the name of the encoder's second input, or "" if it has none. It compares the inputs with the card.
func (m *Model) second() (string, error) {
	names, seconds := inputs(m.encoder), m.Card.Clock
	switch {
	case seconds == 0 && len(names) <= 1:
		return "", nil
	case seconds > 0 && len(names) == 2 && names[1] == inputTime:
		return inputTime, nil
	case seconds > 0:
		return "", fmt.Errorf("the encoder's inputs are %q, but the card's clock_s: %g needs a picture followed by %q: correct the card", names, seconds, inputTime)
	}
	return "", fmt.Errorf("the encoder's inputs are %q, but a card without clock_s needs a picture as the only input: correct the card", names)
}

// checkGraphs compares a graph with the list of allowed operators, for inputs of these shapes.
func checkGraphs(onnx []byte, inputs ...[]int) error {
	if err := checkStructure(onnx); err != nil {
		return err
	}
	return checkOperators(onnx, inputs...)
}

// HasDecoder reports whether the model makes pictures from latents.
func (m *Model) HasDecoder() bool { return m.decoder != nil }

// readFile reads at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: the file has %d bytes, at most %d expected: give the right file", path, info.Size(), limit)
	}
	data := make([]byte, info.Size()) // one allocation, because a growing buffer needs twice the memory
	switch _, err := io.ReadFull(f, data); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s: the file became shorter while it was read: copy it again", path)
	case err != nil:
		return nil, fmt.Errorf("%w: give the path of a file", err) // err names the path
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s: the file is empty: export or copy it again", path)
	}
	return data, nil
}

// readCard decodes a model card strictly and checks it.
func readCard(text []byte) (*card.Card, error) {
	brackets, dashes, line := 0, 0, 0
	for _, t := range lexer.Tokenize(string(text)) {
		if t.Position.Line != line {
			dashes, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.AnchorType, token.AliasType:
			return nil, fmt.Errorf("line %d: anchors and aliases are not supported: write the values out", line)
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType:
			dashes++
		}
		if max(brackets, dashes) > maxCardDepth {
			return nil, fmt.Errorf("line %d: nested deeper than %d: simplify", line, maxCardDepth)
		}
	}
	var c card.Card
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&c); err != nil {
		return nil, yamlError(err)
	}
	if err := c.Validate(); err != nil {
		return nil, withLines(err, string(text))
	}
	return &c, nil
}

// withLines prefixes each error with the line number of its key.
func withLines(err error, text string) error {
	var found []string
	for wrong := range strings.Lines(err.Error()) {
		wrong = strings.TrimSpace(wrong)
		key, line := wrong[:max(0, strings.IndexAny(wrong, ".[:"))], 0
		for entry := range strings.Lines(text) {
			if line++; key != "" && strings.HasPrefix(entry, key+":") {
				wrong = fmt.Sprintf("line %d: %s", line, wrong)
				break
			}
		}
		found = append(found, wrong)
	}
	return errors.New(strings.Join(found, "; "))
}

// oneLine joins the errors of a card's Validate.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// yamlError formats the library's error on one line, with its line number.
func yamlError(err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil {
		return fmt.Errorf("line %d: %s", e.GetToken().Position.Line, e.GetMessage())
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}
