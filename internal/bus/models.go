package bus

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bounds on what a server keeps for the streams of one prefix and site.
const (
	maxModels      = 1000    // that are listed
	maxModelsBytes = 1 << 30 // of all of them
	maxBucket      = maxName - len("OBJ_")
	modelWait      = time.Minute // for one to be put or fetched
)

// What there may be to say about a model that is not there.
var (
	ErrNoStore = errors.New("the server keeps no models, JetStream is off there: an embedded server has it with nats.durable and nats.store, another one with jetstream {} in its configuration")
	ErrNoModel = errors.New("there is no such model: driftscope model list says which there are, driftscope model put adds one")
	ErrName    = errors.New("a model's name has 1 to 64 letters, digits, - and _")
	ErrTorn    = errors.New("what the server keeps is torn or was not put by driftscope: put it again")

	ErrUnanswered = errors.New("the NATS server did not do it")
)

// Models are the model files that a server keeps in a JetStream object store, for the streams of one prefix and site. What is in a file is
// not its business, but that it is whole: digests are compared.
type Models struct {
	js     jetstream.JetStream
	bucket string
}

// Model is what is known of a file without fetching it.
type Model struct {
	Name   string // 1 to 64 letters, digits, - and _
	About  string // for people
	SHA256 string // hexadecimal
	Size   int64  // bytes
	Put    time.Time
}

// Models are those of this bus.
func (c *Conn) Models() (*Models, error) {
	js, err := jetstream.New(c.nats)
	if err != nil {
		return nil, err
	}
	prefix, site := cmp.Or(c.prefix, DefaultPrefix), cmp.Or(c.site, DefaultSite)
	m := &Models{js: js, bucket: prefix + "_" + site + "_models"}
	if len(m.bucket) > maxBucket || bytes.Count([]byte(m.bucket), []byte("_")) > 2 { // else another site could have the same
		sum := sha256.Sum256([]byte(prefix + "." + site))
		m.bucket = fmt.Sprintf("models-%x", sum[:6])
	}
	return m, nil
}

// Put keeps a file under a name, in place of the one that is there. The store is made where there is none.
func (m *Models) Put(ctx context.Context, name, about string, data []byte) error {
	if checkToken("model", name) != nil {
		return ErrName
	}
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	store, err := m.js.ObjectStore(ctx, m.bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		store, err = m.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: m.bucket, Description: "driftscope: models", MaxBytes: maxModelsBytes,
		})
	}
	if err != nil {
		return explain(err)
	}
	if _, err := store.Put(ctx, jetstream.ObjectMeta{Name: name, Description: about}, bytes.NewReader(data)); err != nil {
		return fmt.Errorf("%w; all models have room for %d bytes: driftscope model remove makes some", explain(err), maxModelsBytes)
	}
	return nil
}

// Get fetches a file of at most limit bytes. It returns ErrNoStore, ErrNoModel, ErrName, or ErrTorn where the digest is not that of the bytes.
func (m *Models) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	store, info, err := m.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if info.Opts != nil && info.Opts.Link != nil || info.Size == 0 {
		return nil, ErrTorn
	}
	if info.Size > uint64(limit) {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrTorn, info.Size, limit)
	}
	if err := m.complete(ctx, info); err != nil {
		return nil, err
	}
	object, err := store.Get(ctx, name)
	if err != nil {
		return nil, explain(err)
	}
	defer object.Close()
	data, err := io.ReadAll(io.LimitReader(object, limit+1))
	if err != nil && !errors.Is(err, jetstream.ErrDigestMismatch) {
		return nil, explain(err)
	}
	if info, err = object.Info(); err != nil && !errors.Is(err, jetstream.ErrDigestMismatch) { // another may have been put meanwhile
		return nil, explain(err)
	}
	sum := sha256.Sum256(data)
	if want, err := jetstream.DecodeObjectDigest(info.Digest); err != nil || !bytes.Equal(sum[:], want) {
		return nil, fmt.Errorf("%w: its digest is not that of its bytes", ErrTorn)
	}
	return data, nil
}

// find asks for what is known of a file.
func (m *Models) find(ctx context.Context, name string) (jetstream.ObjectStore, *jetstream.ObjectInfo, error) {
	if checkToken("model", name) != nil {
		return nil, nil, ErrName
	}
	store, err := m.js.ObjectStore(ctx, m.bucket)
	if err != nil {
		return nil, nil, explain(err)
	}
	info, err := store.GetInfo(ctx, name)
	return store, info, explain(err)
}

// complete compares the number of pieces: for one that is missing the client library would wait.
func (m *Models) complete(ctx context.Context, info *jetstream.ObjectInfo) error {
	pieces := fmt.Sprintf("$O.%s.C.%s", m.bucket, info.NUID)
	stream, err := m.js.Stream(ctx, "OBJ_"+m.bucket)
	if err != nil {
		return explain(err)
	}
	state, err := stream.Info(ctx, jetstream.WithSubjectFilter(pieces))
	if err != nil {
		return explain(err)
	}
	if found := state.State.Subjects[pieces]; found == 0 || found != uint64(info.Chunks) {
		return fmt.Errorf("%w: %d of its %d pieces are there", ErrTorn, found, info.Chunks)
	}
	return nil
}

// List says what is kept, by name. Where nothing was ever put it is empty.
func (m *Models) List(ctx context.Context) ([]Model, error) {
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	store, err := m.js.ObjectStore(ctx, m.bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(err)
	}
	infos, err := store.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, explain(err)
	}
	var models []Model
	for _, info := range infos[:min(len(infos), maxModels)] {
		digest, err := jetstream.DecodeObjectDigest(info.Digest)
		if err != nil || checkToken("model", info.Name) != nil {
			continue // somebody else's
		}
		models = append(models, Model{info.Name, info.Description, hex.EncodeToString(digest), int64(info.Size), info.ModTime})
	}
	slices.SortFunc(models, func(a, b Model) int { return cmp.Compare(a.Name, b.Name) })
	return models, nil
}

// Remove frees the room that a file takes. It returns ErrNoStore or ErrNoModel.
func (m *Models) Remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	store, _, err := m.find(ctx, name)
	if err != nil {
		return err
	}
	return explain(store.Delete(ctx, name))
}

// explain says in our words what a person can do something about.
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
	}
	return fmt.Errorf("%w (%w): is it there, with room for more, and may this user use JetStream?", ErrUnanswered, err)
}
