// Package bounded reads parts of recordings and unpacks them: no number in a file makes it take memory that the file, or the caller, does not allow.
package bounded
