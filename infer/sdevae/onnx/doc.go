// Package onnx writes a model and its gauge as graphs for the model file, and reads a file back for training.
//
// Only operators that OpenCV 4.6 and the tracker's own compiler read are written: Conv, LeakyRelu, MaxPool, Resize, Gemm, Mul, Add, Concat, Exp, Log,
// Sigmoid, Flatten, Reshape. Batch normalisation is folded into the convolution before it, linear maps into the layer beside them.
//
//	export.go  Encoder: x → mean, log_sd, and Decoder: z → x, in the gauge's coordinates
//	maps.go    the gauge as layers' weights
//	origin.go  Origin: constants by name, back to the weights of a Model
//
// parity_test.go compares package dnnl, Gorgonia's own operations in float64, and OpenCV on the file.
package onnx
