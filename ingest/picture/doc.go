// Package picture converts bytes to a frame's Mat and back: PNG, JPEG and BMP files, TIFF pages, pixel types. It checks every
// size in a header before OpenCV sees the data, because OpenCV's exceptions end the process. Pages are red, green, blue, Mats
// are blue, green, red. Alpha is dropped. Depths are kept: 8 or 16 bits unsigned, or float32.
//
// It captures what OpenCV, FFmpeg, libpng and libjpeg print, too (printed.go), because they report some damage in no other way. From the
// first use on it keeps this output off standard error, unless the user set the libraries' own variables (OPENCV_LOG_LEVEL,
// OPENCV_FFMPEG_LOGLEVEL). FFmpeg has one log per process. Errors during the opening of a video are separated by thread. Errors of
// videos read at the same time are not, and a warning says so.
package picture
