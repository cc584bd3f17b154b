// Package timing gives the frames of recordings their numbers and times. A Clock is asked in this order: what the person gave (dt, fps), then what
// the recording knows, and Settle last, which takes one second a frame, with a warning. Times count from the Unix epoch, so that one file
// has the same times in every run. A skipped frame keeps its number and its time. Timetable is the frames.csv beside pictures.
//
// A camera's frames have another clock: ingest/camera.
package timing
