// Package store holds what all parts of this program do alike with JetStream. A bucket is made if it is missing, and made and read again after it was deleted.
// A queue is sent to a stream, each message once and in order. internal/flow/bus lists the streams and buckets.
//
//	bucket.go  Bucket: found or made, followed through deletions
//	read.go    a bucket read once, without a consumer
//	sender.go  Sender: a window of messages on its way, confirmed in order
package store
