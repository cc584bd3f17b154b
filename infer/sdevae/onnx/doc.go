// Package onnx writes a model and its gauge as graphs for the model file, and reads a file back for training.
//
// The graphs contain only operators that OpenCV 4.6 and the tracker's own compiler can read: Conv, LeakyRelu, MaxPool, Resize, Gemm, Mul, Add, Concat, Exp,
// Log, Sigmoid, Flatten, Reshape. Batch normalisation is folded into the convolution before it, linear maps into the neighbouring layer.
//
//	export.go  Encoder: x → mean, log_sd, and Decoder: z → x, in the gauge's coordinates
//	maps.go    the gauge as layers' weights
//	origin.go  Origin: constants by name, back to the weights of a Model
//
// parity_test.go compares package dnnl, Gorgonia's own operations in float64, and the file in OpenCV.
package onnx
