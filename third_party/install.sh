#!/usr/bin/env bash
# Installs the distribution's packages that Headscope needs to be built, run and tested; with --run, not those for tests.
# Runs as root or through sudo, without questions, and may be run again at any time.
set -euo pipefail

to_build=(
  g++ cmake ninja-build mold pkg-config python3 gettext glslc
  libimgui-dev libglfw3-dev libfreetype-dev libstb-dev libgl-dev libegl-dev libepoxy-dev libxcb1-dev
  libeigen3-dev libboost-dev nlohmann-json3-dev libcli11-dev
  libsqlite3-dev zlib1g-dev libutf8proc-dev libonig-dev libmd4c-dev libyaml-cpp-dev libfmt-dev
  libfontconfig-dev libcairo2-dev libpango1.0-dev libvulkan-dev libcurl4-openssl-dev
)
to_run=(
  fonts-inter fonts-jetbrains-mono fonts-dejavu-core
  libgl1-mesa-dri libegl1 libegl-mesa0 libvulkan1 mesa-vulkan-drivers
  libxcursor1 libxi6 libxinerama1 libxrandr2
  ca-certificates
)
to_test=(
  catch2 librapidcheck-dev ccache clang libclang-rt-dev clang-format clang-tidy git vulkan-validationlayers
  xvfb xauth x11-utils xdotool imagemagick ffmpeg python3-numpy python3-polib python3-torch libopenblas0-pthread qemu-user
  python3-pip python3-setuptools python3-wheel
  dpkg-dev file desktop-file-utils appstream shared-mime-info librsvg2-bin groff-base
)
# The oldest versions that are known to work.
oldest=("g++ 12" "cmake 3.25" "libimgui-dev 1.86" "libeigen3-dev 3.4" "libvulkan-dev 1.3.239" "catch2 2.13")

fail() {
  printf 'third_party/install.sh: %s\n' "$@" >&2
  exit 1
}

case "${1-}" in
"") packages=("${to_build[@]}" "${to_run[@]}" "${to_test[@]}") ;;
--run) packages=("${to_build[@]}" "${to_run[@]}") ;;
*) fail "\"$1\" is no option. Without one, everything is installed; with --run, only what building and running needs." ;;
esac

if ! command -v apt-get >/dev/null 2>&1; then
  fail "this knows only Debian and its relatives (apt-get)." \
    "Install by hand what these Debian packages hold, then go on with the next command:" "${packages[@]}"
fi

missing=()
declare -A version
for package in "${packages[@]}"; do
  read -r state installed < <(dpkg-query -W -f='${db:Status-Status} ${Version}\n' "$package" 2>/dev/null) || true
  if [ "$state" = installed ]; then
    version[$package]=$installed
  else
    missing+=("$package")
  fi
  state='' installed=''
done

as_root=(env)
if [ "${#missing[@]}" -ne 0 ]; then
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || fail "root has to install ${missing[*]}. Run this as root, or install sudo."
    as_root=(sudo env)
  fi
  "${as_root[@]}" apt-get update -qq || fail "the lists of packages could not be fetched; see above."
  for package in "${missing[@]}"; do
    version[$package]=$(apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')
    [[ ${version[$package]} =~ ^(|\(none\))$ ]] &&
      fail "this release has no package $package. Debian 12 and newer releases have all that is needed."
  done
fi
for pair in "${oldest[@]}"; do
  package=${pair% *} needed=${pair#* }
  [ -n "${version[$package]-}" ] || continue
  upstream=${version[$package]#*:}
  dpkg --compare-versions "$upstream" ge "$needed" ||
    fail "this release has $package $upstream; $needed or newer is needed, as Debian 12 has."
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "third_party/install.sh: everything is installed."
  exit 0
fi
echo "third_party/install.sh: installing ${missing[*]}"
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
