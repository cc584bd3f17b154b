package learning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"driftscope/infer/sdevae"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// kept stores measured films in a folder, one file each: the study can resume on any day and machine.
type kept struct {
	folder string // empty to store nothing
	of     settings
}

// settings determine a film's figure, besides the film itself.
type settings struct {
	Recipe int    `json:"recipe"`
	Latent string `json:"latent,omitempty"`
	Steps  int    `json:"steps,omitempty"`
}

func newKept(folder, latent string, steps int) (kept, error) {
	if folder != "" {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return kept{}, console.Usage(fmt.Errorf("--out: %w", err))
		}
	}
	return kept{folder, settings{sdevae.Recipe, latent, steps}}, nil
}

// keptCell is a file's contents.
type keptCell struct {
	settings
	Cell *cell `json:"cell"`
}

// maxKept bounds a file, bytes.
const maxKept = 1 << 20

// measure reads the cell from the folder, or measures it with how and stores it.
func (f kept) measure(ctx context.Context, k *cell, how func(context.Context, *cell) error) error {
	if f.folder == "" {
		return how(ctx, k)
	}
	path := filepath.Join(f.folder, fmt.Sprintf("%s-seed%d.json", k.file(), k.Seed))
	if found, err := f.recall(path, k); found || err != nil {
		return err
	}
	if err := how(ctx, k); err != nil {
		return err
	}
	data, err := json.MarshalIndent(keptCell{f.of, k}, "", " ")
	if err != nil {
		return err
	}
	return system.WriteFile(path, append(data, '\n'))
}

// recall reads the cell from its file. found is false without a file; a file of other settings is an error.
func (f kept) recall(path string, k *cell) (found bool, err error) {
	data, err := system.ReadBounded(path, maxKept)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	one := keptCell{}
	if err := json.Unmarshal(data, &one); err != nil || one.Cell == nil || one.Cell.Verdict == "" {
		return false, fmt.Errorf("%s: found no measured film (%v): delete it, or give another --out", path, err)
	}
	if one.settings != f.of || !reflect.DeepEqual(one.Cell.asked(), k.asked()) {
		return false, fmt.Errorf("%s: it was measured with %+v of %+v, expected %+v of %+v: delete it, or give another --out", path, one.settings, one.Cell.asked(), f.of, k.asked())
	}
	one.Cell.On = k.On // a file does not distinguish nil from an empty list
	*k = *one.Cell
	console.Say("%s: as %s has it", k, path)
	return true, nil
}

// asked returns the cell without results.
func (k *cell) asked() cell {
	return cell{Scene: k.Scene, Nuisance: k.Nuisance, Times: k.Times, Amount: k.Amount, Frames: k.Frames, Seed: k.Seed, On: append([]laid(nil), k.On...)}
}
