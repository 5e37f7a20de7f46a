#!/bin/bash
# Build one release on this x86 machine and on an emulated 64-bit Arm, and compare them.
#
#     benchmarks/processors.sh FOLDER [ROOT]
#
# FOLDER (some 3 GB; made, or used again) gets QEMU, an Arm Python 3.11 and the pinned
# packages, unpacked and not installed. ROOT is the registry to build, this checkout if
# not given. Needs Debian 12 or later on x86-64, `apt-get download`, a package index and
# the virtual environment .venv. Emulation takes 20 to 40 times as long.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
root=$(cd "${2:-$here}" && pwd)
python=$here/.venv/bin/python
export PYTHONDONTWRITEBYTECODE=1
cd "$folder"

if [ ! -d arm/usr/bin ]; then
  apt-get download qemu-user-static
  dpkg -x qemu-user-static_*.deb qemu
  # An apt of its own, so that this machine's packages stay as they are.
  mkdir -p apt/lists/partial apt/cache/archives/partial apt/etc/apt.conf.d \
    apt/etc/preferences.d apt/etc/sources.list.d
  : > apt/status
  cp /etc/apt/sources.list.d/debian.sources apt/etc/sources.list.d/
  options=(-o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status"
    -o Dir::Cache="$folder/apt/cache" -o Dir::Etc="$folder/apt/etc"
    -o APT::Architecture=arm64 -o APT::Architectures::=arm64)
  apt-get "${options[@]}" -qq update
  apt-get "${options[@]}" -qq -y --no-install-recommends --download-only install \
    python3.11 libgomp1 libstdc++6
  mkdir -p arm
  for package in apt/cache/archives/*.deb; do dpkg -x "$package" arm; done
fi

if [ ! -d site ]; then
  kind=(--implementation cp --python-version 3.11 --only-binary=:all:)
  for name in 2_28 2_27 2_24 2_17; do kind+=(--platform "manylinux_${name}_aarch64"); done
  kind+=(--platform manylinux2014_aarch64)
  "$python" -m pip download -q --no-deps --require-hashes "${kind[@]}" -d wheels \
    -r "$here/requirements.lock"
  "$python" -m pip install -q --no-deps --no-index --no-compile "${kind[@]}" \
    --target site wheels/*.whl
fi

rm -rf x86 emulated
PYTHONPATH=$here "$python" -m registry build --root "$root" --out x86
"$folder/qemu/usr/bin/qemu-aarch64-static" -L "$folder/arm" \
  -E LD_LIBRARY_PATH="$folder/arm/usr/lib/aarch64-linux-gnu" \
  -E PYTHONHOME="$folder/arm/usr" -E PYTHONPATH="$folder/site:$here" \
  "$folder/arm/usr/bin/python3.11" -m registry build --root "$root" --out emulated
diff -r x86 emulated
echo "the same $(find x86 -type f | wc -l) files on both"
