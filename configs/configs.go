// Package configs embeds the shipped encoders in the program. The YAML files beside it are runnable examples; README.md
// explains every key.
package configs

import (
	"embed"
	"fmt"
)

//go:embed *.onnx
var files embed.FS

// Model returns the shipped encoder called name, as an ONNX file.
func Model(name string) ([]byte, error) {
	data, err := files.ReadFile(name + ".onnx")
	if err != nil {
		return nil, fmt.Errorf("model embedded:%s is not in this program: give embedded:molecule or the path of an .onnx file", name)
	}
	return data, nil
}
