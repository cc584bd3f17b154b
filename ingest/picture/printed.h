#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// driftscope_keep_opencv has OpenCV log nothing.
void driftscope_keep_opencv(void);

// driftscope_keep_ffmpeg has FFmpeg's errors kept for the two functions below instead of printed.
void driftscope_keep_ffmpeg(void);

// driftscope_print_lines has C's stdout, to which OpenCV prints FFmpeg's lines when asked to, written line by line: a Go program ends without
// emptying it.
void driftscope_print_lines(void);

// driftscope_ffmpeg_said copies the first error since the last call, without its end of line, and returns how many there were. OF_THREAD asks
// for those of the calling thread, which are counted apart.
unsigned long driftscope_ffmpeg_said(int of_thread, char *line, size_t size);

// driftscope_listen has what the calling thread prints with C's stderr and C++'s cerr kept until driftscope_heard, which copies its first
// line and returns how many bytes there were. Go's own standard error, and descriptor 2, are what they were.
void driftscope_listen(void);
unsigned long driftscope_heard(char *line, size_t size);

#ifdef __cplusplus
}
#endif
