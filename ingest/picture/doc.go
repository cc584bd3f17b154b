// Package picture converts PNG, JPEG and BMP files and TIFF pages to a frame's Mat and back, and converts pixel types. It checks every size in a header before
// OpenCV sees the data, because OpenCV's exceptions end the process. Pages have the order red, green, blue; Mats have blue, green, red. Alpha is dropped.
// Depths are kept: 8 or 16 bits unsigned, or float32.
//
// It also captures the lines that OpenCV, FFmpeg, libpng and libjpeg print (printed.go), because they report some damage in no other way. From the first use on
// these lines do not reach standard error, unless the user set the libraries' own variables (OPENCV_LOG_LEVEL, OPENCV_FFMPEG_LOGLEVEL). FFmpeg has one log per
// process. Errors during the opening of a video are separated by thread. Errors of videos read at the same time cannot be separated, and the warning names all
// of them.
package picture
