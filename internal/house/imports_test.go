package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// root is the repository, seen from this package.
const root = "../.."

const module = "driftscope"

// mayImport is the table of imports: the packages of this project that a package may import directly. What lies under cmd may import all of them; another package that is not
// listed is refused until it is added here.
var mayImport = map[string][]string{
	"configs":                          {},
	"infer":                            {"infer/card", "internal/flow/frame", "internal/flow/latent", "internal/kit/console", "internal/kit/system"},
	"infer/card":                       {},
	"infer/field":                      {"infer", "infer/card", "infer/finder", "infer/locate", "internal/flow/frame", "internal/flow/latent", "internal/flow/pipeline"},
	"infer/finder":                     {"internal/kit/numbers"},
	"infer/locate":                     {"infer/locate/kernel", "internal/kit/numbers"},
	"infer/locate/kernel":              {"internal/kit/numbers"},
	"infer/sdevae":                     {"infer/card", "infer/sdevae/dnnl", "infer/sdevae/gauge", "infer/sdevae/network", "infer/sdevae/numeric", "infer/sdevae/onnx", "infer/sdevae/sprites", "infer/sdevae/verdict", "infer/sdevae/video", "internal/flow/latent", "internal/kit/archive", "online/drift", "online/offline"},
	"infer/sdevae/dnnl":                {},
	"infer/sdevae/gauge":               {"infer/sdevae/network", "infer/sdevae/numeric", "infer/sdevae/video", "internal/kit/numbers"},
	"infer/sdevae/network":             {"infer/sdevae/dnnl", "infer/sdevae/numeric", "infer/sdevae/video", "online/drift"},
	"infer/sdevae/numeric":             {"internal/kit/numbers"},
	"infer/sdevae/onnx":                {"infer/card", "infer/sdevae/dnnl", "infer/sdevae/gauge", "infer/sdevae/network", "infer/sdevae/numeric", "infer/sdevae/video"},
	"infer/sdevae/report":              {"infer/card", "infer/sdevae", "infer/sdevae/gauge", "infer/sdevae/numeric", "infer/sdevae/verdict", "infer/sdevae/video", "online/drift"},
	"infer/sdevae/sdevaetest":          {"infer/sdevae/numeric", "infer/sdevae/video"}, // for tests
	"infer/sdevae/sprites":             {"infer/sdevae/numeric", "infer/sdevae/video"},
	"infer/sdevae/verdict":             {"infer/sdevae/numeric", "infer/sdevae/video"},
	"infer/sdevae/video":               {"infer/sdevae/numeric"},
	"ingest":                           {"ingest/camera", "ingest/child", "ingest/files", "ingest/format", "ingest/natsource", "ingest/recorder", "ingest/sim", "ingest/sim/field", "ingest/timing", "internal/flow/frame", "internal/flow/pipeline", "internal/kit/console"},
	"ingest/avcodec":                   {},
	"ingest/bounded":                   {"ingest/tiff"},
	"ingest/camera":                    {"ingest/avcodec", "ingest/picture", "ingest/rtsp", "ingest/tiff", "internal/flow/frame", "internal/flow/pipeline"},
	"ingest/child":                     {"ingest/picture", "internal/flow/frame", "internal/flow/pipeline", "internal/kit/system"},
	"ingest/czi":                       {"ingest/bounded", "ingest/tiff"},
	"ingest/files":                     {"ingest/avcodec", "ingest/child", "ingest/czi", "ingest/fits", "ingest/follow", "ingest/format", "ingest/hdf5", "ingest/nd2", "ingest/picture", "ingest/tiff", "ingest/timing", "ingest/zarr", "internal/flow/frame", "internal/flow/pipeline"},
	"ingest/fits":                      {"ingest/tiff"},
	"ingest/follow":                    {"ingest/format"},
	"ingest/format":                    {"ingest/czi", "ingest/fits", "ingest/hdf5", "ingest/nd2", "internal/kit/system"},
	"ingest/hdf5":                      {"ingest/bounded", "ingest/tiff"},
	"ingest/ingesttest":                {"ingest/avcodec", "ingest/tiff", "internal/flow/frame", "internal/flow/pipeline"}, // for tests
	"ingest/natsource":                 {"ingest/picture", "ingest/tiff", "ingest/timing", "ingest/wire", "internal/flow/bus", "internal/flow/frame", "internal/flow/pipeline", "internal/flow/store"},
	"ingest/nd2":                       {"ingest/bounded", "ingest/tiff"},
	"ingest/picture":                   {"ingest/format", "ingest/tiff", "internal/flow/frame"},
	"ingest/recorder":                  {"ingest/format", "ingest/picture", "ingest/tiff", "ingest/zarr", "internal/flow/frame", "internal/flow/pipeline"},
	"ingest/rtsp":                      {},
	"ingest/sim":                       {"ingest/tiff"},
	"ingest/sim/field":                 {"ingest/sim"},
	"ingest/tiff":                      {},
	"ingest/timing":                    {"ingest/picture", "internal/flow/frame", "internal/flow/pipeline", "internal/kit/system"},
	"ingest/wire":                      {"ingest/tiff"},
	"ingest/zarr":                      {"ingest/bounded", "ingest/tiff"},
	"internal/flow/bus":                {"internal/flow/rights", "internal/kit/console"},
	"internal/flow/bus/bustest":        {"internal/suite"}, // for tests
	"internal/flow/config":             {"internal/kit/console"},
	"internal/flow/frame":              {},
	"internal/flow/latent":             {},
	"internal/flow/pipeline":           {"internal/flow/frame", "internal/flow/latent", "internal/kit/system"},
	"internal/flow/rights":             {},
	"internal/flow/store":              {"internal/flow/bus"},
	"internal/flow/trigger":            {"internal/flow/latent"},
	"internal/house":                   {},
	"internal/job/demo":                {"internal/flow/config", "internal/job/stream", "internal/kit/console", "internal/kit/system"},
	"internal/job/doctor":              {"ingest", "ingest/camera", "internal/flow/config", "internal/kit/console", "internal/kit/system", "sinks/web"},
	"internal/job/evaluation":          {"infer", "infer/card", "infer/sdevae", "internal/flow/frame", "internal/flow/latent", "internal/job/reach", "internal/job/recording", "internal/kit/console", "online/drift", "online/offline"},
	"internal/job/evaluation/tracking": {"internal/kit/numbers"},
	"internal/job/jobtest":             {"ingest", "ingest/natsource", "internal/flow/bus", "internal/flow/config", "internal/flow/latent", "internal/flow/pipeline", "sinks/message"}, // for tests
	"internal/job/law":                 {"internal/flow/latent", "internal/job/evaluation/tracking", "internal/kit/console", "internal/kit/system", "online/exact", "online/interactions", "online/maps", "online/states", "sinks/message"},
	"internal/job/reach":               {"configs", "infer", "internal/flow/config", "internal/kit/console"},
	"internal/job/recording":           {"infer/card", "infer/field", "infer/finder", "infer/sdevae/numeric", "infer/sdevae/video", "ingest", "ingest/picture", "internal/flow/config", "internal/flow/frame", "internal/flow/latent", "internal/flow/pipeline", "internal/kit/console", "internal/kit/numbers", "online/objects", "preprocess", "preprocess/illumination"},
	"internal/job/replay":              {"infer/field", "internal/flow/bus", "internal/flow/frame", "internal/flow/latent", "internal/flow/pipeline", "internal/job/evaluation/tracking", "internal/job/recording", "internal/kit/console", "sinks/message", "sinks/natsink"},
	"internal/job/stream":              {"infer", "infer/card", "infer/field", "infer/finder", "infer/sdevae", "ingest", "ingest/recorder", "internal/flow/bus", "internal/flow/config", "internal/flow/frame", "internal/flow/latent", "internal/flow/pipeline", "internal/flow/trigger", "internal/job/reach", "internal/job/recording", "internal/kit/console", "internal/kit/system", "online", "online/objects", "preprocess", "sinks", "sinks/message", "sinks/natsink", "sinks/web"},
	"internal/job/training":            {"infer/card", "infer/field", "infer/finder", "infer/sdevae", "infer/sdevae/gauge", "infer/sdevae/network", "infer/sdevae/report", "infer/sdevae/verdict", "infer/sdevae/video", "internal/flow/frame", "internal/flow/latent", "internal/job/reach", "internal/job/recording", "internal/kit/console", "internal/kit/system"},
	"internal/kit/archive":             {},
	"internal/kit/console":             {"internal/kit/system"},
	"internal/kit/numbers":             {},
	"internal/kit/system":              {},
	"internal/site":                    {"internal/flow/bus", "internal/flow/config", "internal/flow/store"},
	"internal/site/batch":              {"infer", "infer/card", "ingest", "ingest/format", "ingest/tiff", "ingest/timing", "internal/flow/bus", "internal/flow/config", "internal/flow/latent", "internal/job/reach", "internal/job/recording", "internal/job/stream", "internal/kit/console", "internal/kit/system", "sinks/message"},
	"internal/site/orders":             {"internal/flow/bus", "internal/flow/config", "internal/job/reach", "internal/job/recording", "internal/job/stream", "internal/kit/console", "internal/site"},
	"internal/site/pool":               {"internal/flow/bus", "internal/flow/latent", "internal/kit/console", "online/combine", "sinks/message"},
	"internal/site/work":               {"internal/flow/bus", "internal/flow/config", "internal/flow/latent", "internal/job/reach", "internal/job/recording", "internal/job/stream", "internal/kit/console", "internal/site", "internal/site/batch", "sinks/message", "sinks/natsink"},
	"internal/suite":                   {"internal/kit/system"}, // for tests
	"online":                           {"internal/flow/latent", "internal/kit/archive", "online/diffusion", "online/drift", "online/regression"},
	"online/change":                    {"online/states"},
	"online/combine":                   {},
	"online/diffusion":                 {"internal/flow/latent", "internal/kit/archive", "online/drift"},
	"online/drift":                     {"internal/kit/archive"},
	"online/exact":                     {},
	"online/interactions":              {"internal/kit/archive", "internal/kit/numbers"},
	"online/maps":                      {"internal/kit/archive"},
	"online/maps/mapstest":             {"internal/flow/latent", "online/drift", "online/offline"}, // for tests and benchmarks
	"online/objects":                   {"internal/flow/latent", "internal/kit/archive", "internal/kit/system", "online", "online/change", "online/diffusion", "online/exact", "online/interactions", "online/maps", "online/pooled", "online/population", "online/states", "online/tracks"},
	"online/offline":                   {"internal/flow/latent", "internal/kit/numbers", "online/diffusion", "online/drift", "online/regression"},
	"online/onlinetest":                {"internal/flow/latent", "online/exact"}, // for tests
	"online/pooled":                    {"internal/kit/archive", "internal/kit/system", "online/exact", "online/maps", "online/states"},
	"online/population":                {"internal/kit/archive"},
	"online/regression":                {"internal/flow/latent", "internal/kit/archive", "internal/kit/numbers", "internal/kit/system", "online/diffusion", "online/drift"},
	"online/states":                    {},
	"online/tracks":                    {"internal/kit/archive", "internal/kit/numbers"},
	"preprocess":                       {"internal/flow/frame", "internal/flow/pipeline", "internal/kit/numbers", "preprocess/illumination"},
	"preprocess/illumination":          {"internal/kit/numbers"},
	"sinks":                            {"internal/flow/bus", "internal/flow/latent", "sinks/file", "sinks/message", "sinks/natsink", "sinks/pin"},
	"sinks/file":                       {"ingest/zarr", "internal/flow/latent", "internal/kit/system", "sinks/message"},
	"sinks/message":                    {"internal/flow/latent"},
	"sinks/natsink":                    {"internal/flow/bus", "internal/flow/latent", "internal/flow/store", "sinks/message", "sinks/spool"},
	"sinks/pin":                        {"internal/flow/latent"},
	"sinks/schemas":                    {"internal/flow/latent", "sinks/message", "sinks/natsink"},
	"sinks/sinktest":                   {"internal/flow/bus", "internal/flow/config", "internal/flow/latent"}, // for tests
	"sinks/spool":                      {"internal/flow/latent", "internal/kit/system", "sinks/message"},
	"sinks/web":                        {"internal/flow/bus"},
}

