// Package timing numbers and times the frames of recordings. A Clock uses the first source of times that exists: the user (dt, fps), the recording, or Settle,
// which assumes one second per frame with a warning. Times count from the Unix epoch, so a file has the same times in every run. A skipped frame keeps its
// number and its time. Timetable reads the frames.csv beside pictures. Cameras have another clock (ingest/camera).
package timing
