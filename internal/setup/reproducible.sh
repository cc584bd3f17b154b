#!/bin/sh
# Builds make dist twice from this commit, in two folders and with two empty build caches, and compares every byte.
#   reproducible.sh [FOLDER]     FOLDER (out/twice) takes both
set -eu
folder=${1:-out/twice}
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
for copy in one another-and-longer; do
	git clone --quiet . "$folder/$copy/driftscope"
	mkdir -p "$folder/$copy/driftscope/bin"
	touch "$folder/$copy/driftscope/bin/.setup" # this machine is set up
	(cd "$folder/$copy/driftscope" && GOCACHE="$folder/$copy/cache" make --no-print-directory dist)
	rm -rf "$folder/$copy/cache"
done
cmp "$folder/one/driftscope/out/dist/SHA256SUMS" "$folder/another-and-longer/driftscope/out/dist/SHA256SUMS"
(cd "$folder/another-and-longer/driftscope/out/dist" && sha256sum -c SHA256SUMS)
echo "reproducible: built twice, the same bytes"
