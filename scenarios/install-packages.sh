#!/usr/bin/env bash
# Installs the Debian packages listed in packages.txt, those that are missing only.
# Needs the network, and root or sudo, only when something is missing.
set -euo pipefail

root="$(CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  echo "usage: scenarios/install-packages.sh"
  echo "Installs what is missing of the Debian packages in packages.txt."
  exit 0
fi

fail() {
  echo "error: $1" >&2
  echo "hint: $2" >&2
  exit 1
}

mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$root/packages.txt")

((${#wanted[@]} > 0)) || fail "$root/packages.txt is missing or empty" "run this script from a checkout"

command -v dpkg-query > /dev/null ||
  fail "dpkg-query not found: this is no Debian system" "install the counterparts of: ${wanted[*]}"

# A package that dpkg has never heard of makes dpkg-query fail; it is as missing as a removed one.
missing=()
for package in "${wanted[@]}"; do
  status="$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null || true)"
  [[ "$status" == installed ]] || missing+=("$package")
done

if ((${#missing[@]} == 0)); then
  echo "all ${#wanted[@]} packages are installed"
  exit 0
fi
echo "missing: ${missing[*]}"

apt=(env DEBIAN_FRONTEND=noninteractive apt-get)
install=(install -y --no-install-recommends "${missing[@]}")
if ((EUID != 0)); then
  command -v sudo > /dev/null ||
    fail "installing packages needs root, and there is no sudo" \
      "as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  apt=(sudo "${apt[@]}")
fi

echo "${apt[*]} update"
"${apt[@]}" update || fail "apt-get update failed" "check the network and /etc/apt/sources.list"
echo "${apt[*]} ${install[*]}"
"${apt[@]}" "${install[@]}" ||
  fail "apt-get install failed" "paceline is built for Debian 12; see the message of apt-get above"
