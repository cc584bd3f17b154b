#include "build.h"

#include <cstring>

#include <opencv2/core/utility.hpp>

char *driftscope_opencv_build(void) { return strdup(cv::getBuildInformation().c_str()); }
