// Package infer runs trained encoders and decoders: ONNX files on OpenCV's DNN module, but for the convolutions with which an
// encoder begins and the vectors behind them, which are our own. A model file carries its card, which says how its pictures must
// be prepared; an ONNX encoder trained elsewhere has a model card in YAML beside it.
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
)

// maxCardFile bounds a model card in YAML, in bytes.
const maxCardFile = 256 << 10

// Model is a model file that was read, checked and tried. It is immutable: any number of goroutines may call NewEncoder.
type Model struct {
	Card   card.Card
	Digest string // SHA-256 of the model file, hexadecimal

	name             string
	encoder, decoder []byte   // ONNX; decoder is nil where the model has none
	trunk            *trunk   // nil where OpenCV runs the whole encoder
	left             []byte   // ONNX: the encoder without its trunk
	readout          *readout // left, compiled; nil where OpenCV runs it
}

// Load reads the model file at path. An ONNX file without a card takes it from the YAML file beside it: encoder.yaml for
// encoder.onnx. A file that is torn, contradicts its card, or that OpenCV cannot run is refused with the reason.
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

// Parse reads a model file from memory; name stands for it in errors. Without a card in the file the error wraps
// card.ErrNoCard. The model keeps data.
func Parse(name string, data []byte) (*Model, error) {
	file, err := card.Read(data)
	if errors.Is(err, card.ErrNoCard) {
		return nil, fmt.Errorf("model %s: %w, which must hold version, input, latent, preprocess, dt_s, sigma, mean, sd: "+
			"export it with pretrain", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %s", name, oneLine(err))
	}
	return build(name, data, file)
}

// build tries both graphs against the card.
func build(name string, data []byte, file *card.File) (*Model, error) {
	digest := sha256.Sum256(data)
	m := &Model{
		Card: file.Card, Digest: hex.EncodeToString(digest[:]),
		name: name, encoder: file.Encoder, decoder: file.Decoder,
	}
	e, err := m.NewEncoder()
	if err != nil {
		return nil, err
	}
	m.split(e)
	return m, e.Close()
}

// split takes the encoder's trunk from OpenCV, and what is left where that can be, where the model then gives the same. OpenCV 4.6 reads
// some operators otherwise where a convolution stands before them, so one picture is tried on both; whole is the encoder as OpenCV runs it.
func (m *Model) split(whole *Encoder) {
	in := m.Card.Input
	t, left := cut(m.encoder, []int{1, in.Channels, in.Height, in.Width})
	second, err := m.second()
	if t == nil || err != nil {
		return
	}
	m.trunk, m.left = t.pack(widest()), left
	m.readout = newReadout(left, t.output(), second, outputMean, outputLogSD)
	if m.readout != nil && m.agrees(whole) {
		return
	}
	if m.readout = nil; !m.agrees(whole) {
		m.trunk, m.left = nil, nil
	}
}

// agrees says whether an encoder as the model now opens it gives the same as whole.
func (m *Model) agrees(whole *Encoder) bool {
	e, err := m.openEncoder()
	if err != nil {
		return false
	}
	defer e.Close()
	return e.agrees(whole)
}

// Whole is the same model with OpenCV running the whole encoder, to compare with.
func (m *Model) Whole() *Model {
	w := *m
	w.trunk, w.left, w.readout = nil, nil, nil
	return &w
}

// HasDecoder reports whether pictures can be made from latents.
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
		return nil, fmt.Errorf("%s: the file has %d bytes, at most %d are read: give the right file", path, info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s: the file is empty: export or copy it again", path)
	}
	return data, nil
}

// readCard decodes a model card strictly. The card's own Validate follows.
func readCard(text []byte) (*card.Card, error) {
	for _, t := range lexer.Tokenize(string(text)) {
		if t.Type == token.AnchorType || t.Type == token.AliasType {
			return nil, fmt.Errorf("line %d: anchors and aliases are not read: write the values out", t.Position.Line)
		}
	}
	var c card.Card
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&c); err != nil {
		return nil, yamlError(err)
	}
	return &c, c.Validate()
}

// oneLine joins what a card's Validate found wrong.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// yamlError is the library's error on one line, with the line it is about.
func yamlError(err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil {
		return fmt.Errorf("line %d: %s", e.GetToken().Position.Line, e.GetMessage())
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}
