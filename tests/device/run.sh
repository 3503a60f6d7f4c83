#!/usr/bin/env bash
# run.sh: checks the graphics processors of this machine with the files that pack.sh packed, and prints one JSON object:
#   devices      the output of `headscope devices --json`
#   conformance  the tests of the Vulkan engine: passed, and their output; with the Khronos validation layer if installed
#   benchmark    the standard sizes on the CPU and on every graphics processor: output of `headscope-bench --engine --json`
#   torch        the same sizes in PyTorch on CUDA, if python3 has it
# A part that cannot run is {"skipped": REASON} or {"failed": REASON}. Ends within 5 minutes; exits 0 if no part failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export HEADSCOPE_TEST_DATA=$here/data HOME=${HOME:-/tmp} LC_ALL=C.UTF-8

has() { ldconfig -p 2>/dev/null | grep -q "$1"; }
libraries=$here/lib/headscope
has 'libX11\.so\.6 ' && has 'libxcb-render\.so\.0 ' || libraries=$libraries:$here/lib/x11
has 'libvulkan\.so\.1 ' || libraries=$libraries:$here/lib/vulkan
has 'libGLdispatch\.so\.0 ' || libraries=$libraries:$here/lib/gl
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)
loader=()
if [ "$(printf '%s\n' "$glibc" 2.36 | sort -V | head -1)" != 2.36 ]; then
  loader=("$here/lib/c/ld-linux-x86-64.so.2" --library-path "$libraries:$here/lib/c")
fi
if [ -z "${VK_DRIVER_FILES-}" ] && [ -e /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ]; then
  export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
fi

code=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Prints a text as a JSON string.
quoted() { sed -e ':a' -e '$!{N;ba' -e '}' -e 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g; s/\r//g; s/\n/\\n/g' -e 's/.*/"&"/' <<<"$1" | tr -d '\000-\011\013-\037'; }
# Runs a program for at most $1 seconds. Puts its output into $said; returns its exit code.
ask() {
  said=$(timeout "$1" "${loader[@]}" "${@:2}" 2>"$scratch/errors" </dev/null)
  local ended=$?
  [ "$ended" -ne 124 ] || echo "it took longer than $1 seconds" >>"$scratch/errors"
  return "$ended"
}
failed() {
  code=1
  printf '{"failed": %s}' "$(quoted "$(tail -c 4000 "$scratch/errors")")"
}

printf '{"glibc": %s, "kernel": %s,\n"devices": ' "$(quoted "$glibc")" "$(quoted "$(uname -r)")"
timed=(--device cpu) # a graphics processor in software would take minutes
if ask 20 "$here/bin/headscope" devices --json; then
  printf '%s' "$said"
  [[ $said != *'"graphics_processor": true'* ]] || timed=()
else
  failed
fi

printf ',\n"conformance": '
ask 110 "$here/bin/vulkan_tests"
ended=$?
case $ended in
77) printf '{"skipped": %s}' "$(quoted "$said")" ;;
*)
  [ $ended -eq 0 ] && passed=true || passed=false code=1
  ls /usr/share/vulkan/explicit_layer.d/*validation* /etc/vulkan/explicit_layer.d/*validation* >/dev/null 2>&1 &&
    validation=true || validation=false
  printf '{"passed": %s, "validation": %s, "said": %s}' $passed $validation \
    "$(quoted "$(printf '%s\n' "$said" "$(cat "$scratch/errors")" | tail -c 6000)")"
  ;;
esac

printf ',\n"benchmark": '
if ask 90 "$here/bin/headscope-bench" --engine --json "${timed[@]}"; then printf '%s' "$said"; else failed; fi

printf ',\n"torch": '
if ! command -v python3 >/dev/null; then
  printf '{"skipped": "there is no python3"}'
else
  unset LD_LIBRARY_PATH
  loader=()
  if ask 60 python3 "$here/torch_peer.py"; then printf '%s' "$said"; else failed; fi
fi
printf '}\n'
exit $code
