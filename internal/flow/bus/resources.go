package bus

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Limits on one record in the buckets of a site, in bytes.
const (
	MostDesired  = 2*(64<<10) + 16<<10 // a wanted stream: in JSON, a line break of its configuration takes two bytes
	MostLease    = 2 << 10             // a lease: four names of 64 characters and two numbers take a quarter of it
	MostAnnounce = 1000*128 + 32<<10   // a worker with a thousand streams, and 16 problems
	MostJob      = 512 << 10           // a film of a batch: the default payload limit of a NATS server is 1 MiB
)

const (
	messageRoom    = 1024                // bytes of a message in addition to the value
	maxModelsBytes = 1 << 30             // limit on all models together
	filmsKept      = 30 * 24 * time.Hour // age limit of films, records and results of a batch: longer than a holiday
)

// Leases returns the bucket with the worker of each stream. 10,000 leases take 6 MB.
func Leases(bucket string, ttl time.Duration, replicas int) Resource {
	return Resource{Holds: "worker of each stream", Bucket: &jetstream.KeyValueConfig{
		Bucket: bucket, Description: "driftscope: worker of each stream", History: 1, TTL: ttl, Storage: jetstream.FileStorage, Replicas: replicas,
		MaxBytes: 64 << 20, MaxValueSize: MostLease + messageRoom,
	}}
}

// Desired returns the bucket of the wanted streams. 10,000 typical configurations take 40 MB.
func (s Subject) Desired(replicas int) Resource {
	return Resource{Holds: "streams that should run", Bucket: &jetstream.KeyValueConfig{
		Bucket: s.BucketOf("streams"), Description: "driftscope: streams that should run", History: 1, Storage: jetstream.FileStorage, Replicas: replicas,
		MaxBytes: 256 << 20, MaxValueSize: MostDesired + messageRoom,
	}}
}

// Workers returns the bucket of the present workers.
func (s Subject) Workers(ttl time.Duration, replicas int) Resource {
	return Resource{Holds: "present workers", Bucket: &jetstream.KeyValueConfig{
		Bucket: s.BucketOf("workers"), Description: "driftscope: present workers", History: 1, TTL: ttl, Storage: jetstream.FileStorage, Replicas: replicas,
		MaxBytes: 64 << 20, MaxValueSize: MostAnnounce + messageRoom,
	}}
}

// Laws returns the bucket of the site's laws and configurations: five revisions of each.
func (s Subject) Laws(replicas int) Resource {
	return Resource{Holds: "laws and configurations", Bucket: &jetstream.KeyValueConfig{
		Bucket: s.Bucket(), Description: "driftscope: configurations and laws of " + s.prefix + "." + s.site,
		History: 5, MaxBytes: 256 << 20, Storage: jetstream.FileStorage, Replicas: replicas,
	}}
}

// Results returns the JetStream stream that stores the messages of stream s.
func (s Subject) Results(maxAge time.Duration, maxBytes int64, replicas int) Resource {
	return Resource{Holds: "results of " + s.stream, Init: " --stream " + s.stream, Stream: &jetstream.StreamConfig{
		Name: s.Name(), Subjects: []string{s.Of("kept.*")}, Description: "driftscope: what " + s.Of("*") + " published",
		MaxAge: maxAge, MaxBytes: maxBytes, Duplicates: min(maxAge, 10*time.Minute),
		Storage: jetstream.FileStorage, Replicas: replicas, AllowDirect: true, Compression: jetstream.S2Compression,
	}}
}

// CameraSubject is the prefix of the subjects of a site's cameras.
const CameraSubject = "camera."

// Frames returns the JetStream stream that stores the frames published on a subject.
func Frames(subject string, maxAge time.Duration, maxBytes int64, replicas int) Resource {
	r := Resource{Holds: "frames of " + subject, Stream: &jetstream.StreamConfig{
		Name: FramesName(subject), Subjects: []string{subject}, Description: "driftscope: frames published on " + subject,
		Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld, MaxBytes: maxBytes, MaxAge: maxAge, Replicas: replicas, AllowDirect: true,
	}}
	if camera, is := strings.CutPrefix(subject, CameraSubject); is {
		r.Init = " --camera " + camera
	}
	return r
}

// FramesName returns the name of the JetStream stream for a subject's frames. The name has no dots and at most 31 characters, so every file system accepts it.
// It includes a hash if another subject could get the same name.
func FramesName(subject string) string {
	const prefix = "frames_"
	name := prefix + strings.ReplaceAll(subject, ".", "_")
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.'
	}
	if len(name) <= maxName && strings.IndexFunc(subject, func(r rune) bool { return !plain(r) }) < 0 {
		return name
	}
	sum := sha256.Sum256([]byte(subject))
	tail := strings.Map(func(r rune) rune {
		if plain(r) && r != '.' {
			return r
		}
		return '-'
	}, subject)
	return fmt.Sprintf("%s%.*s-%x", prefix, maxName-len(prefix)-1-12, tail, sum[:6])
}

// ModelStore returns the object store of models for the site's streams.
func (s Subject) ModelStore(replicas int) Resource {
	name := s.prefix + "_" + s.site + "_models"
	if len(name) > maxBucket || strings.Count(name, "_") > 2 { // another site could get the same name
		sum := sha256.Sum256([]byte(s.prefix + "." + s.site))
		name = fmt.Sprintf("models-%x", sum[:6])
	}
	return Resource{Holds: "models", Objects: &jetstream.ObjectStoreConfig{Bucket: name, Description: "driftscope: models", MaxBytes: maxModelsBytes, Replicas: replicas}}
}

// FilmSubject is the prefix of the subject of every job of the site's batches.
func (s Subject) FilmSubject() string { return s.prefix + "." + s.site + ".batch.job" }

// filmName returns the name of a resource for all batches of the site, or for one batch. It is short enough for every file system, and unique to the site.
func (s Subject) filmName(what, batch string) string {
	sum := sha256.Sum256([]byte(s.FilmSubject() + " " + batch))
	return fmt.Sprintf("%s-%x", what, sum[:8])
}

// Films returns the work queue of the site's films. Each job has its own subject and stays in the queue, only once, until a worker acknowledges it.
func (s Subject) Films(replicas int) Resource {
	return Resource{Holds: "films to track", Stream: &jetstream.StreamConfig{
		Name: s.filmName("films", ""), Description: "driftscope: films to track", Subjects: []string{s.FilmSubject() + ".>"}, Replicas: replicas,
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, MaxMsgSize: MostJob, MaxAge: filmsKept,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	}}
}

// FilmRecords returns the bucket of the tracked films.
func (s Subject) FilmRecords(replicas int) Resource {
	return Resource{Holds: "films that were tracked", Bucket: &jetstream.KeyValueConfig{
		Bucket: s.filmName("films", "records"), Description: "driftscope: films that were tracked", TTL: filmsKept, Replicas: replicas,
	}}
}

// Batch returns the object store of a batch's films and results. The command batch makes it.
func (s Subject) Batch(batch string, replicas int) Resource {
	return Resource{Holds: "films and results of batch " + batch, Objects: &jetstream.ObjectStoreConfig{
		Bucket: s.filmName("batch", batch), Description: "driftscope: films and results of " + batch, TTL: filmsKept, Replicas: replicas,
	}}
}
