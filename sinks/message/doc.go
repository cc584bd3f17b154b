// Package message is how a stream's messages look outside the process. A record is the JSON of one: Encoder writes it, Decode reads it back and
// holds it to bounds, for it may come from anybody.
//
// Who reads records depends on every field: fields are added, never renamed or removed while latent.Version stays. docs/schemas is made of
// these types, of their comments and of their unit tags (make schemas), and docs/schemas/v1.txt is the list that a test holds them to.
//
// A latent is written once a frame. Its JSON is appended by hand, and has to stay what its record's tags say; an Encoder reuses its memory, so
// that this allocates nothing.
package message
