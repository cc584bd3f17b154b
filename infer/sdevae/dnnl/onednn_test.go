//go:build !nodnnl

package dnnl

const allowedAllocations = 0
