//go:build !cgo

package infer

// kernels is empty: a build without OpenCV runs no model.
type kernels struct{}

// tried does nothing, because a build without OpenCV cannot run the model.
func (*Model) tried() error { return nil }
