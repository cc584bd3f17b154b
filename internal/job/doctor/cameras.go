package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"driftscope/internal/kit/console"
)

// leastBuffer is the least size of the kernel's socket buffer for a GigE camera, bytes; docs/howto/cameras.md has the command that sets it.
const leastBuffer = 33554432

// cameras checks every video device, the readers of GenICam cameras, and cameras on the network.
func cameras(ctx context.Context, m machine) []Finding {
	all := videoDevices(m)
	for _, line := range support() {
		all = append(all, kindOfCamera(line))
	}
	if !m.network {
		return all
	}
	for _, found := range networked(ctx) {
		if strings.HasPrefix(found, "genicam:") {
			all = append(all, Finding{Check: "cameras", Grade: Good, Found: found, Page: console.CamerasPage}, socketBuffer(m.proc))
		}
	}
	return all
}

// kindOfCamera converts a line about a camera library of this build to a finding.
func kindOfCamera(line string) Finding {
	f := Finding{Check: "cameras", Grade: Good, Found: line, Page: console.CamerasPage}
	kind, value, _ := strings.Cut(line, ": ")
	if kind == "genicam" && strings.HasPrefix(value, "no") {
		f.Grade, f.Found, f.Mend = Note, "genicam: no GigE Vision or USB3 Vision camera can be read: Aravis is not installed", "sudo apt install aravis-tools-cli"
	}
	return f
}

// videoDevices opens each device. A device that cannot be opened is graded bad, because it is a camera that cannot be used.
func videoDevices(m machine) []Finding {
	devices, _ := filepath.Glob(filepath.Join(m.devices, "video*")) // the pattern is well-formed
	slices.Sort(devices)
	if len(devices) == 0 {
		f := Finding{Check: "cameras", Grade: Note, Found: "no webcam or frame grabber: there is no " + filepath.Join(m.devices, "video0"), Page: console.CamerasPage}
		f.Mend = "lsusb lists what is plugged in; a container is given one by --device /dev/video0 --group-add video"
		return []Finding{f}
	}
	all := make([]Finding, 0, len(devices))
	for _, path := range devices {
		all = append(all, videoDevice(m, path))
	}
	return all
}

func videoDevice(m machine, path string) Finding {
	name, _ := os.ReadFile(filepath.Join(m.sys, filepath.Base(path), "name"))
	number := strings.TrimPrefix(filepath.Base(path), "video")
	f := Finding{Check: "cameras", Grade: Good, Page: console.CamerasPage, Found: fmt.Sprintf("camera:%s, %s %s, can be opened", number, path, strings.TrimSpace(string(name)))}
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err == nil {
		file.Close()
		return f
	}
	f.Grade, f.Found = Bad, fmt.Sprintf("camera:%s cannot be opened: %v", number, err)
	switch {
	case errors.Is(err, os.ErrPermission) && groupOf(path) != "" && groupOf(path) != "root":
		f.Mend = fmt.Sprintf("sudo usermod -aG %s \"$USER\", then log out and in; a service: SupplementaryGroups=%[1]s", groupOf(path))
	case errors.Is(err, os.ErrPermission):
		f.Mend = "sudo chgrp video " + path + " && sudo chmod 660 " + path + ", and a udev rule that makes it permanent"
	case errors.Is(err, syscall.EBUSY):
		f.Mend = "sudo fuser -v " + path + " shows which program uses it: end that program"
	default:
		f.Mend = "unplug the camera and plug it in again; sudo dmesg | tail says what the kernel thinks of it"
	}
	return f
}

// socketBuffer checks whether the kernel's socket buffer is large enough for a picture of a GigE camera.
func socketBuffer(proc string) Finding {
	f := Finding{Check: "cameras", Grade: Good, Page: console.CamerasPage}
	text, err := os.ReadFile(filepath.Join(proc, "sys/net/core/rmem_max"))
	most, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		f.Found = "the kernel's socket buffer is unknown here"
		return f
	}
	f.Found = fmt.Sprintf("the kernel's socket buffer has %d bytes, net.core.rmem_max", most)
	if most < leastBuffer {
		f.Grade = Note
		f.Found += ": frames of a GigE camera may be lost"
		f.Mend = fmt.Sprintf("sudo sysctl -w net.core.rmem_max=%d net.core.rmem_default=%[1]d", leastBuffer)
	}
	return f
}
