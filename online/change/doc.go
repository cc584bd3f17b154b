// Package change weighs whether the law of all objects has changed.
package change
