// Package configs embeds the shipped encoders and a site's accounts in the program. The YAML files in this folder are runnable examples;
// README.md explains every key.
package configs

import (
	"embed"
	"fmt"
)

//go:embed *.onnx site/hall.conf
var files embed.FS

// Model returns the shipped encoder called name, as an ONNX file.
func Model(name string) ([]byte, error) {
	data, err := files.ReadFile(name + ".onnx")
	if err != nil {
		return nil, fmt.Errorf("model embedded:%s is not in this program: give embedded:molecule or the path of an .onnx file", name)
	}
	return data, nil
}

// SiteAccounts returns the accounts of a site's NATS server, from site/hall.conf. Passwords are variables that begin with $.
func SiteAccounts() string {
	data, err := files.ReadFile("site/hall.conf")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}
