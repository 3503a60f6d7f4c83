#!/usr/bin/env bash
# other_release.sh RELEASE [run|test|package|archive]: runs README's command for this action (default: run) on a minimal system
# of another Debian release, such as trixie, as root, without sudo and without packages installed in advance. debootstrap makes
# the system. It is kept between calls, with all that was installed and compiled in it; remove its folder to start over.
#
# run      opens the program on a virtual display, waits until its first numbers are there, takes a picture and closes it
# test     builds everything and runs the tests
# package  makes the Debian package of that release
# archive  runs trace, render and, as run does, the program itself from the archive in build (cmake --workflow --preset portable),
#          on a system of its own that has only OpenGL and X11 besides the minimal system
#
# Prints the command's output and its duration. Writes pictures and packages to build/RELEASE. Exits with the command's exit
# code. HEADSCOPE_ROOTS is the folder of the systems (default: ~/.cache/headscope/releases).
set -euo pipefail

fail() {
  printf 'other_release.sh: %s\n' "$1" >&2
  exit "${2-1}"
}

release=${1-} action=${2-run}
[ -n "$release" ] || fail "name a release, such as trixie" 2
[[ $action =~ ^(run|test|package|archive)$ ]] || fail "\"$action\" is no action; there are run, test, package and archive" 2
[ "$(id -u)" -eq 0 ] || fail "only root can make a system in a folder; run this as root" 3
for tool in debootstrap unshare git tar; do
  command -v "$tool" >/dev/null || fail "$tool is not installed; apt-get install $tool" 3
done
[ -e "/usr/share/debootstrap/scripts/$release" ] || fail "debootstrap knows no release \"$release\""

# Runs this script in a mount namespace of its own, so that its mounts end with it.
if [ -z "${HEADSCOPE_OWN_MOUNTS-}" ]; then
  HEADSCOPE_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
fi

sources=$(cd "$(dirname "$0")/../.." && pwd)
root=${HEADSCOPE_ROOTS:-$HOME/.cache/headscope/releases}/$release
results=$sources/build/$release
checkout=/headscope
mkdir -p "$results"

include=
if [ "$action" = archive ]; then
  archive=$(ls -t "$sources"/build/headscope-*-linux-x86_64.tar.xz 2>/dev/null | head -1)
  [ -n "$archive" ] || fail "there is no archive in build; run cmake --workflow --preset portable on the oldest release" 3
  root=$root-archive
  include=libegl1,libgl1,libgl1-mesa-dri,libxcursor1,libxext6,libxi6,libxinerama1,libxrandr2,libxrender1,libxcb-render0,libxcb-shm0
fi
if [ ! -e "$root/complete" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase ${include:+--include="$include"} "$release" "$root" >"$results/debootstrap.log" ||
    fail "debootstrap could not make $root; see $results/debootstrap.log" 3
  touch "$root/complete"
fi

# Copies the files that git does not ignore. Keeps the build folder of the copy.
copy_checkout() {
  mkdir -p "$root$checkout"
  find "$root$checkout" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  (cd "$sources" && git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh |
    tar --null --files-from=- --create) | tar --extract --directory="$root$checkout"
}

mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
cp --remove-destination /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true

inside() {
  chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@"
}
in_checkout() { inside "${@:2}" sh -c "cd $checkout && $1"; }

# Runs a command that opens the program on a virtual display, and closes the program when its first numbers are there.
open_window() {
  for tool in Xvfb xdotool import; do
    command -v "$tool" >/dev/null || fail "$tool is not installed; run third_party/install.sh" 3
  done
  local display=:$((70 + RANDOM % 900)) status=0 program
  Xvfb "$display" -screen 0 1600x1000x24 -nolisten tcp >/dev/null 2>&1 &
  server=$!
  trap 'kill $server 2>/dev/null || true' EXIT
  mkdir -p "$root/tmp/.X11-unix" /tmp/.X11-unix
  mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
  rm -f "$root/tmp/report.json" "$results/window.png"
  "$@" DISPLAY="$display" HEADSCOPE_REPORT=/tmp/report.json &
  program=$!
  until grep -q '"settled": *true' "$root/tmp/report.json" 2>/dev/null; do
    kill -0 "$program" 2>/dev/null || break
    sleep 0.2
  done
  if kill -0 "$program" 2>/dev/null; then
    echo "other_release.sh: the window shows its numbers after $(($(date +%s) - begun)) s"
    sleep 1 # a frame
    DISPLAY=$display import -window root "$results/window.png"
    DISPLAY=$display xdotool key ctrl+q
  fi
  wait "$program" || status=$?
  [ -e "$results/window.png" ] || [ "$status" -ne 0 ] || status=4
  return "$status"
}

if [ "$action" = archive ]; then
  command="${archive##*/}"
else
  copy_checkout
  command=$(grep -m1 -e "--preset $action\$" "$sources/README.md") || fail "README.md has no command for $action" 4
fi
echo "other_release.sh: $release, $(date -u '+%Y-%m-%d %H:%M') UTC, $(nproc) processors: $command"
begun=$(date +%s) code=0
window_in_checkout() { in_checkout "$command" "$@"; }
window_in_archive() { inside "$@" "$program_file"; }
case $action in
  run) open_window window_in_checkout || code=$? ;;
  archive)
    rm -rf "$root/opt/Zwei Köpfe"
    mkdir "$root/opt/Zwei Köpfe"
    tar -xf "$archive" -C "$root/opt/Zwei Köpfe" --strip-components=1
    program_file="/opt/Zwei Köpfe/bin/headscope"
    inside "$program_file" trace "The cat sat down" -o /tmp/trace.safetensors &&
      inside "$program_file" render --window -o /tmp/render.png &&
      cp "$root/tmp/render.png" "$results/render.png" &&
      open_window window_in_archive || code=$?
    ;;
  *) in_checkout "$command" || code=$? ;;
esac
if [ "$action" = package ] && [ "$code" -eq 0 ]; then
  cp "$root$checkout"/build/headscope_*.deb "$results/" || code=4
fi
echo "other_release.sh: $release $action ended with $code after $(($(date +%s) - begun)) s; see $results"
exit "$code"
