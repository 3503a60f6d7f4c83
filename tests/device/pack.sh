#!/usr/bin/env bash
# pack.sh FOLDER [BUILD]: makes FOLDER, which must not exist, with all that is needed to check a graphics processor on a
# machine without packages and without a network: the program with its libraries, the tests of the Vulkan engine with their
# cases, the benchmark, and run.sh, which runs them all. BUILD: a build folder with the tests (default: build/release).
set -euo pipefail

fail() {
  printf 'pack.sh: %s\n' "$1" >&2
  exit "${2-1}"
}
[ $# -ge 1 ] || fail "name the folder to make" 2
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$here/../.." && pwd)
build=${2-$sources/build/release}
[ ! -e "$1" ] || fail "$1 exists; name another folder, or remove it"
for program in headscope headscope-bench tests/vulkan/vulkan_tests; do
  [ -x "$build/$program" ] || fail "$build/$program is not there; build it with cmake --build --preset release"
done
mkdir -p "$1"
folder=$(cd "$1" && pwd)

for part in Unspecified portable device; do
  cmake --install "$build" --prefix "$folder" --component "$part" --strip >/dev/null
done
rm -rf "$folder/share/doc/headscope/manual" "$folder/share/headscope/fonts"
# Adds the libraries that the archive expects on the system, for machines without a desktop: X11, the loaders of Vulkan and
# OpenGL, and the C library, each in its own folder. run.sh uses a folder only if the machine lacks these libraries.
mkdir -p "$folder/lib/x11" "$folder/lib/vulkan" "$folder/lib/c"
{
  ldd "$folder"/bin/*
  ldd "$folder"/lib/headscope/*.so*
} | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
  case $(basename "$library") in
  libX* | libxcb* | libbsd* | libmd.*) cp -L "$library" "$folder/lib/x11/" ;;
  libc.* | libm.* | libdl.* | librt.* | libpthread.* | libstdc++* | libgcc_s*) cp -L "$library" "$folder/lib/c/" ;;
  esac
done
cp -L /lib64/ld-linux-x86-64.so.2 "$folder/lib/c/"
# NVIDIA's Vulkan driver answers only where it finds the dispatch library of OpenGL.
mkdir -p "$folder/lib/gl"
for library in vulkan/libvulkan.so.1 gl/libGLdispatch.so.0 gl/libGLX.so.0 gl/libEGL.so.1 gl/libOpenGL.so.0 gl/libGL.so.1; do
  found=$(ldconfig -p | sed -n "s/^\t$(basename "$library") (libc6,x86-64.*=> //p" | head -1)
  [ -n "$found" ] || fail "this machine has no $(basename "$library") to pack; run third_party/install.sh" 3
  cp -L "$found" "$folder/lib/$library"
done
# The cases that vulkan_tests opens; the largest of the golden ones stays out.
for case in mha cat_sleeps models/{t5,bart,marian}_tiny files/{phi3_not_causal,bidirectional_gemma3}; do
  mkdir -p "$folder/data/$(dirname "$case")"
  cp -r "$sources/tests/data/$case" "$folder/data/$case"
done
rm "$folder/data/mha/s3_causal_bias.safetensors"
python3 - "$folder/data/mha/manifest.json" <<'SCRIPT'
import json, pathlib, sys
path = pathlib.Path(sys.argv[1])
listed = json.loads(path.read_text())
listed["cases"] = [case for case in listed["cases"] if (path.parent / case["file"]).exists()]
path.write_text(json.dumps(listed))
SCRIPT
cp "$here/run.sh" "$here/torch_peer.py" "$folder/"
size=$(du -sm "$folder" | cut -f1)
[ "$size" -lt 60 ] || fail "$folder has $size MB; it should have less than 60" 4
echo "pack.sh: $folder, $size MB; run $folder/run.sh on the other machine"
