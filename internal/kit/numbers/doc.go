// Package numbers has small exact algorithms on arrays.
//
//	order.go       order statistics without sorting
//	eigen.go       the symmetric eigenproblem as principal components need it: x = Q diag(λ) Q'
//	grid.go        the points of a picture that are near a place
//	assignment.go  rows paired with columns at the least sum of costs, where few pairs are possible
package numbers
