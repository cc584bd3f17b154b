//go:build cgo

package batch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/infer/card"
	"driftscope/internal/flow/bus"
	"driftscope/internal/job/reach"
)

// fetch returns the path of a film on the worker, after it has checked the digest. The check detects different films of the same path on two machines.
func (w *Worker) fetch(ctx context.Context, store jetstream.ObjectStore, j *job, folder string) (path string, err error) {
	if j.Path != "" {
		path := j.Path
		if w.Allow != nil {
			if path, err = w.Allow("path", j.Path); err != nil {
				return "", errFilm{fmt.Errorf("%w; leave out --shared to send it", err)}
			}
		}
		f := film{path: path, folder: j.Folder}
		if cfg, err := j.configuration(); err == nil {
			f.kind = cfg.Source.Kind
		}
		s, err := f.identity(ctx)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
			return "", errFilm{fmt.Errorf("%w: check that every worker has the film at this path, or leave out --shared to send it", err)}
		case s.digest != j.Digest:
			return "", errFilm{fmt.Errorf("%s differs from the film of that name on this machine: leave out --shared to send it", j.Path)}
		}
		return path, nil
	}
	if err := room(folder, j.Bytes); err != nil {
		return "", err
	}
	from, err := store.Get(ctx, filmObject(j.Digest))
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return "", errFilm{errors.New("the film is no longer on the server: repeat the command")}
	}
	if err != nil {
		return "", explain(err)
	}
	defer from.Close()
	path = filepath.Join(folder, "from", j.File)
	h := sha256.New()
	if err := receive(io.TeeReader(io.LimitReader(from, j.Bytes+1), h), path, j); err != nil {
		return "", err
	}
	return path, w.whole(h, j)
}

// receive writes a film's file, or the files of its folder.
func receive(from io.Reader, path string, j *job) error {
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if !j.Folder {
		return writeFile(path, from)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	if err := unpack(from, path, j.Bytes); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, from) // bytes after the tar's end count in its digest
	return err
}

// whole returns an error if the received bytes differ from the sent ones.
func (w *Worker) whole(h hash.Hash, j *job) error {
	if found := hex.EncodeToString(h.Sum(nil)); found != j.Digest {
		return errFilm{fmt.Errorf("the film on the server has the SHA-256 %s, expected %s: repeat the command", found, j.Digest)}
	}
	return nil
}

// models caches the files that a worker has fetched, by digest.
type models struct {
	conn   *bus.Conn
	folder string

	mu sync.Mutex
}

// file returns the job's model: a file if the server stores it, otherwise the name in the job.
func (m *models) file(ctx context.Context, j *job) (string, error) {
	name, kept := strings.CutPrefix(j.Model, reach.ServerModel)
	if !kept {
		if j.Model != "" && !strings.HasPrefix(j.Model, reach.EmbeddedModel) {
			return "", errFilm{fmt.Errorf("model %.80q: expected %sNAME or %sNAME", j.Model, reach.ServerModel, reach.EmbeddedModel)}
		}
		return j.Model, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	path := filepath.Join(m.folder, digestOf(j.ModelDigest)+".onnx")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	there, err := m.conn.Models()
	if err != nil {
		return "", err
	}
	data, err := there.Get(ctx, name, card.MaxFile)
	switch {
	case errors.Is(err, bus.ErrNoModel), errors.Is(err, bus.ErrTorn):
		return "", errFilm{fmt.Errorf("model %s: %w", j.Model, err)}
	case err != nil:
		return "", err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != j.ModelDigest {
		return "", errFilm{fmt.Errorf("model %s: was replaced after the film was sent: repeat the command", j.Model)}
	}
	if err := writeFile(path, bytes.NewReader(data)); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}
