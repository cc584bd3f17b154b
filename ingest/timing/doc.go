// Package timing numbers and times the frames of recordings. A Clock takes times in this order: from the user (dt, fps), from
// the recording, and last from Settle, which assumes one second per frame with a warning. Times count from the Unix epoch, so
// a file has the same times in every run. A skipped frame keeps its number and its time. Timetable is the frames.csv beside
// pictures. Cameras use another clock: ingest/camera.
package timing
