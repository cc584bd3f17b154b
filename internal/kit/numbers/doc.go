// Package numbers provides small exact algorithms on arrays.
//
//	order.go       order statistics without sorting
//	eigen.go       the symmetric eigenproblem of principal components: x = Q diag(λ) Q'
//	grid.go        finds the points of a picture near a place
//	assignment.go  pairs rows with columns at the least sum of costs, if few pairs are possible
package numbers
