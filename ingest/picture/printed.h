#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// driftscope_keep_opencv turns OpenCV's log off.
void driftscope_keep_opencv(void);

// driftscope_keep_ffmpeg stores FFmpeg's errors for driftscope_ffmpeg_said instead of printing them.
void driftscope_keep_ffmpeg(void);

// driftscope_print_lines makes C's stdout line-buffered, because a Go program ends without flushing it. OpenCV prints FFmpeg's lines there if the user requests
// them.
void driftscope_print_lines(void);

// driftscope_ffmpeg_said copies the first error since the last call, without its end of line, and returns the number of errors. With of_thread it uses only the
// errors of the calling thread, which have their own count.
unsigned long driftscope_ffmpeg_said(int of_thread, char *line, size_t size);

// driftscope_listen captures what the calling thread prints to C's stderr and C++'s cerr, until driftscope_heard, which copies the first line and returns the
// number of bytes. Go's standard error and descriptor 2 do not change.
void driftscope_listen(void);
unsigned long driftscope_heard(char *line, size_t size);

#ifdef __cplusplus
}
#endif
