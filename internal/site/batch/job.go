package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
)

// jobVersion is the version of the format of jobs and records. Every id includes it, so a job in another format is another job.
const jobVersion = 1

// maxJob is the largest size of a job, which is mostly configuration.
const maxJob = bus.MostJob

// kinds lists the sources that are finished recordings. A job may use no other source, so that it cannot open a camera or a pipeline of a worker.
var kinds = []string{"czi", "directory", "fits", "hdf5", "nd2", "ndtiff", "recording", "tiff", "video", "zarr"}

// endings of results, as run --out writes them.
var endings = []string{".jsonl", ".csv", ".parquet"}

// job is one film with its settings.
type job struct {
	V     int    `json:"v"`
	ID    string `json:"id"`
	Batch string `json:"batch"`

	Film   string `json:"film"`   // the result's name, for display
	File   string `json:"file"`   // the film's own name, without folders
	Digest string `json:"digest"` // SHA-256 of its bytes, or of a tar of its folder
	Bytes  int64  `json:"bytes"`  // size of these bytes
	Folder bool   `json:"folder"`
	Path   string `json:"path,omitempty"` // path on both client and worker; if empty, the film is in the batch's object store

	Config string `json:"config"` // YAML, its source without a path
	Model  string `json:"model,omitempty"`
	// ModelDigest is the SHA-256 of a model on the server. It binds the job to that model, not to a later one of the same name.
	ModelDigest string `json:"model_digest,omitempty"`
	Ending      string `json:"ending"`
}

// settings returns the digest of everything that determines the result, except the film.
func (j *job) settings() string {
	model := j.Model
	if j.ModelDigest != "" {
		model = j.ModelDigest
	}
	return digestOf(fmt.Sprint(jobVersion), j.Config, model, j.Ending)
}

// identify sets the id of j. 32 digits are enough, because a user gains nothing from a collision among their own films.
func (j *job) identify() { j.ID = digestOf(j.Digest, j.settings())[:32] }

// digestOf returns the SHA-256 of texts, each with its length, in hexadecimal.
func digestOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// parseJob reads a queued job; anyone with the right to publish there may have written it.
func parseJob(data []byte) (*job, error) {
	var j job
	if len(data) > maxJob {
		return nil, fmt.Errorf("a job of %d bytes, expected at most %d", len(data), maxJob)
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return nil, fmt.Errorf("a job is unreadable: %w", err)
	}
	if j.V != jobVersion {
		return nil, fmt.Errorf("a job of version %d, this build supports %d: use the release that sent it", j.V, jobVersion)
	}
	return &j, j.check()
}

// check refuses a job whose parts do not fit together, or that leads out of the worker's folder.
func (j *job) check() error {
	id := j.ID
	j.identify()
	switch {
	case id != j.ID:
		return fmt.Errorf("job %.40q: its id does not match its film and settings", id)
	case !filepath.IsLocal(j.File) || j.File != filepath.Base(j.File) || j.File == ".":
		return fmt.Errorf("job %s: file %.80q, expected a name without folders", j.ID, j.File)
	case j.Path != "" && !filepath.IsAbs(j.Path):
		return fmt.Errorf("job %s: path %.80q, expected an absolute path", j.ID, j.Path)
	case j.Bytes < 0:
		return fmt.Errorf("job %s: %d bytes", j.ID, j.Bytes)
	case !slices.Contains(endings, j.Ending):
		return fmt.Errorf("job %s: a result %.20q, expected one of %s", j.ID, j.Ending, strings.Join(endings, ", "))
	}
	return checkToken(j.Batch)
}

// checkToken accepts names that are valid in a subject and in a key.
func checkToken(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if name == "" || len(name) > 64 || strings.Trim(name, letters) != "" {
		return fmt.Errorf("batch %.80q: expected 1 to 64 letters, digits, - and _", name)
	}
	return nil
}

// configuration returns the settings for the job's film; the caller adds the path of the source. The settings publish, store and write nothing, so the
// caller also adds all outputs.
func (j *job) configuration() (config.Config, error) {
	cfg, err := config.Parse("job "+j.ID, []byte(j.Config))
	if err != nil {
		return cfg, err
	}
	if !slices.Contains(kinds, cfg.Source.Kind) {
		return cfg, fmt.Errorf("job %s: its source is %.20q, expected one of %s", j.ID, cfg.Source.Kind, strings.Join(kinds, ", "))
	}
	if _, led := cfg.Source.Options()["frames_csv"]; led {
		return cfg, errors.New("source.frames_csv: is a path on another machine: put frames.csv into the folder of the pictures")
	}
	return alone(cfg), nil
}

// alone removes everything from cfg that is not needed to track one film.
func alone(cfg config.Config) config.Config {
	plain := config.Default()
	cfg.NATS, cfg.Dashboard, cfg.Record = plain.NATS, plain.Dashboard, plain.Record
	cfg.NATS.URL, cfg.Dashboard.Address = config.NATSOff, config.DashboardOff
	cfg.Sinks, cfg.Online.State, cfg.Mode, cfg.Model = nil, "", "", ""
	return cfg
}

// record is the outcome of an ended job: one per job, the first that was created.
type record struct {
	V        int      `json:"v"`
	Film     string   `json:"film"`
	Failed   []string `json:"failed,omitempty"` // reasons, one per attempt; empty if there is a result
	Attempts int      `json:"attempts"`
	Worker   string   `json:"worker"`
	Build    string   `json:"build"` // build of the worker
	Seconds  float64  `json:"seconds"`
	Object   string   `json:"object,omitempty"` // the result's name in the batch's store; empty if a table has no row
	Bytes    int64    `json:"bytes"`
	SHA256   string   `json:"sha256,omitempty"`
	Account  account  `json:"account"`
}

// account lists a film's frames and events.
type account struct {
	Error   string            `json:"error,omitempty"`
	In      uint64            `json:"frames_in"`
	Tracked uint64            `json:"frames_tracked"`
	Dropped map[string]uint64 `json:"frames_dropped,omitempty"` // by cause
	Alarms  map[string]uint64 `json:"alarms,omitempty"`         // by code
	Events  []string          `json:"events,omitempty"`         // the first ones, as text
	More    int               `json:"more_events,omitempty"`
}

// try is an attempt that was begun.
type try struct {
	Worker string `json:"worker"`
	Why    string `json:"why,omitempty"` // reason of the failure; empty during the attempt, or if the worker died
}

// reasons explains why each attempt failed.
func reasons(tries []try) (why []string) {
	for _, t := range tries {
		if t.Why == "" {
			t.Why = fmt.Sprintf("worker %s died, or was unreachable for too long, while it tracked the film: check whether the film needs too much memory", t.Worker)
		}
		why = append(why, t.Why)
	}
	return why
}
