// Package picture converts bytes to a frame's Mat and back: PNG, JPEG and BMP files, TIFF pages, pixel types. It checks every
// size in a header before OpenCV sees the data, because OpenCV's exceptions end the process. Pages are red, green, blue, Mats
// are blue, green, red. Alpha is dropped. Depths are kept: 8 or 16 bits unsigned, or float32.
package picture
