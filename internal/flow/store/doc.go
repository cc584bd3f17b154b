// Package store is what every part of this program does alike with JetStream: a bucket that is made where it is missing, and made and read again where it was
// deleted; and a queue that is sent to a stream, each message once and in order. Which streams and buckets there are says internal/flow/bus.
//
//	bucket.go  Bucket: found or made, followed through deletions
//	read.go    a bucket read once, without a consumer
//	sender.go  Sender: a window of messages on its way, confirmed in order
package store
