//go:build nodnnl

package dnnl

// allowedAllocations covers the goroutines that each parallel section and each larger matrix product starts. Their number does not grow with the pictures.
const allowedAllocations = 2000
