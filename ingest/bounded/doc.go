// Package bounded reads parts of recordings and unpacks them. No number in a file makes it allocate more memory than the file
// or the caller allows.
package bounded
