#!/bin/sh
# Makes the certificates of the wire tests anew. None of them guards anything; they last from 2020 to 2120.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/index"
echo 01 > "$work/serial"
cat > "$work/ca.conf" <<CONF
[ca]
default_ca = own
[own]
database = $work/index
serial = $work/serial
new_certs_dir = $work
default_md = sha256
policy = any
copy_extensions = copy
[any]
commonName = supplied
CONF
request() { # name, extension
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
        -keyout "$work/$1.key" -out "$work/$1.csr" -addext "$2"
}
sign() { # name, last year, further options
    name=$1 year=$2
    shift 2
    openssl ca -batch -notext -config "$work/ca.conf" -startdate 20200101000000Z -enddate "${year}0101000000Z" \
        -in "$work/$name.csr" -out "$name.crt" "$@"
}
for name in authority stranger; do
    request $name "basicConstraints=critical,CA:TRUE"
    sign $name 2120 -selfsign -keyfile "$work/$name.key"
done
leaf() { # name, extension, last year
    request "$1" "$2"
    sign "$1" "$3" -cert authority.crt -keyfile "$work/authority.key"
    cp "$work/$1.key" .
}
leaf server "subjectAltName=IP:127.0.0.1,DNS:localhost" 2120
leaf elsewhere "subjectAltName=DNS:api.example.test" 2120
leaf expired "subjectAltName=IP:127.0.0.1" 2021
leaf alice "extendedKeyUsage=clientAuth" 2120
leaf bob "extendedKeyUsage=clientAuth" 2120
