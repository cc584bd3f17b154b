// Package message defines the form of a stream's messages outside the process. A record is the JSON of one message. Encoder writes it. Decode reads it and
// checks its limits, because its sender may be anyone.
//
// Readers of records depend on every field: as long as latent.Version stays the same, fields may be added, but never renamed or removed. make schemas generates
// docs/schemas from these types, their comments and their unit tags. A test compares the fields with the list docs/schemas/v1.txt.
//
// A latent is written in every frame. Hand-written code appends its JSON, which must agree with the tags of its record. An Encoder reuses its memory, so this
// allocates nothing.
package message
