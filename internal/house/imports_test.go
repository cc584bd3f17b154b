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
	"infer":                            {"infer/card", "internal/frame", "internal/latent", "internal/subprocess"},
	"infer/card":                       {},
	"infer/field":                      {"infer", "infer/card", "infer/finder", "infer/locate", "internal/frame", "internal/latent", "internal/pipeline"},
	"infer/finder":                     {"internal/assignment", "internal/grid"},
	"infer/locate":                     {"infer/locate/kernel", "internal/grid"},
	"infer/locate/kernel":              {"internal/order"},
	"infer/sdevae":                     {"infer/card", "infer/sdevae/appearance", "infer/sdevae/dnnl", "infer/sdevae/gauge", "infer/sdevae/network", "infer/sdevae/numeric", "infer/sdevae/onnx", "infer/sdevae/sprites", "infer/sdevae/verdict", "infer/sdevae/video", "internal/archive", "internal/latent", "online/drift", "online/offline"},
	"infer/sdevae/appearance":          {"infer/sdevae/numeric", "infer/sdevae/video"},
	"infer/sdevae/dnnl":                {},
	"infer/sdevae/gauge":               {"infer/sdevae/network", "infer/sdevae/numeric", "infer/sdevae/video", "internal/eigen"},
	"infer/sdevae/network":             {"infer/sdevae/dnnl", "infer/sdevae/numeric", "infer/sdevae/video", "online/drift"},
	"infer/sdevae/numeric":             {"internal/eigen"},
	"infer/sdevae/onnx":                {"infer/card", "infer/sdevae/dnnl", "infer/sdevae/gauge", "infer/sdevae/network", "infer/sdevae/numeric", "infer/sdevae/video"},
	"infer/sdevae/report":              {"infer/card", "infer/sdevae", "infer/sdevae/gauge", "infer/sdevae/numeric", "infer/sdevae/verdict", "infer/sdevae/video", "online/drift"},
	"infer/sdevae/sdevaetest":          {"infer/sdevae/numeric", "infer/sdevae/video"}, // for tests
	"infer/sdevae/sprites":             {"infer/sdevae/numeric", "infer/sdevae/video"},
	"infer/sdevae/verdict":             {"infer/sdevae/numeric", "infer/sdevae/video"},
	"infer/sdevae/video":               {"infer/sdevae/numeric"},
	"ingest":                           {"ingest/camera", "ingest/child", "ingest/files", "ingest/format", "ingest/natsource", "ingest/recorder", "ingest/sim", "ingest/sim/field", "ingest/timing", "internal/frame", "internal/pages", "internal/pipeline"},
	"ingest/avcodec":                   {},
	"ingest/avcodec/avcodectest":       {"ingest/avcodec"}, // for tests
	"ingest/bounded":                   {},
	"ingest/camera":                    {"ingest/avcodec", "ingest/gst", "ingest/mpegts", "ingest/picture", "ingest/printed", "ingest/rtsp", "ingest/tiff", "internal/frame", "internal/pipeline"},
	"ingest/child":                     {"ingest/picture", "internal/frame", "internal/pipeline", "internal/subprocess"},
	"ingest/czi":                       {"ingest/bounded", "ingest/tiff"},
	"ingest/czi/czitest":               {}, // for tests
	"ingest/files":                     {"ingest/child", "ingest/czi", "ingest/fits", "ingest/follow", "ingest/format", "ingest/hdf5", "ingest/mpegts", "ingest/nd2", "ingest/ndtiff", "ingest/picture", "ingest/printed", "ingest/tiff", "ingest/timing", "ingest/zarr", "internal/frame", "internal/pipeline"},
	"ingest/fits":                      {"ingest/tiff"},
	"ingest/follow":                    {"ingest/format"},
	"ingest/format":                    {"ingest/czi", "ingest/fits", "ingest/hdf5", "ingest/nd2", "internal/sharing"},
	"ingest/gst":                       {},
	"ingest/hdf5":                      {"ingest/bounded", "ingest/ndarray", "ingest/tiff"},
	"ingest/ingesttest":                {"ingest/tiff", "internal/frame", "internal/pipeline"}, // for tests
	"ingest/mpegts":                    {},
	"ingest/natsource":                 {"ingest/picture", "ingest/tiff", "ingest/timing", "ingest/wire", "internal/bus", "internal/frame", "internal/pipeline"},
	"ingest/nd2":                       {"ingest/bounded", "ingest/tiff"},
	"ingest/nd2/nd2test":               {}, // for tests
	"ingest/ndarray":                   {"ingest/bounded", "ingest/tiff"},
	"ingest/ndtiff":                    {"ingest/tiff"},
	"ingest/picture":                   {"ingest/format", "ingest/printed", "ingest/tiff", "internal/frame"},
	"ingest/printed":                   {},
	"ingest/recorder":                  {"ingest/format", "ingest/picture", "ingest/tiff", "ingest/zarr", "internal/frame", "internal/pipeline"},
	"ingest/rtsp":                      {},
	"ingest/rtsp/rtsptest":             {"ingest/avcodec", "ingest/avcodec/avcodectest"}, // for tests
	"ingest/sim":                       {"ingest/tiff"},
	"ingest/sim/field":                 {"ingest/sim"},
	"ingest/tiff":                      {},
	"ingest/timing":                    {"ingest/picture", "internal/frame", "internal/pipeline", "internal/sharing"},
	"ingest/wire":                      {"ingest/tiff"},
	"ingest/zarr":                      {"ingest/bounded", "ingest/ndarray", "ingest/tiff"},
	"internal/archive":                 {},
	"internal/assignment":              {},
	"internal/atomicfile":              {"internal/sharing"},
	"internal/batch":                   {"infer", "infer/card", "ingest", "ingest/format", "ingest/tiff", "ingest/timing", "internal/atomicfile", "internal/bus", "internal/config", "internal/console", "internal/exit", "internal/latent", "internal/model", "internal/recording", "internal/stream", "internal/subprocess", "internal/version", "sinks/message"},
	"internal/bus":                     {"internal/pages", "internal/rights"},
	"internal/bus/bustest":             {"internal/suite/port"}, // for tests
	"internal/census":                  {"infer/field", "internal/frame", "internal/latent", "internal/pipeline", "internal/recording", "online/objects"},
	"internal/config":                  {"internal/pages"},
	"internal/console":                 {"internal/atomicfile"},
	"internal/demo":                    {"internal/atomicfile", "internal/config", "internal/console", "internal/exit", "internal/pages", "internal/stream"},
	"internal/desired":                 {"internal/bus", "internal/config", "internal/console", "internal/exit", "internal/lease", "internal/model", "internal/recording", "internal/site", "internal/stream"},
	"internal/doctor":                  {"ingest", "ingest/camera", "internal/atomicfile", "internal/config", "internal/pages", "sinks/web"},
	"internal/eigen":                   {},
	"internal/evaluation":              {"infer", "infer/card", "infer/sdevae", "internal/console", "internal/exit", "internal/frame", "internal/latent", "internal/model", "internal/recording", "online/align", "online/drift", "online/offline"},
	"internal/evaluation/tracking":     {"internal/assignment"},
	"internal/exit":                    {"infer", "internal/bus", "internal/pages"},
	"internal/frame":                   {},
	"internal/grid":                    {},
	"internal/house":                   {},
	"internal/latent":                  {},
	"internal/law":                     {"internal/atomicfile", "internal/console", "internal/evaluation/tracking", "internal/exit", "internal/latent", "online/interactions", "online/maps", "online/motion", "online/states", "online/switching", "sinks/message"},
	"internal/lease":                   {"internal/bus"},
	"internal/manual":                  {},
	"internal/model":                   {"configs", "infer", "internal/pages"},
	"internal/nice":                    {},
	"internal/order":                   {},
	"internal/pages":                   {},
	"internal/pipeline":                {"internal/frame", "internal/latent", "internal/nice"},
	"internal/placement":               {},
	"internal/pool":                    {"internal/bus", "internal/exit", "internal/latent", "online/combine", "sinks/message"},
	"internal/reach":                   {"internal/config", "internal/model"},
	"internal/recording":               {"infer/card", "infer/sdevae/numeric", "infer/sdevae/video", "ingest", "ingest/picture", "internal/config", "internal/console", "internal/exit", "internal/frame", "internal/order", "internal/pages", "internal/pipeline", "preprocess", "preprocess/illumination"},
	"internal/recording/recordingtest": {}, // for tests
	"internal/replay":                  {"infer/field", "internal/bus", "internal/console", "internal/evaluation/tracking", "internal/exit", "internal/frame", "internal/latent", "internal/pipeline", "internal/recording", "sinks/message", "sinks/natsink"},
	"internal/rights":                  {},
	"internal/sharing":                 {},
	"internal/site":                    {"internal/bus", "internal/config", "internal/lease", "internal/placement"},
	"internal/stream":                  {"infer", "infer/card", "infer/field", "infer/finder", "infer/sdevae", "ingest", "ingest/recorder", "internal/atomicfile", "internal/bus", "internal/config", "internal/console", "internal/exit", "internal/frame", "internal/latent", "internal/model", "internal/pages", "internal/pipeline", "internal/reach", "internal/recording", "internal/trigger", "online", "online/objects", "preprocess", "sinks", "sinks/message", "sinks/natsink", "sinks/web"},
	"internal/stream/leasetest":        {"ingest", "ingest/natsource", "internal/bus", "internal/config", "internal/latent", "internal/pipeline", "sinks/message"}, // for tests
	"internal/subprocess":              {},
	"internal/suite":                   {"internal/atomicfile"}, // for tests
	"internal/suite/fakecamera":        {},                      // for tests
	"internal/suite/mats":              {"internal/suite"},      // for tests
	"internal/suite/port":              {},
	"internal/suite/pty":               {},
	"internal/suite/wallclock":         {},
	"internal/training":                {"infer/card", "infer/field", "infer/sdevae", "infer/sdevae/gauge", "infer/sdevae/network", "infer/sdevae/report", "infer/sdevae/verdict", "infer/sdevae/video", "internal/atomicfile", "internal/census", "internal/console", "internal/exit", "internal/frame", "internal/latent", "internal/model", "internal/recording", "internal/version"},
	"internal/trigger":                 {"internal/latent"},
	"internal/version":                 {},
	"internal/work":                    {"internal/batch", "internal/bus", "internal/config", "internal/console", "internal/exit", "internal/latent", "internal/lease", "internal/placement", "internal/reach", "internal/recording", "internal/site", "internal/stream", "internal/version", "sinks/message", "sinks/natsink"},
	"online":                           {"internal/archive", "internal/latent", "online/alarm", "online/calibration", "online/diffusion", "online/drift", "online/filter", "online/refine", "online/trajectory"},
	"online/alarm":                     {"internal/archive", "internal/latent", "online/diffusion", "online/drift"},
	"online/align":                     {},
	"online/calibration":               {"internal/archive", "internal/latent", "online/diffusion", "online/trajectory"},
	"online/change":                    {"online/states"},
	"online/combine":                   {},
	"online/diffusion":                 {"internal/archive", "internal/latent", "online/drift", "online/trajectory"},
	"online/drift":                     {"internal/archive"},
	"online/filter":                    {"internal/archive", "internal/latent", "online/diffusion", "online/drift"},
	"online/interactions":              {"internal/archive", "internal/grid"},
	"online/interactions/pairstest":    {}, // for tests
	"online/maps":                      {"internal/archive"},
	"online/maps/mapstest":             {"internal/latent", "online/drift", "online/offline"}, // for tests and benchmarks
	"online/motion":                    {},
	"online/motion/motiontest":         {}, // for tests and benchmarks
	"online/objects":                   {"internal/archive", "internal/latent", "internal/nice", "online", "online/change", "online/interactions", "online/maps", "online/motion", "online/pooled", "online/population", "online/states", "online/switching", "online/tracks", "online/trajectory"},
	"online/offline":                   {"internal/eigen", "internal/latent", "online/diffusion", "online/drift", "online/regression", "online/trajectory"},
	"online/onlinetest":                {"internal/latent"}, // for tests
	"online/pooled":                    {"internal/archive", "internal/nice", "online/maps", "online/states"},
	"online/population":                {"internal/archive"},
	"online/refine":                    {"internal/archive", "internal/latent", "internal/nice", "online/diffusion", "online/drift", "online/regression", "online/trajectory"},
	"online/regression":                {"internal/eigen", "internal/latent", "online/diffusion", "online/drift", "online/trajectory"},
	"online/sampling":                  {"online/drift"},
	"online/states":                    {},
	"online/switching":                 {"internal/archive"},
	"online/switching/switchingtest":   {}, // for tests
	"online/tracks":                    {"internal/archive", "internal/assignment", "internal/grid"},
	"online/trajectory":                {"internal/archive", "internal/latent"},
	"preprocess":                       {"internal/frame", "internal/order", "internal/pipeline", "preprocess/illumination"},
	"preprocess/illumination":          {"internal/order"},
	"sinks":                            {"internal/bus", "internal/latent", "sinks/file", "sinks/message", "sinks/natsink", "sinks/pin"},
	"sinks/file":                       {"internal/atomicfile", "internal/latent", "sinks/message"},
	"sinks/message":                    {"internal/latent"},
	"sinks/natsink":                    {"internal/bus", "internal/latent", "sinks/message", "sinks/spool"},
	"sinks/pin":                        {"internal/latent"},
	"sinks/schemas":                    {"internal/latent", "sinks/message", "sinks/natsink"},
	"sinks/sinktest":                   {"internal/bus", "internal/config", "internal/latent"}, // for tests
	"sinks/spool":                      {"internal/latent", "internal/sharing", "sinks/message"},
	"sinks/web":                        {"internal/bus"},
}

