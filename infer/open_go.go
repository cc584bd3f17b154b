//go:build !cgo

package infer

// kernels: a build without OpenCV runs no model.
type kernels struct{}

// tried has nothing to try with: the build that runs the model does.
func (*Model) tried() error { return nil }
