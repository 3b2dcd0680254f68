#!/usr/bin/env bash
# What no compiler says: texts, formatting, and clang-tidy on changed files.
set -euo pipefail

CDPATH="" cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

usage() {
  cat << 'END'
usage: tests/lint/run.sh [--texts | --tidy] [--base REVISION | FILE...] [--most N]

  --texts          only line lengths, words, links and formatting, of every file (seconds; needs no build)
  --tidy           only clang-tidy (seconds for each file)
  --base REVISION  clang-tidy on the source files that differ from REVISION (default: the commit before)
  FILE...          clang-tidy on these files instead
  --most N         clang-tidy on at most N of them, and a word about the rest
END
}

texts=true
tidy=true
base=""
most=""
files=()
while (($# > 0)); do
  case "$1" in
    --texts) tidy=false ;;
    --tidy) texts=false ;;
    --base)
      (($# > 1)) || { echo "error: --base needs a revision" >&2 && exit 2; }
      base="$2"
      shift
      ;;
    --most)
      (($# > 1)) || { echo "error: --most needs a number" >&2 && exit 2; }
      most="$2"
      shift
      ;;
    --help | -h) usage && exit 0 ;;
    -*) echo "error: unknown argument: $1" >&2 && usage >&2 && exit 2 ;;
    *) files+=("$1") ;;
  esac
  shift
done

if [[ "$texts" == true ]]; then
  printf '\n== Texts (tests/lint/text.py)\n'
  tests/lint/text.py
  printf '\n== Formatting (clang-format)\n'
  git ls-files -z -- '*.cpp' '*.hpp' | xargs -0 clang-format-14 --dry-run --Werror
fi

if [[ "$tidy" == true ]]; then
  if ((${#files[@]} == 0)); then
    # A checkout without history has no commit before: then what is not committed is all that changed.
    base="${base:-$(git rev-parse --quiet --verify HEAD~1 || echo HEAD)}"
    # A changed header is seen through the sources that include it; its own source file stands for them.
    mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- '*.cpp' '*.hpp' | sed 's/\.hpp$/.cpp/' | sort -u)
  fi
  # clang-tidy wants the command of every single file, which a build of joined sources does not have.
  cmake --preset release -B build-lint -D CMAKE_UNITY_BUILD=OFF > /dev/null
  # Only what the build compiles.
  checked=()
  for file in "${files[@]}"; do
    if grep -qF "\"$PWD/$file\"" build-lint/compile_commands.json; then checked+=("$file"); fi
  done
  if [[ -n "$most" ]] && ((${#checked[@]} > most)); then
    echo "clang-tidy: $((${#checked[@]} - most)) of ${#checked[@]} files are left out"
    checked=("${checked[@]:0:most}")
  fi
  printf '\n== clang-tidy on %d files\n' "${#checked[@]}"
  if ((${#checked[@]} > 0)); then
    printf '%s\0' "${checked[@]}" | xargs -0 --max-args=1 --max-procs="$(nproc)" clang-tidy-16 -p build-lint --quiet
  fi
fi
