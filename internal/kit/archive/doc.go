// Package archive implements the binary form of checkpoints. Format is the envelope. Codec reads or writes the fields inside it: one list of fields, in a fixed
// order, serves for both. The Codec appends each field to its bytes, or sets it from them:
//
//	func (b *bank) archive(c *archive.Codec) { c.Floats(b.mean); c.Uint(&b.count); c.Require(b.count <= limit, "%d transitions", b.count) }
//
// Numbers are little-endian. Integers, flags and 64-bit numbers take eight bytes, 32-bit numbers four. Both sides know the lengths of lists, or the lengths are
// written before the lists. The envelope is
//
//	magic | version, uint32 | length of the payload, uint64 | payload | SHA-256 of all before it
//
// A Codec keeps its first error. After it a reading Codec changes nothing. A writing Codec continues: check Err before Seal if an unreadable
// state must not be written.
package archive
