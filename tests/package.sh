#!/usr/bin/env bash
# Makes the Debian package, installs it into a bare Debian 12 and tries it there as its user would.
set -euo pipefail

CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  cat << 'END'
usage: tests/package.sh [ARCHIVES]

Needs root, a build in build/, dpkg-dev, debootstrap and Debian's mirror. ARCHIVES: a folder of .deb files
that need not be fetched again.
END
  exit 0
fi

archives="${1:-}"
scratch="$(mktemp -d)"
trap 'umount -q "$scratch/root/proc" || true; rm -rf -- "$scratch"' EXIT
heading() { printf '\n== %s\n' "$1"; }

heading "Install into a prefix of one's own"
cmake --install build --prefix "$scratch/prefix" > "$scratch/installed"
for file in bin/paceline share/doc/paceline/LICENSE share/doc/paceline/docs/guide.md share/man/man1/paceline.1 \
  share/bash-completion/completions/paceline; do
  [[ -e "$scratch/prefix/$file" ]] || { echo "missing: $file" >&2; exit 1; }
done
"$scratch/prefix/bin/paceline" check "$scratch/prefix/share/paceline/scenarios/examples/stragglers.yaml" > /dev/null

heading "Package"
cpack --config build/CPackConfig.cmake -B "$scratch/package"
package="$(echo "$scratch"/package/*.deb)"
dpkg-deb --field "$package" Package Version Depends

heading "A bare Debian 12"
debootstrap --variant=minbase bookworm "$scratch/root" > "$scratch/debootstrap.log" ||
  { tail "$scratch/debootstrap.log" >&2; exit 1; }
if [[ -n "$archives" ]]; then cp -n "$archives"/*.deb "$scratch/root/var/cache/apt/archives/"; fi
cp "$package" "$scratch/root/paceline.deb"
mount -t proc proc "$scratch/root/proc"
in_root() { chroot "$scratch/root" env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"; }
in_root apt-get -o Debug::NoLocking=1 install --yes --no-install-recommends /paceline.deb > "$scratch/apt.log" ||
  { tail -20 "$scratch/apt.log" >&2; exit 1; }

heading "Try it"
in_root bash -euo pipefail -c '
  cd /root
  paceline --version
  test -e /usr/share/doc/paceline/copyright
  ls /usr/share/man/man1/paceline*.1* | wc -l
  bash -n /usr/share/bash-completion/completions/paceline
  paceline list learners
  paceline list networks | head -3
  paceline init && paceline run scenario.yaml --set replications=2 -o run
  paceline study /usr/share/paceline/scenarios/examples/policies.yaml --set replications=2 -o study
  paceline plot study --only time-to-accuracy -o figures
  paceline table study --format latex | tail -3
  paceline calibrate mlp --quick --cores 1 -o profile.json | tail -2
  paceline run /usr/share/paceline/scenarios/quickstart/base.yaml --set stop.epochs=1 --set replications=1 \
    --set job.network=mlp --set "job.profile=$PWD/profile.json" -o trained'
heading "The package works"