// never lists what a package may not reach even through others, each for its reason.
var never = []struct{ from, target, reason string }{
	{"internal/latent", "gocv.io/x/gocv", "what flows after the encoder is pure Go"},
	{"internal/latent", "gorgonia.org/gorgonia", "what flows after the encoder is pure Go"},
	{"infer/card", "gocv.io/x/gocv", "the trainer and the tracker share the card; it is pure Go"},
	{"infer/sdevae", "gocv.io/x/gocv", "training works on arrays, not on OpenCV's memory"},
	{"infer/sdevae/verdict", "gocv.io/x/gocv", "a verdict is arithmetic on what it is handed"},
	{"infer/sdevae/report", "gocv.io/x/gocv", "training works on arrays, not on OpenCV's memory"},
	{"infer/sdevae/dnnl", "gocv.io/x/gocv", "training works on arrays, not on OpenCV's memory"},
	{"online", "gocv.io/x/gocv", "the estimator is pure Go and runs without cgo"},
	{"online", "github.com/nats-io/nats.go", "the estimator knows no transport"},
	{"online", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/offline", "runtime/cgo", "reading a recording needs no C"},
	{"online/align", "runtime/cgo", "arithmetic needs no C"},
	{"online/sampling", "runtime/cgo", "arithmetic needs no C"},
	{"sinks", "gocv.io/x/gocv", "nothing after the encoder sees a Mat"},
	{"sinks", "driftscope/online", "sinks show the law, they do not compute it"},
	{"infer/locate", "gocv.io/x/gocv", "spots are found in arrays, not in OpenCV's memory"},
	{"infer/locate/kernel", "gocv.io/x/gocv", "loops over arrays need no OpenCV"},
	{"online/maps", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/change", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/combine", "runtime/cgo", "arithmetic needs no C"},
	{"online/objects", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/interactions", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/switching", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/tracks", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
	{"online/motion", "runtime/cgo", "the estimator is pure Go and runs without cgo"},
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
	{"internal/trigger", "runtime/cgo", "rules are pure Go and run without cgo"},
	{"internal/config", "gocv.io/x/gocv", "a configuration is text"},
	{"internal/bus", "gocv.io/x/gocv", "the bus carries bytes"},
	{"internal/site", "gocv.io/x/gocv", "records need no pictures"},
	{"internal/placement", "github.com/nats-io/nats.go", "a plan is a function of records"},
	{"internal/lease", "gocv.io/x/gocv", "who may run a stream needs no pictures"},
	{"internal/archive", "runtime/cgo", "a checkpoint is bytes"},
	{"internal/atomicfile", "runtime/cgo", "a file is bytes"},
	{"internal/sharing", "runtime/cgo", "a file is bytes"},
	{"internal/eigen", "runtime/cgo", "arithmetic needs no C"},
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
