#!/bin/sh
# Certificates of a site: certificates.sh FOLDER NAME... makes in FOLDER an authority, ca.pem and ca.key, unless it is there, and for every host NAME a
# certificate that it signs, NAME.pem and NAME.key. Keep ca.key where no server runs. Run it again before 825 days are over.
set -eu
folder=$1
shift
umask 077
mkdir -p "$folder"
cd "$folder"
if [ ! -e ca.key ]; then
	openssl ecparam -name prime256v1 -genkey -noout -out ca.key
	openssl req -x509 -new -key ca.key -sha256 -days 3650 -subj "/CN=driftscope site" -out ca.pem
fi
for name; do
	openssl ecparam -name prime256v1 -genkey -noout -out "$name.key"
	openssl req -new -key "$name.key" -subj "/CN=$name" -out "$name.csr"
	# A server is a client of the others, too.
	printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$name" >"$name.ext"
	openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -sha256 -days 825 -extfile "$name.ext" -out "$name.pem"
	rm "$name.csr" "$name.ext"
done
