package finder

import "os"

var debug = os.Getenv("FDEBUG") != ""
