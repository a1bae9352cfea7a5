#!/bin/sh
# link.sh TREE NAME SOURCE: the page's module with one more protocol, compressed and in base64, on
# standard output. TREE: the folder of this build or installation. The protocol is in SOURCE, a file
# that ends with RECLINE_PROTOCOLS; without one NAME is a mutant's, of this build.
set -eu
tree=$1 name=$2 source=${3-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for tool in clang wasm-ld gzip base64; do
  command -v $tool >/dev/null || {
    echo "$tool is missing, expected the packages clang, lld and wasi-libc" >&2
    exit 1
  }
done
compile='clang --target=wasm32-wasi -std=c11 -O2 -c'
if [ -n "$source" ]; then
  # as `pkg-config --cflags recline` would say: of a build, of an installation
  $compile -I"$tree/include" -I"$tree/../../include" "$source" -o "$dir/protocol.o"
else
  # The mutant of the longest name that the form begins with, as in verify/mutants/CMakeLists.txt.
  data=$tree/data mutants=$tree/verify/mutants form=${name%%~*} flaw=${name#*~}
  while [ ! -e "$mutants/$form-$flaw.c" ]; do
    case $form in
      *-*) form=${form%-*} ;;
      *) echo "there is no source of $name here, expected the build that made it" >&2; exit 1 ;;
    esac
  done
  symbol=mutant_$(printf '%s' "$form" | tr - _)
  echo "MUTANT(\"$form~$flaw\", $symbol)" >"$dir/mutants.inc"
  $compile -w -iquote "$mutants/$form-$flaw" -iquote "$data" \
    "-Dprotocol_$(printf '%s' "$form" | tr - _)=$symbol" "$mutants/$form-$flaw.c" -o "$dir/mutant.o"
  $compile -w -iquote "$data" -I"$dir" "$data/verify/mutants/mutants.c" -o "$dir/protocol.o"
fi
clang --target=wasm32-wasi -mexec-model=reactor -nodefaultlibs -Wl,--gc-sections,-s \
  "$tree/play/page.o" "$dir"/*.o -lc -o "$dir/page.wasm"
gzip -9n <"$dir/page.wasm" | base64 -w0
