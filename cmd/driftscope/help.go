package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// briefHelp fits the program's --help on one screen.
var briefHelp = []kong.Option{kong.Help(help)}

// help prints one line per command, by group. If a command is selected, kong prints its help and help adds examples.
func help(o kong.HelpOptions, k *kong.Context) error {
	if at := k.Selected(); at != nil {
		if err := kong.DefaultHelpPrinter(o, k); err != nil || len(examples[at.Path()]) == 0 {
			return err
		}
		_, err := fmt.Fprintf(k.Stdout, "\nExamples:\n  %s\n", strings.Join(examples[at.Path()], "\n  "))
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s COMMAND. %[1]s COMMAND --help lists its flags.\n", k.Model.Name)
	group := ""
	for _, c := range k.Model.Children {
		if c.Hidden || c.Name == "completion" { // the list fits on a screen
			continue
		}
		title := ""
		if c.Group != nil && c.Group.Title != group {
			title = c.Group.Title
			group = title
		}
		fmt.Fprintf(&b, "%-9s %-10s %s\n", title, c.Name, c.Help)
	}
	_, err := fmt.Fprint(k.Stdout, b.String())
	return err
}

// examples are command lines to start from, by the command's path.
var examples = map[string][]string{
	"run": {"driftscope run film.tif --fps 25 --pixel-um 0.1 --out tracks.csv", "driftscope run camera:0 --objects",
		"driftscope run bead.yaml"},
	"batch":         {"driftscope batch films --objects --fps 25 --format csv --out results"},
	"demo":          {"driftscope demo", "driftscope demo --once --out tracks.csv"},
	"watch":         {"driftscope watch", "driftscope watch --stream bead --json --nats nats://scope1:4222"},
	"view":          {"driftscope view tracks.csv --film film.tif"},
	"dashboard":     {"driftscope dashboard --nats nats://hub:4222 --websocket ws://hub:8080"},
	"pretrain":      {"driftscope pretrain film.tif --fps 25 --out bead.onnx"},
	"eval":          {"driftscope eval --model bead.onnx --video film --truth film/truth.csv", "driftscope eval --tracks film/tracks.csv --result tracks.csv"},
	"sample":        {"driftscope sample --model bead.onnx --out film"},
	"model put":     {"driftscope model put bead.onnx --nats nats://scope1:4222"},
	"model list":    {"driftscope model list --nats nats://scope1:4222"},
	"model get":     {"driftscope model get bead --out bead.onnx --nats nats://scope1:4222"},
	"model remove":  {"driftscope model remove bead --nats nats://scope1:4222"},
	"law":           {"driftscope law tracks.csv --fps 25 --pixel-um 0.1"},
	"pool":          {"driftscope pool scope1 scope2 --name both --nats nats://hub:4222"},
	"probe":         {"driftscope probe film.tif --fps 25 --out look"},
	"sources":       {"driftscope sources"},
	"publish":       {"driftscope publish film.tif --fps 25 --subject camera.bead --nats nats://hub:4222"},
	"simulate":      {"driftscope simulate vesicle --frames 500 --out film"},
	"server":        {"driftscope server --store nats", "driftscope server --store nats --listen 0.0.0.0:4222"},
	"site init":     {"driftscope site init --camera bead --nats nats://hub:4222"},
	"stream add":    {"driftscope stream add bead.yaml --nats nats://hub:4222"},
	"stream list":   {"driftscope stream list --nats nats://hub:4222"},
	"stream show":   {"driftscope stream show bead --nats nats://hub:4222"},
	"stream move":   {"driftscope stream move bead --to worker2 --nats nats://hub:4222"},
	"stream remove": {"driftscope stream remove bead --nats nats://hub:4222"},
	"work":          {"driftscope work --cores 8 --nats nats://hub:4222"},
	"lint":          {"driftscope lint bead.yaml"},
	"doctor":        {"driftscope doctor"},
	"version":       {"driftscope version --json"},
	"completion":    {"source <(driftscope completion bash)"},
}
