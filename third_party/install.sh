#!/usr/bin/env bash
# Installs everything Headscope is built, run and tested with, from the distribution's packages.
# Runs as root or through sudo, asks nothing, and may be run again at any time.
set -euo pipefail

packages=(
  build-essential g++ clang libclang-rt-dev clang-format clang-tidy cmake ninja-build ccache mold git pkg-config
  libimgui-dev libglfw3-dev libfreetype-dev libstb-dev libgl-dev libegl-dev libepoxy-dev libxcb1-dev
  libeigen3-dev libboost-dev catch2 librapidcheck-dev nlohmann-json3-dev libcli11-dev
  libsqlite3-dev libutf8proc-dev libonig-dev libmd4c-dev libyaml-cpp-dev libfmt-dev gettext
  libfontconfig-dev libcairo2-dev libpango1.0-dev
  libvulkan-dev glslc libvulkan1 mesa-vulkan-drivers vulkan-validationlayers
  fonts-inter fonts-jetbrains-mono fonts-dejavu-core
  libgl1-mesa-dri libegl1 libegl-mesa0
  xvfb xauth x11-utils xdotool imagemagick ffmpeg python3 python3-numpy python3-torch libopenblas0-pthread qemu-user
  dpkg-dev file desktop-file-utils appstream shared-mime-info librsvg2-bin groff-base
)

if ! command -v apt-get >/dev/null 2>&1; then
  {
    echo "third_party/install.sh knows only Debian and Ubuntu (apt-get)."
    echo "Here, install by hand what these Debian packages hold, then run cmake again:"
    printf '  %s\n' "${packages[@]}"
  } >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "third_party/install.sh: everything is installed."
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "third_party/install.sh needs root to install: ${missing[*]}. Run it as root, or install sudo." >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "third_party/install.sh: installing ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
