#!/bin/sh
# Makes the Debian package of this checkout for one release, here where this is that release, else in a fresh root of it, and tries it in a bare one:
# installed, run, upgraded, removed, purged.
#   packages.sh bookworm|trixie [ROOTS [try]]      as root, with mmdebstrap; ROOTS (out/roots) has the root that builds, and keeps it for the next time;
# try takes the packages that are in out/dist/RELEASE already
# The repository has to be clean: a package names the commit that it is made of.
# It says how long apt install ./driftscope_*.deb && driftscope run sim:molecule --frames 200 takes: a minute is what a reader is promised, on a machine that
# does nothing else (docs/howto/install.md).
set -eu

release=$1
roots=${2:-out/roots}
mkdir -p "$roots"
roots=$(cd "$roots" && pwd)
here=$(pwd)
build=$roots/$release-build
bare=$roots/$release-bare
made=out/dist/$release

say() { echo "packages: $release: $*"; }
die() {
	say "$*" >&2
	exit 1
}

[ "$(id -u)" -eq 0 ] || die "has to be root, to make a root of its own: sudo make packages-test"
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install mmdebstrap"

# Mounts are this script's alone, and end with it however it ends: who then deletes ROOTS does not delete what was mounted there.
[ "${OWN_MOUNTS:-}" ] || OWN_MOUNTS=yes exec unshare --mount "$0" "$@"

mounted=""
bind() { # bind FROM TO: until the script ends
	mkdir -p "$2"
	mount --bind "$1" "$2"
	mounted="$2 $mounted"
}
leave() {
	for folder in $mounted; do umount "$folder"; done
	mounted=""
}
trap leave EXIT

fresh() { # fresh ROOT [PACKAGES]: a Debian with apt and nothing else but the packages, by commas
	mmdebstrap --quiet --variant=minbase ${2:+--include="$2"} "$release" "$1" >"$1.log" 2>&1 || {
		tail -5 "$1.log" >&2
		die "mmdebstrap failed: $1.log"
	}
	cp /etc/resolv.conf "$1/etc/resolv.conf"
}

