package card

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// MaxFile is the size of the largest model file, in bytes.
const MaxFile = 256 << 20

// The metadata keys of a model file.
const (
	keyCard    = "driftscope.card"
	keyDecoder = "driftscope.decoder"
)

// ErrNoCard reports an ONNX file without a card, such as one trained elsewhere.
var ErrNoCard = errors.New("the ONNX file carries no " + keyCard + " metadata")

// Property is one metadata entry of an ONNX file.
type Property struct{ Key, Value string }

// File holds the parts of a model file.
type File struct {
	Card    Card
	Encoder []byte // the whole file, which an ONNX runtime reads as the encoder's graph
	Decoder []byte // a separate ONNX file, nil if the model has none
}

// Write encodes a model file: the encoder's graph with the card and the decoder in its metadata. It returns an error if the card is invalid.
func Write(c *Card, encoder, decoder *Graph) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	props := []Property{{keyCard, string(text)}}
	if decoder != nil {
		props = append(props, Property{keyDecoder, base64.StdEncoding.EncodeToString(decoder.Marshal(nil))})
	}
	return encoder.Marshal(props), nil
}

// Read splits a model file into its parts and checks its card. It returns ErrNoCard if the file has no card. The result refers to data.
func Read(data []byte) (*File, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("the model file has %d bytes, at most %d are read", len(data), MaxFile)
	}
	props, err := readProperties(data)
	if err != nil {
		return nil, err
	}
	text, ok := props[keyCard]
	if !ok {
		return nil, ErrNoCard
	}
	f := &File{Encoder: data}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f.Card); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", keyCard, err)
	}
	if err := f.Card.Validate(); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", keyCard, err)
	}
	if coded, ok := props[keyDecoder]; ok {
		if f.Decoder, err = base64.StdEncoding.DecodeString(string(coded)); err != nil {
			return nil, fmt.Errorf("metadata %s: %w", keyDecoder, err)
		}
	}
	return f, nil
}

// readProperties walks the top level of an ONNX ModelProto and collects metadata_props (field 14).
func readProperties(data []byte) (map[string][]byte, error) {
	torn := func(err error) error {
		return fmt.Errorf("the file is torn or not ONNX (%w): export or copy it again", err)
	}
	props, graph := map[string][]byte{}, false
	err := Fields(data, func(field protowire.Number, _ protowire.Type, entry []byte, _ uint64) error {
		graph = graph || field == 7
		if field != 14 || entry == nil {
			return nil
		}
		key, value, err := readProperty(entry)
		props[key] = value
		return err
	})
	if err != nil {
		return nil, torn(err)
	}
	if !graph {
		return nil, torn(errors.New("no graph inside"))
	}
	return props, nil
}

// readProperty parses one StringStringEntryProto.
func readProperty(b []byte) (key string, value []byte, err error) {
	err = Fields(b, func(field protowire.Number, _ protowire.Type, v []byte, _ uint64) error {
		switch field {
		case 1:
			key = string(v)
		case 2:
			value = v
		}
		return nil
	})
	return key, value, err
}
