#!/bin/sh
# Runs the program as older processors would, one without AVX and one without AVX-512: it must take the kernels that
# they have, and must not die of an instruction that they lack. Takes the program; exits with 77 (skipped) where
# qemu-x86_64 is missing.
set -eu
program=$1
if ! command -v qemu-x86_64 >/dev/null; then
  echo "skipped: there is no qemu-x86_64 (Debian: qemu-user)"
  exit 77
fi
for pair in Westmere=baseline Haswell=AVX2; do
  cpu=${pair%=*} kernels=${pair#*=}
  qemu-x86_64 -cpu "$cpu" "$program" devices | grep "^cpu: .*$kernels"
  qemu-x86_64 -cpu "$cpu" "$program" trace "The cat sat down" --stages output -o - |
    grep -q . && echo "$cpu: a trace came of it"
done