# in_root ROOT COMMAND: with the network, as apt needs it.
in_root() {
	root=$1
	shift
	chroot "$root" /usr/bin/env -i PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

# alone ROOT COMMAND: with no network but its own loopback, whose ports nobody else has.
alone() {
	root=$1
	shift
	unshare --net sh -c 'ip link set lo up && exec chroot "$@"' sh "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp LC_ALL=C.UTF-8 "$@"
}

both="make --no-print-directory dist PURE= DIST=$made && go run ./cmd/driftlab/internal/dist -from $made/build -into $made/upgrade -revision 2"

make_package() {
	[ -z "$(git status --porcelain)" ] || die "files are changed since the commit: commit them first"
	if [ "$(. /etc/os-release && echo "$VERSION_CODENAME")" = "$release" ]; then
		sh -c "$both"
		return
	fi
	[ -x "$build/usr/bin/make" ] || {
		say "a root that builds"
		fresh "$build" ca-certificates,git,make,g++,lld,pkg-config,libopencv-dev,libavcodec-dev,libswscale-dev,libgstreamer-plugins-base1.0-dev,gstreamer1.0-plugins-base,aravis-tools-cli,libdnnl-dev
	}
	bind /proc "$build/proc" # by which Go finds itself
	bind "$here" "$build/src"
	bind "$(go env GOROOT)" "$build/usr/local/go"
	bind "$(go env GOMODCACHE)" "$build/root/go/pkg/mod"
	bind "$(go env GOCACHE)" "$build/root/.cache/go-build"
	in_root "$build" sh -c "git config --global --replace-all safe.directory '*' && cd /src && $both"
	leave
}

# try runs the package through its life in a root that has nothing else.
try() {
	rm -rf "$bare"
	fresh "$bare"
	cp "$made"/driftscope_*.deb "$bare/root/first.deb"
	cp "$made"/upgrade/driftscope_*.deb "$bare/root/second.deb"
	bind /proc "$bare/proc"
	before=$(names)
	in_root "$bare" apt-get update -qq
	had=$(installed)
	begun=$(date +%s)
	in_root "$bare" apt-get install -y -qq --download-only /root/first.deb >"$bare.install.log" 2>&1 || die "apt cannot fetch what the package asks for: $bare.install.log"
	fetched=$(date +%s)
	megabytes=$(du -sm "$bare/var/cache/apt/archives" | cut -f1)
	times >"$bare.times"
	spent=$(processor)
	in_root "$bare" apt-get install -y -qq -o Dpkg::Use-Pty=0 /root/first.deb >>"$bare.install.log" 2>&1 || die "apt install failed: $bare.install.log"
	ready=$(date +%s)
	times >"$bare.times"
	say "apt install: $(($(installed) - had)) packages; download $((fetched - begun)) s ($megabytes MB), unpacking and configuring $((ready - fetched)) s, of a processor $(($(processor) - spent)) s; load $(load)"
	! in_root "$bare" sh -c 'command -v cc gcc g++ c++' || die "there is a compiler in the bare root"
	alone "$bare" driftscope run sim:molecule --frames 200 >"$bare.run.log" 2>&1 || die "run failed: $bare.run.log"
	ended=$(date +%s)
	tail -2 "$bare.run.log"
	say "driftscope run sim:molecule --frames 200: $((ended - ready)) s; with the installation $((ended - begun)) s; load $(load)"
	alone "$bare" driftscope version | sed -n 1p
	alone "$bare" setpriv --reuid=65534 --regid=65534 --clear-groups driftscope doctor --dir /tmp || die "doctor finds something bad in a fresh installation"
	alone "$bare" driftscope demo --once --frames 60 >"$bare.demo.log" 2>&1 || die "demo failed: $bare.demo.log"
	tail -2 "$bare.demo.log"
	in_root "$bare" sh -c '[ -s /usr/share/bash-completion/completions/driftscope ] && gzip -dc /usr/share/man/man1/driftscope.1.gz | head -1'
	echo "# mine" >>"$bare/etc/driftscope/driftscope.yaml"
	in_root "$bare" apt-get install -y -qq -o Dpkg::Use-Pty=0 /root/second.deb >>"$bare.install.log" 2>&1 || die "the upgrade failed: $bare.install.log"
	tail -1 "$bare/etc/driftscope/driftscope.yaml" | grep -q '^# mine' || die "the upgrade has written over /etc/driftscope/driftscope.yaml"
	say "upgraded to $(in_root "$bare" dpkg-query -W -f '${Version}' driftscope), /etc/driftscope/driftscope.yaml kept"
	[ -z "$(in_root "$bare" dpkg --verify driftscope | grep -v ' c /etc/')" ] || die "dpkg --verify finds changed files"
	in_root "$bare" apt-get remove -y -qq driftscope >>"$bare.install.log" 2>&1 || die "remove failed: $bare.install.log"
	[ ! -e "$bare/usr/bin/driftscope" ] && [ -e "$bare/etc/driftscope/driftscope.yaml" ] || die "remove leaves the program, or takes the configuration"
	in_root "$bare" apt-get purge -y -qq driftscope >>"$bare.install.log" 2>&1 || die "purge failed: $bare.install.log"
	[ "$(names)" = "$before" ] || die "purge leaves: $(names)"
	say "removed and purged: nothing is left"
	leave
	rm -rf "$bare" "$bare.times"
}

# installed is how many packages the bare root has.
installed() { in_root "$bare" dpkg-query -W -f '.\n' | wc -l; }

# processor is how many seconds of a processor were spent when the shell's times was written.
processor() { sed -n 2p "$bare.times" | tr ms '  ' | awk '{ print int($1 * 60 + $2 + $3 * 60 + $4) }'; }

# load is how many processes wanted a processor in the last minute.
load() { echo "$(cut -d' ' -f1 /proc/loadavg) on $(nproc) cores"; }

# names are the files of the root that have the program's name.
names() { find "$bare" -xdev -path "$bare/proc" -prune -o -name '*driftscope*' -print; }

[ "${3:-}" = try ] || make_package
try