// never lists what a package may not reach even through others, each for its reason.
var never = []struct{ from, target, reason string }{
	{"internal/flow/latent", "gocv.io/x/gocv", "what flows after the encoder is pure Go"},
	{"internal/flow/latent", "gorgonia.org/gorgonia", "what flows after the encoder is pure Go"},
	{"infer/card", "gocv.io/x/gocv", "the trainer and the tracker share the card; it is pure Go"},
	{"infer/sdevae", "gocv.io/x/gocv", "training works on arrays, not on OpenCV's memory"},
	{"infer/sdevae/verdict", "gocv.io/x/gocv", "a verdict is arithmetic on what it is handed"},
	{"infer/sdevae/report", "gocv.io/x/gocv", "training works on arrays, not on OpenCV's memory"},
	{"infer/sdevae/dnnl", "gocv.io/x/gocv", "training works on arrays, not on OpenCV's memory"},
	{"online", "gocv.io/x/gocv", "the estimator is pure Go and runs without cgo"},
	{"online", "github.com/nats-io/nats.go", "the estimator knows no transport"},
	{"online", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/offline", "runtime/cgo", "reading a recording needs no C"},
	{"online/drift", "runtime/cgo", "arithmetic needs no C"},
	{"sinks", "gocv.io/x/gocv", "nothing after the encoder sees a Mat"},
	{"sinks", "driftscope/online", "sinks show the law, they do not compute it"},
	{"infer/locate", "gocv.io/x/gocv", "spots are found in arrays, not in OpenCV's memory"},
	{"infer/locate/kernel", "gocv.io/x/gocv", "loops over arrays need no OpenCV"},
	{"online/maps", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/change", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/combine", "runtime/cgo", "arithmetic needs no C"},
	{"online/objects", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/interactions", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/tracks", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/offline", "driftscope/online", "a recording is read without an estimator"},
	{"ingest/follow", "gocv.io/x/gocv", "waiting for files needs no pixels"},
	{"ingest/format", "gocv.io/x/gocv", "what a file is, its first bytes and its name tell"},
	{"ingest/child", "driftscope/ingest", "kinds.go imports the sources, they do not import it"},
	{"ingest/camera", "driftscope/ingest", "kinds.go imports the sources, they do not import it"},
	{"ingest/files", "driftscope/ingest", "kinds.go imports the sources, they do not import it"},
	{"ingest/natsource", "driftscope/ingest", "kinds.go imports the sources, they do not import it"},
	{"ingest/recorder", "driftscope/ingest", "kinds.go imports the sources, they do not import it"},
	{"sinks/message", "github.com/nats-io/nats.go", "records are JSON, whatever carries them"},
	{"sinks/file", "github.com/nats-io/nats.go", "files need no server"},
	{"sinks/pin", "github.com/nats-io/nats.go", "a wire needs no server"},
	{"sinks/spool", "github.com/nats-io/nats.go", "a spool is files: it does not know who empties it"},
	{"sinks/natsink", "driftscope/sinks", "kinds.go imports the sinks, they do not import it"},
	{"sinks/web", "gocv.io/x/gocv", "the page is fed by messages, like any other reader"},
	{"internal/flow/trigger", "runtime/cgo", "rules are pure Go and run without cgo"},
	{"internal/flow/config", "gocv.io/x/gocv", "a configuration is text"},
	{"internal/flow/bus", "gocv.io/x/gocv", "the bus carries bytes"},
	{"internal/site", "gocv.io/x/gocv", "records need no pictures"},
	{"internal/kit/archive", "runtime/cgo", "a checkpoint is bytes"},
	{"internal/kit/system", "runtime/cgo", "a file is bytes"},
	{"internal/kit/numbers", "runtime/cgo", "arithmetic needs no C"},
}

// wings are the floors of the house, the lowest first. An arrow runs to a package of its own floor or of one below. What lies under cmd is above all.
var wings = [][]string{
	{"internal/kit", "internal/suite"}, // small tools without a microscope, and what tests share
	{"internal/flow"},                  // what flows, and how
	{"configs", "infer", "ingest", "online", "preprocess", "sinks"}, // what is done to it
	{"internal/job"},   // what a command does
	{"internal/site"},  // the same on many machines
	{"internal/house"}, // these tests
}

// wing is the floor of a package, or that above all where it lies under none.
func wing(name string) int {
	for i, folders := range wings {
		for _, folder := range folders {
			if name == folder || strings.HasPrefix(name, folder+"/") {
				return i
			}
		}
	}
	return len(wings)
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

func TestImports(t *testing.T) {
	packages := list(t)
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if strings.HasPrefix(name, "cmd/") {
			continue
		}
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("%s is in no table: add it to mayImport with what it may import", name)
			continue
		}
		for _, path := range p.Imports {
			target, ours := strings.CutPrefix(path, module+"/")
			if ours && !slices.Contains(allowed, target) {
				t.Errorf("%s imports %s: the arrow runs the wrong way; it may import only %v of this project", name, target, allowed)
			}
		}
	}
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if wing(name) == len(wings) && !strings.HasPrefix(name, "cmd/") {
			t.Errorf("%s lies in no wing: %v", name, wings)
		}
		for _, path := range p.Imports {
			if target, ours := strings.CutPrefix(path, module+"/"); ours && wing(target) > wing(name) {
				t.Errorf("%s imports %s, which lies above it", name, target)
			}
		}
	}
	for _, rule := range never {
		i := slices.IndexFunc(packages, func(p listed) bool { return p.ImportPath == module+"/"+rule.from })
		if i >= 0 && slices.Contains(packages[i].Deps, rule.target) {
			t.Errorf("%s reaches %s: %s", rule.from, rule.target, rule.reason)
		}
	}
}

// list asks go list for every package of the project with all it depends on.
func list(t *testing.T) []listed {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	command.Dir = root
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, module+"/") {
			packages = append(packages, p)
		}
	}
	if len(packages) < 5 {
		t.Fatalf("go list found %d packages of this project, expected the whole house", len(packages))
	}
	return packages
}
