#!/bin/sh
# Installs the command candor into ~/.local/bin, if its SHA-256 is the one in SHA256SUMS of the same release. Needs no root.
# CANDOR_FROM is the folder or the https address of the release; without it, the folder of this script.
set -eu
version=@VERSION@
from=${CANDOR_FROM:-$(cd "$(dirname "$0")" && pwd)}
target=${CANDOR_TO:-$HOME/.local/bin}
name=candor-$version-$(uname -m)-$(uname -s | tr '[:upper:]' '[:lower:]')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() {
    case $from in
        https://*) curl --proto '=https' --tlsv1.2 -fsSL "$from/$1" -o "$work/$1" ;;
        *://*) echo "CANDOR_FROM is $from: give an https address or a folder" >&2; return 1 ;;
        *) cp "$from/$1" "$work/$1" ;;
    esac
}

fetch SHA256SUMS
fetch "$name" || { echo "this release has no binary for $(uname -m) $(uname -s): build it with cargo install" >&2; exit 1; }
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$work/SHA256SUMS")
if command -v sha256sum > /dev/null; then found=$(sha256sum "$work/$name"); else found=$(shasum -a 256 "$work/$name"); fi
if [ -z "$expected" ] || [ "${found%% *}" != "$expected" ]; then
    echo "the SHA-256 of $name is ${found%% *}, not the expected ${expected:-one}: nothing was installed" >&2
    exit 1
fi
mkdir -p "$target"
chmod 755 "$work/$name"
mv "$work/$name" "$target/candor"
echo "candor $version is in $target"
case :$PATH: in
    *:"$target":*) ;;
    *) echo "add it to the path: export PATH=\"$target:\$PATH\"" ;;
esac
