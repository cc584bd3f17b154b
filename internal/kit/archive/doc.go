// Package archive is the binary form of checkpoints: a Format, which is the envelope, and a Codec, which passes on the fields inside it.
//
// One list of fields serves both ways. A type shows its fields to a Codec in a fixed order; the Codec appends them to its bytes, or
// sets them from its bytes:
//
//	func (b *bank) archive(c *archive.Codec) {
//		c.Floats(b.mean)
//		c.Uint(&b.count)
//		c.Require(b.count <= limit, "%d transitions", b.count)
//	}
//
// Numbers are little-endian. Integers, flags and 64-bit numbers take eight bytes, 32-bit numbers four. The lengths of lists are known to
// both sides, or passed on before. The envelope is
//
//	magic | version, uint32 | length of the payload, uint64 | payload | SHA-256 of all before it
//
// A Codec keeps its first error. After it a reading Codec changes nothing; a writing one goes on, and whoever seals the bytes asks for Err
// if a state that cannot be read back must not be written.
package archive
