#!/bin/sh
# Installs what Driftscope is built on, where it is missing: says what and why, asks for rights only if it needs them.
# Debian 12 and 13 and Ubuntu 24.04. Run by every target of the Makefile; running it again does nothing.
# With the argument "tests" it installs what tests alone need.
set -eu

missing=""
want() { # want PACKAGE REASON: notes a package to install
	missing="$missing $1"
	echo "setup: missing $1: $2"
}

compiles() { # compiles HEADER: can the C++ compiler find it?
	printf '#include <%s>\n' "$1" | g++ -x c++ -E - >/dev/null 2>&1
}

go_is_there() {
	command -v go >/dev/null && return
	echo "setup: Go is missing: install Go 1.26 or newer from https://go.dev/dl and put it on the PATH" >&2
	exit 1
}

list_missing() {
	command -v make >/dev/null || want make "runs the targets of the Makefile"
	command -v g++ >/dev/null || want g++ "compiles the bindings to OpenCV and oneDNN"
	command -v ld.lld >/dev/null || want lld "links the program with no more of OpenCV than it calls"
	command -v pkg-config >/dev/null || want pkg-config "finds OpenCV's headers and libraries"
	pkg-config --exists opencv4 2>/dev/null || want libopencv-dev "reads video, prepares frames and runs the encoder"
	pkg-config --exists libavcodec libswscale 2>/dev/null || want "libavcodec-dev libswscale-dev" "FFmpeg, with which OpenCV reads videos: decodes H.264 and H.265 of network cameras"
	pkg-config --exists gstreamer-app-1.0 gstreamer-video-1.0 2>/dev/null || want libgstreamer-plugins-base1.0-dev "reads cameras through GStreamer, with their own timestamps"
	plugin libgstapp.so || want gstreamer1.0-plugins-base "GStreamer's elements that hand frames over and convert them"
	command -v arv-tool-0.8 >/dev/null || want aravis-tools-cli "finds and reads GigE Vision and USB3 Vision cameras"
	compiles dnnl.hpp || want libdnnl-dev "oneDNN: the convolutions that train an encoder"
}

list_missing_for_tests() {
	command -v arv-fake-gv-camera-0.8 >/dev/null || want aravis-tools "a simulated GigE Vision camera, which the tests of cameras read"
	command -v mosquitto_sub >/dev/null || want mosquitto-clients "an MQTT client, to which triggers are published"
	command -v node >/dev/null || want nodejs "builds the dashboard's page again, to compare it with the one kept here"
	command -v npm >/dev/null || want npm "fetches the libraries of that page, by their checksums"
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
		want chromium "opens the dashboard as a person would"
	python_has numpy || want python3-numpy "the pictures that the tests of the Python client publish"
	python_has pytest || want python3-pytest "runs those tests"
	python_has yaml || want python3-yaml "reads the manifest of the napari plug-in"
	python_has PIL || want python3-pil "the pictures of the live view in napari"
	python_has mypy || want mypy "checks that client's types"
}

python_has() { # python_has MODULE: has the Python of the path, or Debian's?
	python3 -c "import $1" 2>/dev/null || /usr/bin/python3 -c "import $1" 2>/dev/null
}

plugin() { # plugin FILE: does GStreamer have it?
	folder=$(pkg-config --variable=pluginsdir gstreamer-1.0 2>/dev/null) || return 1
	test -e "$folder/$1"
}

# as_root runs a command with the rights to install, or fails.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
		echo "setup: sudo $*"
		sudo "$@"
	else
		return 1
	fi
}

install_missing() {
	command="apt-get update && apt-get install -y --no-install-recommends$missing"
	if ! command -v apt-get >/dev/null; then
		echo "setup: this is not Debian or Ubuntu: install with your system's packages, headers included: OpenCV 4.6 to 4.10, FFmpeg 5.1 to 7.1, oneDNN 2.6 to 3.7, GStreamer and its base plugins, Aravis 0.8, pkg-config, a C++ compiler, lld, make" >&2
		exit 1
	fi
	echo "setup: installing once, which takes a few minutes:$missing"
	# The names in $missing hold no spaces; each is one argument.
	# shellcheck disable=SC2086
	if as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; then
		return
	fi
	echo "setup: these packages could not be installed from here. Ask your administrator to run, as root:" >&2
	echo "    $command" >&2
	exit 1
}

# check_opencv warns where the version is one that nobody has tried.
check_opencv() {
	version=$(pkg-config --modversion opencv4)
	case $version in
	4.6.* | 4.10.*) ;;
	*) echo "setup: OpenCV $version is untried: 4.6.0 (Debian 12, Ubuntu 24.04) and 4.10.0 (Debian 13) are known to work" >&2 ;;
	esac
}

if [ "${1:-}" = tests ]; then
	list_missing_for_tests
else
	go_is_there
	list_missing
fi
if [ -n "$missing" ]; then
	install_missing
fi
[ "${1:-}" = tests ] || check_opencv
