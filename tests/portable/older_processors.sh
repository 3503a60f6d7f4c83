#!/bin/sh
# older_processors.sh PROGRAM UNIT_TESTS: runs the program and the tests of its CPU engine on emulated older processors:
# Nehalem and Westmere without AVX, Haswell without AVX-512. The program must select kernels that the processor supports, and
# must not fail because of an instruction that it lacks. Exits with 77 (skipped) if qemu-x86_64 is missing.
set -eu
program=$1 tests=$2
if ! command -v qemu-x86_64 >/dev/null; then
  echo "skipped: there is no qemu-x86_64 (Debian: qemu-user)"
  exit 77
fi
unset HEADSCOPE_KERNELS HEADSCOPE_DEVICE
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$cpu: $1" >&2
  exit 1
}
emulated() {
  qemu-x86_64 -cpu "$cpu" "$@" 2>"$folder/said" || {
    cat "$folder/said" >&2
    fail "$* failed with $? (132: an instruction that this processor lacks)"
  }
}

for pair in Nehalem=baseline Westmere=baseline Haswell=AVX2; do
  cpu=${pair%=*} kernels=${pair#*=}
  emulated "$program" devices >"$folder/devices"
  grep -q "^cpu: .*, $kernels\$" "$folder/devices" || fail "does not take the $kernels kernels: $(cat "$folder/devices")"
  emulated "$program" trace "The cat sat down" --device cpu --stages weights,output -o "$folder/trace.json"
  grep -q '"device":"cpu"' "$folder/trace.json" || fail "the trace says another device than cpu"
  emulated "$program" render "The cat sat down" --stage weights -o "$folder/figure.svg"
  grep -q '</svg>' "$folder/figure.svg" || fail "the figure is no whole SVG"
  emulated "$program" render "The cat sat down" -o "$folder/window.png"
  head -c 4 "$folder/window.png" | grep -q PNG || fail "the window's picture is no PNG"
  emulated "$tests" "[processor]" >"$folder/tests" || :
  grep -q '^All tests passed ([0-9]* assertions* in [1-9][0-9]* test cases*)' "$folder/tests" ||
    fail "$(cat "$folder/tests")"
  echo "$cpu: $kernels kernels; $(grep '^All tests' "$folder/tests")"
done
