// Package nice has what works beside the frame path give way to it.
package nice
