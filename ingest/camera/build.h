#ifdef __cplusplus
extern "C" {
#endif

// driftscope_opencv_build describes how OpenCV was built. The text is the caller's to free.
char *driftscope_opencv_build(void);

#ifdef __cplusplus
}
#endif
