// Command schemas writes docs/schemas: a JSON Schema for every kind of message and one AsyncAPI document, made from the Go types, their
// comments and their unit tags. go generate ./sinks runs it.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/natsink"
)

// draft is the JSON Schema version of the files.
const draft = "https://json-schema.org/draft/2020-12/schema"

// messages lists the records on NATS, by kind, with a description of each.
var messages = []struct {
	kind   string
	record any
	is     string
}{
	{"latent", message.LatentRecord{}, "one frame's latent and the drift there, every frame"},
	{"sde", message.SDERecord{}, "the law of motion, when it was refreshed"},
	{"event", message.EventRecord{}, "something that happened once"},
	{"trigger", message.TriggerRecord{}, "the condition of a rule begins or ends with this frame"},
	{"health", message.HealthRecord{}, "the state of the stream, every second and at the end; also the answer of cmd.stats"},
	{"view", message.ViewRecord{}, "what the encoder saw, and its reconstruction"},
	{"objects", message.ObjectsRecord{}, "of a field: every object, every frame"},
	{"track", message.TrackRecord{}, "of a field: an object is born, merged, split or ended"},
	{"population", message.PopulationRecord{}, "of a field: all objects together, every so many frames and at the end"},
	{"worker", message.WorkerRecord{}, "what a worker of a site runs, every second"},
	{"info", natsink.InfoRecord{}, "what runs: the answer of cmd.info"},
}

func main() {
	root := flag.String("root", ".", "folder of the project")
	flag.Parse()
	files, err := generate(*root)
	if err == nil {
		err = write(filepath.Join(*root, "docs", "schemas"), files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemas: "+err.Error())
		os.Exit(1)
	}
}

// generate returns every file, made from the types and from their comments in the source code under root.
func generate(root string) (map[string][]byte, error) {
	comments, err := readComments(filepath.Join(root, "sinks", "message"), filepath.Join(root, "sinks", "natsink"), filepath.Join(root, "internal", "flow", "latent"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, m := range messages {
		s := comments.object(reflect.TypeOf(m.record))
		s["$schema"], s["$id"] = draft, urn(m.kind)
		s["title"], s["description"] = m.kind, m.is
		properties := s["properties"].(object)
		properties["v"], properties["kind"] = object{"const": latent.Version}, object{"const": m.kind}
		files[m.kind+".schema.json"] = indented(s)
	}
	files["roi.schema.json"] = indented(object{
		"$schema": draft, "$id": urn("roi"), "title": "roi", "description": "the payload of cmd.roi: the upper left corner of the region",
		"type": "object", "required": []string{"x", "y"}, "additionalProperties": false,
		"properties": object{"x": object{"type": "integer", "minimum": 0, "x-unit": "px"}, "y": object{"type": "integer", "minimum": 0, "x-unit": "px"}},
	})
	files["model.schema.json"] = indented(object{
		"$schema": draft, "$id": urn("model"), "title": "model", "description": "the payload of cmd.model: the name of one that the server keeps, or back",
		"type": "object", "additionalProperties": false, "oneOf": []object{{"required": []string{"name"}}, {"required": []string{"back"}}},
		"properties": object{
			"name":   object{"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
			"sha256": object{"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "what the file's digest has to be"},
			"back":   object{"const": true},
		},
	})
	files["follow.schema.json"] = indented(object{
		"$schema": draft, "$id": urn("follow"), "title": "follow", "description": "the payload of cmd.follow: the number of an object",
		"type": "object", "required": []string{"id"}, "additionalProperties": false, "properties": object{"id": object{"type": "integer", "minimum": 1}},
	})
	px, um := object{"type": "array", "maxItems": 16384, "items": object{"type": "number"}, "x-unit": "px"}, object{"type": "array", "maxItems": 16384, "items": object{"type": "number"}, "x-unit": "µm"}
	files["places.schema.json"] = indented(object{
		"$schema": draft, "$id": urn("places"), "title": "places", "description": "the body of a frame of places on a subject that run --places reads: columns with one entry per object",
		"type": "object", "additionalProperties": false,
		"properties": object{
			"id":   object{"type": "array", "maxItems": 16384, "uniqueItems": true, "items": object{"type": "integer", "minimum": 1}},
			"x_px": px, "y_px": px, "sd_px": px, "x_um": um, "y_um": um, "sd_um": um,
		},
	})
	files["start.schema.json"] = indented(object{
		"$schema": draft, "$id": urn("start"), "title": "start", "description": "the payload of cmd.start, which may be empty",
		"type": "object", "additionalProperties": false,
		"properties": object{"config": object{"type": "boolean", "description": "take the configuration from KV, STREAM.config"}},
	})
	files["asyncapi.json"] = indented(asyncAPI())
	return files, nil
}

// urn returns the name of a schema.
func urn(name string) string { return fmt.Sprintf("urn:driftscope:v%d:%s", latent.Version, name) }

// indented returns readable JSON, the same every time.
func indented(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err) // v holds only maps, lists and text
	}
	return b.Bytes()
}

// write replaces the files.
func write(folder string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(folder, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
