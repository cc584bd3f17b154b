package bus

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Headers of a stream's direct replies (ADR-31 of NATS).
const (
	directStatus   = "Status"
	directSequence = "Nats-Sequence"
	notFound       = "404"
)

// maxModelPieces is the largest number of messages of a model; nats.go writes pieces of 128 KiB.
const maxModelPieces = 1 << 16

// pieces reads an object store message by message, with requests of the stream's direct API. The client library uses a consumer instead. But the right to
// create consumers includes delivery to any subject, so a user who only reads models does not have it.
type pieces struct {
	nc     *nats.Conn
	bucket string
}

// objectInfo is the metadata of an object in the store: the fields of jetstream.ObjectInfo that pieces uses.
type objectInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	NUID        string `json:"nuid"`
	Size        uint64 `json:"size"`
	Chunks      uint32 `json:"chunks"`
	Digest      string `json:"digest"`
	Deleted     bool   `json:"deleted"`
	Options     *struct {
		Link *json.RawMessage `json:"link"`
	} `json:"options"`
	put time.Time
}

// direct asks the stream for one message.
func (p *pieces) direct(ctx context.Context, subject string, request any) (*nats.Msg, error) {
	body := []byte(nil)
	if request != nil {
		var err error
		if body, err = json.Marshal(request); err != nil {
			return nil, err
		}
	}
	m, err := p.nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET.OBJ_"+p.bucket+subject, body)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, jetstream.ErrBucketNotFound
	case err != nil:
		return nil, err
	case m.Header.Get(directStatus) == notFound:
		return nil, jetstream.ErrObjectNotFound
	case m.Header.Get(directStatus) != "":
		return nil, fmt.Errorf("%w: the store answers %.80q", ErrTorn, m.Header.Get("Description"))
	}
	return m, nil
}

// metaSubject returns the subject of an object's metadata.
func (p *pieces) metaSubject(name string) string {
	return "$O." + p.bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

// info returns an object's metadata, or jetstream.ErrObjectNotFound if it does not exist or was deleted.
func (p *pieces) info(ctx context.Context, name string) (*objectInfo, error) {
	return p.at(ctx, p.metaSubject(name))
}

// at returns the metadata of an object from its subject in the store.
func (p *pieces) at(ctx context.Context, subject string) (*objectInfo, error) {
	m, err := p.direct(ctx, "."+subject, nil)
	if err != nil {
		return nil, err
	}
	var info objectInfo
	if err := json.Unmarshal(m.Data, &info); err != nil {
		return nil, ErrTorn
	}
	if info.Deleted {
		return nil, jetstream.ErrObjectNotFound
	}
	info.put, _ = time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
	return &info, nil
}

// data reads an object's bytes and checks their number and digest against info.
func (p *pieces) data(ctx context.Context, info *objectInfo) ([]byte, error) {
	want, err := jetstream.DecodeObjectDigest(info.Digest)
	if err != nil || info.Options != nil && info.Options.Link != nil || info.Size == 0 || info.Chunks > maxModelPieces {
		return nil, ErrTorn
	}
	data := make([]byte, 0, info.Size)
	subject := "$O." + p.bucket + ".C." + info.NUID
	next := uint64(1)
	for piece := range info.Chunks {
		m, err := p.direct(ctx, "", struct {
			Seq  uint64 `json:"seq"`
			Next string `json:"next_by_subj"`
		}{next, subject})
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil, fmt.Errorf("%w: only %d of its %d pieces exist", ErrTorn, piece, info.Chunks)
		}
		if err != nil {
			return nil, err
		}
		sequence, err := strconv.ParseUint(m.Header.Get(directSequence), 10, 64)
		if err != nil || sequence < next || uint64(len(data)+len(m.Data)) > info.Size {
			return nil, fmt.Errorf("%w: its pieces do not add up to %d bytes", ErrTorn, info.Size)
		}
		data, next = append(data, m.Data...), sequence+1
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(want) {
		return nil, fmt.Errorf("%w: its digest does not match its bytes", ErrTorn)
	}
	return data, nil
}
