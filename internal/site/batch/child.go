//go:build cgo

package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/system"
)

// filmFlag makes batch track one film for a worker in a separate process, so that a crash of OpenCV does not end the worker.
const filmFlag = "--film"

// Files in a film's folder, besides the film itself.
const (
	orderName   = "order.json"
	accountName = "account.json"
	linesName   = "messages.jsonl" // as run writes them
	resultName  = "result"         // with the job's ending
)

// order is the input of a child process.
type order struct {
	Job   job    `json:"job"`
	Film  string `json:"film"`  // path of the film
	Model string `json:"model"` // a file, embedded:NAME or nothing
}

// trackHere tracks the film of an order in a folder, and writes the result and the account there. The account has the error if the film is at fault.
func trackHere(ctx context.Context, folder string) error {
	data, err := system.ReadBounded(filepath.Join(folder, orderName), 2*maxJob)
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("%s: %w", orderName, err)
	}
	a, err := o.track(ctx, folder)
	if err == nil && a.Tracked == 0 {
		err = fmt.Errorf("none of its %d frames could be tracked: %s", a.In, strings.Join(a.Events[:min(len(a.Events), 1)], ""))
	}
	if err != nil {
		a.Error = o.blame(err.Error())
	}
	for i, e := range a.Events {
		a.Events[i] = o.blame(e)
	}
	if data, err = json.Marshal(a); err != nil {
		return err
	}
	return writeFile(filepath.Join(folder, accountName), bytes.NewReader(data))
}

// blame removes this worker's folders from an error text, so that every worker reports the same text.
func (o *order) blame(text string) string {
	text = strings.ReplaceAll(text, o.Film, o.Job.File)
	text = strings.ReplaceAll(text, filepath.Dir(o.Film)+string(filepath.Separator), "")
	return strings.Join(strings.Fields(text), " ")
}

// track does the same as run FILM --nats off --no-status --out RESULT.
func (o *order) track(ctx context.Context, folder string) (a account, err error) {
	cfg, err := o.Job.configuration()
	if err != nil {
		return a, err
	}
	if cfg.Source, err = cfg.Source.With("path", o.Film); err != nil {
		return a, err
	}
	cfg.Model = o.Model
	lines, result := filepath.Join(folder, linesName), filepath.Join(folder, resultName+o.Job.Ending)
	if cfg.Sinks, err = sinksOf(lines, result, o.Job.Ending); err != nil {
		return a, err
	}
	process, err := stream.Assemble(ctx, []config.Config{cfg}, nil, false)
	if err != nil {
		return a, err
	}
	err = process.Run(ctx, 0)
	process.Disconnect()
	if err != nil {
		return a, err
	}
	return settle(lines, result, o.Job.Ending)
}

// sinksOf returns the sink of messages and, if a table is requested, the table's sink.
func sinksOf(lines, result, ending string) ([]config.Component, error) {
	messages, err := config.NewComponent("jsonl", map[string]any{"path": lines})
	if err != nil || ending == ".jsonl" {
		return []config.Component{messages}, err
	}
	options := map[string]any{"path": result, "table": string(latent.KindObjects)}
	if ending == ".parquet" {
		options["rotate_every"] = "0s" // one film, one file
	}
	table, err := config.NewComponent(strings.TrimPrefix(ending, "."), options)
	return []config.Component{messages, table}, err
}

// settle writes the result, and an account of its contents.
func settle(lines, result, ending string) (account, error) {
	from, err := os.Open(lines)
	if errors.Is(err, fs.ErrNotExist) {
		return account{}, errors.New("the film produced no message")
	}
	if err != nil {
		return account{}, err
	}
	defer from.Close()
	if ending != ".jsonl" {
		return timeless(io.Discard, from)
	}
	to, err := os.OpenFile(result, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return account{}, err
	}
	a, err := timeless(to, from)
	return a, errors.Join(err, to.Close())
}

// trackApart runs a child that tracks a film in its folder, and reads the child's output.
func trackApart(ctx context.Context, folder string, o order) (account, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return account{}, err
	}
	if err := writeFile(filepath.Join(folder, orderName), bytes.NewReader(data)); err != nil {
		return account{}, err
	}
	how, err := system.RunChild(ctx, folder, "batch", filmFlag, folder)
	if err != nil {
		return account{}, err
	}
	var a account
	data, err = system.ReadBounded(filepath.Join(folder, accountName), maxJob)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(data)).Decode(&a)
	}
	if err != nil { // the process died
		return a, fmt.Errorf("the process that tracked it ended: %s", o.blame(how))
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}
