// Package model opens the models that users name: files, and those inside the program.
package model

import (
	"fmt"
	"strings"

	"driftscope/configs"
	"driftscope/infer"
	"driftscope/internal/kit/console"
)

// What the name of a model begins with that is part of the program, or kept on the NATS server.
const (
	Embedded = "embedded:"
	OnServer = "nats:"
)

// Default is what an empty model means.
const Default = "molecule"

// Open loads a model file, or embedded:NAME.
func Open(name string) (*infer.Model, error) {
	m, err := open(name)
	return m, console.About(console.ModelsPage, err)
}

func open(name string) (*infer.Model, error) {
	if kept, found := strings.CutPrefix(name, OnServer); found {
		return nil, fmt.Errorf("model %s: only run takes models from a server: driftscope model get %s, and give the file", name, kept)
	}
	data, found, err := Shipped(name)
	switch {
	case err != nil:
		return nil, err
	case found:
		return infer.Parse(name, data)
	}
	return infer.Load(name)
}

// OpenScene is Open, and refuses a model of objects, which draws and reads what is around one of many.
func OpenScene(name string) (*infer.Model, error) {
	m, err := Open(name)
	if err == nil && m.Card.Objects != nil {
		return nil, fmt.Errorf("model %s: is one of objects, expected one of a whole scene: it goes with run --objects", name)
	}
	return m, err
}

// Shipped returns the file for embedded:NAME; found is false for other names.
func Shipped(name string) (data []byte, found bool, err error) {
	if name, found = strings.CutPrefix(name, Embedded); found {
		data, err = configs.Model(name)
	}
	return data, found, err
}
