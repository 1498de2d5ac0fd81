#!/usr/bin/env bash
# Builds kernelwright for a machine that lacks its libraries: prebuild.sh [FOLDER]
# FOLDER (default: build/gpu-prebuilt) then holds bin/, lib/ and share/ and can be copied anywhere as a whole. It needs a
# C library at least as new as the newest symbol printed at the end.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=${1:-$repo/build/gpu-prebuilt}
tree=$repo/build/gpu

# The worker's environment is emptied, so LD_LIBRARY_PATH would not reach it; a path relative to the program does, and
# holds for the libraries' own libraries too. The C++ library comes along as one more: linked into the program as well,
# there would be two of them.
# shellcheck disable=SC2016 # $ORIGIN is for the dynamic loader
cmake -S "$repo" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF -DKW_WERROR=ON \
  -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags '-DCMAKE_BUILD_RPATH=$ORIGIN/../lib'
cmake --build "$tree" --target kernelwright kernelwright-worker

rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/share/kernelwright"
cp "$tree/bin/kernelwright" "$tree/bin/kernelwright-supervisor" "$tree/bin/kernelwright-worker" "$out/bin/"
cp -r "$repo/problems" "$out/share/kernelwright/"
strip "$out/bin/"*

# Everything but the C library itself, whose parts belong to the machine.
ldd "$out/bin/kernelwright" "$out/bin/kernelwright-worker" |
  awk '/=> \// {print $3}' | sort -u |
  grep -v -E '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
  while read -r library; do cp -L "$library" "$out/lib/"; done

# What would be found on this machine only because it is installed here is missing elsewhere.
for program in "$out"/bin/*; do
  if ldd "$program" | grep -E '=> /' | grep -v -F "=> $(realpath "$out")/" |
    grep -v -E '/(libc|libm|libdl|libpthread|librt)\.so'; then
    echo "$program takes these libraries from outside $out" >&2
    exit 1
  fi
done

echo "in $out:"
(cd "$out" && find . -type f -path './[bl]i[nb]/*' | sort)
echo "newest symbol of the C library that is needed:"
for file in "$out"/bin/kernelwright{,-worker} "$out"/lib/*; do objdump -T "$file"; done |
  grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1
