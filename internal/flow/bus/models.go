package bus

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Limits on the models that a server stores for the streams of one prefix and site.
const (
	maxModels = 1000 // longest list
	maxBucket = maxName - len("OBJ_")
	modelWait = time.Minute // time limit for storing or fetching a model
)

// Reasons why a model is unavailable.
var (
	ErrNoStore = errors.New("the server cannot store models because JetStream is off: set nats.durable and nats.store for an embedded server, or jetstream {} in another server's configuration")
	ErrNoModel = errors.New("there is no such model: driftscope model list shows the models, driftscope model put adds one")
	ErrName    = errors.New("a model's name has 1 to 64 letters, digits, - and _")
	ErrTorn    = errors.New("the server's copy is torn or was not put by driftscope: put it again")

	ErrUnanswered = errors.New("the NATS server did not execute the request")
)

// Models is the JetStream object store of model files for the streams of one prefix and site. It checks the digests of the files, but does not interpret their
// contents.
type Models struct {
	Replicas int // number of servers with a copy if Put creates the store; default 1

	js     jetstream.JetStream
	names  Subject
	bucket string
	pieces pieces
}

// Model describes a stored file.
type Model struct {
	Name   string // 1 to 64 letters, digits, - and _
	About  string // description for users
	SHA256 string // hexadecimal
	Size   int64  // bytes
	Put    time.Time
}

// Models returns the model store of this bus.
func (c *Conn) Models() (*Models, error) {
	js, err := jetstream.New(c.nats)
	if err != nil {
		return nil, err
	}
	names, err := c.Subject("models")
	if err != nil {
		return nil, err
	}
	m := &Models{js: js, names: names, bucket: names.ModelStore(1).Objects.Bucket}
	m.pieces = pieces{c.nats, m.bucket}
	return m, nil
}

// Put stores a file under a name and replaces an earlier file of that name. It creates the store if it is missing.
func (m *Models) Put(ctx context.Context, name, about string, data []byte) error {
	if checkToken("model", name) != nil {
		return ErrName
	}
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	kept := m.names.ModelStore(m.Replicas)
	if _, _, err := kept.Ensure(ctx, m.js); err != nil {
		return explain(err)
	}
	store, err := m.js.ObjectStore(ctx, m.bucket)
	if err != nil {
		return explain(err)
	}
	if _, err := store.Put(ctx, jetstream.ObjectMeta{Name: name, Description: about}, bytes.NewReader(data)); err != nil {
		return fmt.Errorf("%w; all models together may take %d bytes: driftscope model remove makes room", explain(err), maxModelsBytes)
	}
	return nil
}

// Get fetches a file of at most limit bytes. It returns ErrNoStore, ErrNoModel, ErrName, or ErrTorn if the digest does not match the bytes.
func (m *Models) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	if checkToken("model", name) != nil {
		return nil, ErrName
	}
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	info, err := m.pieces.info(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = cmp.Or(m.unopened(ctx), err)
	}
	if err != nil {
		return nil, explain(err)
	}
	if info.Size > uint64(limit) {
		return nil, fmt.Errorf("%w: it has %d bytes, expected at most %d", ErrTorn, info.Size, limit)
	}
	data, err := m.pieces.data(ctx, info)
	return data, explain(err)
}

// unopened returns why the store is unavailable, or nil if it is open.
func (m *Models) unopened(ctx context.Context) error {
	_, err := m.js.ObjectStore(ctx, m.bucket)
	return err
}

// List returns the stored models, sorted by name. It is empty if no model was ever stored.
func (m *Models) List(ctx context.Context) ([]Model, error) {
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	stream, err := m.js.Stream(ctx, "OBJ_"+m.bucket)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(err)
	}
	state, err := stream.Info(ctx, jetstream.WithSubjectFilter("$O."+m.bucket+".M.>"))
	if err != nil {
		return nil, explain(err)
	}
	subjects := slices.Sorted(maps.Keys(state.State.Subjects))
	var models []Model
	for _, subject := range subjects[:min(len(subjects), maxModels)] {
		info, err := m.pieces.at(ctx, subject)
		if errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, ErrTorn) {
			continue // removed, or not a model
		}
		if err != nil {
			return nil, explain(err)
		}
		digest, err := jetstream.DecodeObjectDigest(info.Digest)
		if err != nil || checkToken("model", info.Name) != nil {
			continue // not a model
		}
		models = append(models, Model{info.Name, info.Description, hex.EncodeToString(digest), int64(info.Size), info.put})
	}
	slices.SortFunc(models, func(a, b Model) int { return cmp.Compare(a.Name, b.Name) })
	return models, nil
}

// Remove deletes a file. It returns ErrNoStore or ErrNoModel.
func (m *Models) Remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	if checkToken("model", name) != nil {
		return ErrName
	}
	store, err := m.js.ObjectStore(ctx, m.bucket)
	if err != nil {
		return explain(err)
	}
	return explain(store.Delete(ctx, name))
}

// explain replaces errors of NATS by errors that tell the user what to do.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return ErrNoStore
	case errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrObjectNotFound):
		return ErrNoModel
	case errors.Is(err, jetstream.ErrBadObjectMeta):
		return ErrTorn
	case errors.Is(err, ErrTorn), errors.Is(err, ErrForbidden):
		return err
	}
	return fmt.Errorf("%w (%w): check that the store exists and has room, and that this user may use JetStream", ErrUnanswered, err)
}
