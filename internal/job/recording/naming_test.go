package recording

import "testing"

func TestStreamName(t *testing.T) {
	for source, want := range map[string]string{
		"sim:molecule":        "molecule",
		"sim:vesicle?snr=2.5": "vesicle-snr-2-5",
		"data/bead 2.tif":     "bead-2",
		"run1/*.png":          "stream",
		"/data/trap-good.mp4": "trap-good",
		"größe.mov":           "gr--e",
		"genicam:Basler-1":    "genicam-Basler-1",
		"rtsp://u:secret@cam": "cam",
		"gst:a ! b,rate=20/1": "gst",
		".":                   "stream",
		"nats:lab.cam":        "lab-cam",
		"nats://lab:4222/a.b": "a-b",
		"rtsp://192.168.1.10": "192-168-1-10",
		"http://scope/a.mjpg": "a",

		"rtsp://192.168.1.10:554/live?user=admin&password=hunter2":               "live",
		"http://scope:8080/?user=admin&pwd=hunter2/x":                            "scope",
		"http://scope?token=a@hunter2":                                           "scope",
		"rtsp://scope:554/user=admin&password=hunter2&channel=1&stream=0.sdp?on": "scope",
		"rtsp://admin:hunter2@scope:554/":                                        "scope",
		"rtsp://admin:p@hunter2@scope/live#hunter2":                              "live",
		"rtsp://admin:12/hunter2@scope":                                          "scope",
		"rtsp://admin:hunter2/3@scope":                                           "stream",
		"nats://u:hunter2@lab:4222/lab.cam?hunter2":                              "lab-cam",
		"nats://u:hunter2@lab:4222":                                              "lab",
	} {
		if got := StreamName(source); got != want {
			t.Errorf("%s: found %q, expected %q", source, got, want)
		}
	}
}

// TestSourceName: the printed name of a source can be typed again and selects the same series.
func TestSourceName(t *testing.T) {
	for arg, want := range map[string]string{
		"tiff:stack.tif?channel=2&slice=1": "tiff:stack.tif?channel=2&slice=1",
		"tiff:stack.tif?slice=3":           "tiff:stack.tif?slice=3",
		"ndtiff:run?channel=DAPI&z=3":      "ndtiff:run?channel=DAPI&z=3",
		"zarr:run.zarr?channel=2&level=1":  "zarr:run.zarr?channel=2&level=1",
		"h5:a.h5?dataset=/x&axes=txy":      "hdf5:a.h5?axes=txy&dataset=%2Fx",
		"czi:a.czi?channel=2":              "czi:a.czi?channel=2",
		"nd2:a.nd2?channel=2&slice=1":      "nd2:a.nd2?channel=2&slice=1",
		"sim:molecule":                     "sim:molecule",
	} {
		c, err := Source(arg, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := SourceName(c); got != want {
			t.Errorf("%s: found %q, expected %q", arg, got, want)
		}
	}
}
