// Package store implements the use of JetStream that all parts of this program share. It creates a missing bucket, and creates and reads it again after its
// deletion. It sends a queue to a stream, each message once and in order. internal/flow/bus lists the streams and buckets.
//
//	bucket.go  Bucket: found or made, followed through deletions
//	read.go    a bucket read once, without a consumer
//	sender.go  Sender: a window of messages on its way, confirmed in order
package store
