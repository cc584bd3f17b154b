#!/bin/sh
# Builds make dist twice from this commit, both at once, in two folders and with two empty build caches, and compares every byte. Modules are read from
# Go's cache of them, which go.sum holds to their bytes.
#   reproducible.sh [FOLDER]     FOLDER (out/twice) takes both, with what each build said in one.log and other.log
# PURE says, as for make dist, what is packed beside this machine's program.
set -eu

# build FOLDER COPY makes one: other has a longer path, and its own time zone, language and rights of new files.
build() {
	if [ "$2" = one ]; then
		export TZ=UTC LC_ALL=C
		copy=$1/one
		umask 022
	else
		export TZ=NPT-5:45 LC_ALL=C.UTF-8
		copy=$1/other/and/longer
		umask 077
	fi
	begun=$(date +%s)
	git clone --quiet . "$copy"
	mkdir -p "$copy/bin"
	touch "$copy/bin/.setup" # this machine is set up
	(cd "$copy" && GOCACHE="$1/$2.cache" make --no-print-directory dist) >"$1/$2.log" 2>&1 || {
		tail -20 "$1/$2.log" >&2
		echo "reproducible: make dist failed: $1/$2.log" >&2
		exit 1
	}
	rm -rf "$1/$2.cache"
	echo "reproducible: $2: $(($(date +%s) - begun)) s"
}

if [ "${1:-}" = build ]; then
	build "$2" "$3"
	exit
fi

folder=${1:-out/twice}
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
printf '%s\n' one other | xargs -P 2 -n 1 "$0" build "$folder"
first=$folder/one/out/dist second=$folder/other/and/longer/out/dist
for sums in "$first/SHA256SUMS" "$second/SHA256SUMS"; do
	(cd "${sums%/*}" && sha256sum --quiet -c SHA256SUMS) # they are those of the files beside them
done
cmp "$first/SHA256SUMS" "$second/SHA256SUMS"
cat "$first/SHA256SUMS"
echo "reproducible: built twice, the same bytes"
