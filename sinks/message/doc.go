// Package message defines the form of a stream's messages outside the process. A record is the JSON of one message. Encoder writes it. Decode reads it
// and checks its bounds, because its sender is unknown.
//
// Who reads records depends on every field: fields are added, never renamed or removed while latent.Version stays. docs/schemas is made of
// these types, of their comments and of their unit tags (make schemas), and docs/schemas/v1.txt is the list that a test holds them to.
//
// A latent is written once a frame. Its JSON is appended by hand, and has to stay what its record's tags say; an Encoder reuses its memory, so
// that this allocates nothing.
package message
