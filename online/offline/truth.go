// # Truths
//
// Map compares latents with a truth (align.go). A model's latents have axes, signs and units of their own, so they are mapped first:
//
//	Isometry   a rotation or reflection and a translation, as many dimensions as the truth has
//	Affine     any affine map, by least squares
//
// MeanSquares and R2 say what is left.
package offline
