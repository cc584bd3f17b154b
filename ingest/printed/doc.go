// Package printed captures what OpenCV, FFmpeg, libpng and libjpeg print, because they report some damage in no other way.
// From the first use on it keeps this output off standard error, unless the user set the libraries' own variables
// (OPENCV_LOG_LEVEL, OPENCV_FFMPEG_LOGLEVEL).
//
// FFmpeg has one log per process. Errors during the opening of a video are separated by thread. Errors of videos read at the
// same time are not, and a warning says so.
package printed
