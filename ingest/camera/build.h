#ifdef __cplusplus
extern "C" {
#endif

// driftscope_opencv_build describes how OpenCV was built. The caller frees the text.
char *driftscope_opencv_build(void);

#ifdef __cplusplus
}
#endif
