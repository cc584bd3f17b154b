package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrForbidden reports that a stream is missing or differs, and that this user may not create or change it.
var ErrForbidden = errors.New("this user may not create or change it")

// refusedEvery is the interval between two checks for a refused request. The server reports a refusal separately, and never answers the request.
const refusedEvery = 2 * time.Millisecond

// Resource is a JetStream stream, a key-value bucket or an object store that Driftscope uses. Exactly one of the three configurations is set; resources.go
// defines all resources.
type Resource struct {
	Holds   string // description of its contents, for display
	Init    string // arguments of driftscope site init that create the resource, besides the server
	Stream  *jetstream.StreamConfig
	Bucket  *jetstream.KeyValueConfig
	Objects *jetstream.ObjectStoreConfig
}

// Name returns the name of the JetStream stream. Buckets and object stores are streams, too.
func (r *Resource) Name() string { return r.wanted().Name }

// wanted returns the part of the stream's configuration that Differs compares.
func (r *Resource) wanted() jetstream.StreamConfig {
	switch {
	case r.Bucket != nil:
		b := r.Bucket
		return jetstream.StreamConfig{
			Name: "KV_" + b.Bucket, Subjects: []string{"$KV." + b.Bucket + ".>"}, MaxAge: b.TTL, MaxBytes: b.MaxBytes, MaxMsgSize: b.MaxValueSize,
			MaxMsgsPerSubject: int64(max(b.History, 1)), Replicas: b.Replicas, Storage: b.Storage,
		}
	case r.Objects != nil:
		o := r.Objects
		return jetstream.StreamConfig{
			Name: "OBJ_" + o.Bucket, Subjects: []string{"$O." + o.Bucket + ".C.>", "$O." + o.Bucket + ".M.>"}, MaxAge: o.TTL, MaxBytes: o.MaxBytes, Replicas: o.Replicas, Storage: o.Storage,
		}
	}
	return *r.Stream
}

// Find returns the stream, or an error that wraps jetstream.ErrStreamNotFound.
func (r *Resource) Find(ctx context.Context, js jetstream.JetStream) (jetstream.Stream, error) {
	return js.Stream(ctx, r.Name())
}

// Ensure returns the stream. It creates a missing stream, and then made is true. The error wraps ErrForbidden if this user may not create the stream.
func (r *Resource) Ensure(ctx context.Context, js jetstream.JetStream) (s jetstream.Stream, made bool, err error) {
	if s, err = r.Find(ctx, js); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, false, err
	}
	err = guarded(ctx, js, "CREATE."+r.Name(), func(ctx context.Context) error { return r.create(ctx, js) })
	switch {
	case errors.Is(err, jetstream.ErrStreamNameAlreadyInUse), errors.Is(err, jetstream.ErrBucketExists): // another process was faster
	case errors.Is(err, ErrForbidden):
		return nil, false, fmt.Errorf("the JetStream stream %s (%s) is missing: %w: the site's admin runs driftscope site init%s", r.Name(), r.Holds, err, r.Init)
	case err != nil:
		return nil, false, err
	default:
		made = true
	}
	s, err = r.Find(ctx, js)
	return s, made && err == nil, err
}

// create creates the resource on the server.
func (r *Resource) create(ctx context.Context, js jetstream.JetStream) (err error) {
	switch {
	case r.Bucket != nil:
		_, err = js.CreateKeyValue(ctx, *r.Bucket)
	case r.Objects != nil:
		_, err = js.CreateObjectStore(ctx, *r.Objects)
	default:
		_, err = js.CreateStream(ctx, *r.Stream)
	}
	return err
}

// Settle is like Ensure, but also changes an existing stream to the settings of r; it never removes replicas. If this user may not change the stream, Settle
// returns the stream unchanged, and an error that wraps ErrForbidden. r must be a stream.
func (r *Resource) Settle(ctx context.Context, js jetstream.JetStream) (s jetstream.Stream, made bool, err error) {
	s, made, err = r.Ensure(ctx, js)
	if err != nil || made {
		return s, made, err
	}
	r.Stream.Replicas = max(r.Stream.Replicas, s.CachedInfo().Config.Replicas)
	differs := r.Differs(s.CachedInfo().Config)
	if len(differs) == 0 {
		return s, false, nil
	}
	var changed jetstream.Stream
	err = guarded(ctx, js, "UPDATE."+r.Name(), func(ctx context.Context) (err error) {
		changed, err = js.UpdateStream(ctx, *r.Stream)
		return err
	})
	if errors.Is(err, ErrForbidden) {
		return s, false, fmt.Errorf("the JetStream stream %s (%s) stays as it is: %w: %s", r.Name(), r.Holds, err, strings.Join(differs, "; "))
	}
	return changed, false, err
}

// guarded calls do, which sends a request to the JetStream API. It returns ErrForbidden as soon as the server refuses the request. It ignores the refusal of an
// earlier request, which may still be the last error of the connection.
func guarded(ctx context.Context, js jetstream.JetStream, what string, do func(context.Context) error) error {
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done, before := make(chan struct{}), js.Conn().LastError()
	go func() {
		defer close(done)
		tick := time.NewTicker(refusedEvery)
		defer tick.Stop()
		for {
			if err := js.Conn().LastError(); err != before && errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"$JS.API.STREAM.`+what+`"`) {
				stop(ErrForbidden)
			}
			select {
			case <-asking.Done():
				return
			case <-tick.C:
			}
		}
	}()
	err := do(asking)
	if cause := context.Cause(asking); err != nil && errors.Is(cause, ErrForbidden) {
		err = ErrForbidden
	}
	stop(nil)
	<-done
	return err
}

// Differs returns the settings of an existing stream that differ from r, and settings that copy messages to or from other subjects.
func (r *Resource) Differs(there jetstream.StreamConfig) (all []string) {
	wanted := r.wanted()
	differ := func(what string, found, expected any) {
		if found != expected {
			all = append(all, fmt.Sprintf("%s: found %v, expected %v", what, found, expected))
		}
	}
	slices.Sort(there.Subjects)
	slices.Sort(wanted.Subjects)
	differ("subjects", strings.Join(there.Subjects, " "), strings.Join(wanted.Subjects, " "))
	differ("storage", there.Storage, wanted.Storage)
	differ("retention", there.Retention, wanted.Retention)
	differ("replicas", there.Replicas, max(wanted.Replicas, 1))
	differ("max_age", there.MaxAge, wanted.MaxAge)
	differ("max_bytes", limit(there.MaxBytes), limit(wanted.MaxBytes))
	differ("max_msg_size", limit(there.MaxMsgSize), limit(wanted.MaxMsgSize))
	differ("max_msgs_per_subject", limit(there.MaxMsgsPerSubject), limit(wanted.MaxMsgsPerSubject))
	if r.Stream != nil {
		differ("compression", there.Compression, wanted.Compression)
		differ("duplicate_window", there.Duplicates, cmp.Or(wanted.Duplicates, there.Duplicates))
		differ("allow_direct", there.AllowDirect, wanted.AllowDirect)
	}
	none := func(what string, is bool) {
		if is {
			all = append(all, what+": found one, expected none: it copies messages between subjects")
		}
	}
	none("republish", there.RePublish != nil)
	none("mirror", there.Mirror != nil)
	none("sources", len(there.Sources) > 0)
	none("subject_transform", there.SubjectTransform != nil)
	return all
}

// limit formats a limit as the server does: -1 means no limit.
func limit[N int32 | int64](n N) N {
	if n <= 0 {
		return -1
	}
	return n
}
