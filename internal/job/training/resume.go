package training

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// unfinished is a training's checkpoint in a file next to the future model.
type unfinished struct {
	path  string
	step  int                // step of the checkpoint in the file; 0 if there is none
	from  *sdevae.Checkpoint // checkpoint of an earlier run, or nil
	notes notes
}

// notes is the data of pretrain in a checkpoint, besides the training itself.
type notes struct {
	Settings Options     `json:"settings"`
	Steps    []card.Step `json:"steps"` // preprocessing as chosen
	Tau      float64     `json:"tau"`
	Latent   int         `json:"latent"` // dimension, chosen or given
}

// Unfinished looks for the checkpoint of an earlier run of the same command.
func (c *Options) Unfinished() (*unfinished, error) {
	u := &unfinished{path: c.training()}
	data, err := system.ReadBounded(u.path, sdevae.MaxCheckpoint)
	if errors.Is(err, os.ErrNotExist) {
		return u, nil
	}
	if err != nil {
		return nil, u.refuse(err)
	}
	if u.from, err = sdevae.ReadCheckpoint(data); err != nil {
		return nil, u.refuse(err)
	}
	d := json.NewDecoder(bytes.NewReader(u.from.Notes))
	d.DisallowUnknownFields()
	if err := d.Decode(&u.notes); err != nil {
		return nil, u.refuse(fmt.Errorf("its notes belong to another build: %w", err))
	}
	if was := u.notes.Settings.differs(*c); was != "" {
		return nil, u.refuse(fmt.Errorf("it was started with %s", was))
	}
	u.step = u.from.Step
	return u, nil
}

// refuse returns the error for an unusable checkpoint.
func (u *unfinished) refuse(err error) error {
	return console.Usage(fmt.Errorf("%s: %w: delete it or give another --out", u.path, err))
}

// interrupted returns the error for a stopped training, with the step from which it can continue.
func (u *unfinished) interrupted() error {
	if u.step == 0 {
		return errors.New("interrupted, no model was written")
	}
	return fmt.Errorf("interrupted, no model was written; the same command continues from step %d", u.step)
}

// differs names a flag that differs between two commands, with both values; empty if none differs. The path of the model may differ.
func (c Options) differs(now Options) string {
	was, is := reflect.ValueOf(c), reflect.ValueOf(now)
	for i := range is.NumField() {
		field := is.Type().Field(i)
		if a, b := fmt.Sprint(was.Field(i)), fmt.Sprint(is.Field(i)); a != b && field.Name != "Out" {
			name := cmp.Or(field.Tag.Get("flag"), strings.ToLower(field.Name))
			return fmt.Sprintf("%s %q, this command has %q", name, a, b)
		}
	}
	return ""
}

// save replaces the file.
func (u *unfinished) save(data []byte, step int) error {
	if err := system.WriteFile(u.path, data); err != nil {
		return fmt.Errorf("the checkpoint next to the model cannot be written: %w: free some space or give another --out", err)
	}
	u.step = step
	return nil
}

// complete writes the model, and removes the checkpoint once a power cut can no longer lose the model.
func (u *unfinished) complete(path string, model []byte) error {
	if err := console.WriteFile(path, model); err != nil {
		return err
	}
	if err := u.remove(); err != nil {
		console.Warn("the model is complete, but its checkpoint could not be removed: %v", err)
	}
	return nil
}

// remove deletes the file when it is no longer needed.
func (u *unfinished) remove() error {
	if u.step == 0 {
		return nil
	}
	return os.Remove(u.path)
}
