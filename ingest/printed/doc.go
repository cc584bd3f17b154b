// Package printed listens to what OpenCV, FFmpeg, libpng and libjpeg print: some damage they report in no other way. From the first use on it is
// kept off standard error, unless a person asked for it by the libraries' own variables (OPENCV_LOG_LEVEL, OPENCV_FFMPEG_LOGLEVEL).
//
// FFmpeg has one log for the process. Errors while a video is opened are told apart by thread; those of videos that are read beside each other
// are not, and a warning says so.
package printed
