// Package picture turns bytes into a frame's Mat and back: PNG, JPEG and BMP files, TIFF pages, pixel types. Every size in a header is
// checked here before OpenCV sees the data, because its exceptions end the process. Colours are red, green, blue in a page and blue, green, red
// in a Mat. Alpha is dropped; depths stay: 8 or 16 bits unsigned, or float32.
package picture
