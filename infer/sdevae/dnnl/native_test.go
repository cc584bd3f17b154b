//go:build nodnnl

package dnnl

// Each parallel section starts its goroutines afresh, and so does every larger matrix product; none of this grows with the pictures.
const allowedAllocations = 2000
