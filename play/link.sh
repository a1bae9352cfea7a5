#!/bin/sh
# link.sh TREE NAME SOURCE: the page's module with one more protocol, compressed and in base64, on
# standard output. TREE: the folder of this build or installation. The protocol is in SOURCE, a file
# that ends with RECLINE_PROTOCOLS; without one NAME is a mutant's, made of the sources and patches in
# RECLINE_DATA.
set -eu
tree=$1 name=$2 source=${3-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for tool in clang wasm-ld patch gzip base64; do
  command -v $tool >/dev/null || {
    echo "$tool is missing, expected the packages clang, lld, wasi-libc and patch" >&2
    exit 1
  }
done
compile='clang --target=wasm32-wasi -std=c11 -O2 -c'
if [ -n "$source" ]; then
  # as `pkg-config --cflags recline` would say: of a build, of an installation
  $compile -I"$tree/include" -I"$tree/../../include" "$source" -o "$dir/protocol.o"
else
  # The mutant of the longest name that the form begins with, as in verify/mutants/CMakeLists.txt.
  data=${RECLINE_DATA:?} form=${name%%~*} flaw=${name#*~}
  while [ ! -e "$data/verify/mutants/$form-$flaw.patch" ]; do
    case $form in
      *-*) form=${form%-*} ;;
      *) echo "there is no patch of $name among the mutants" >&2; exit 1 ;;
    esac
  done
  patch=$data/verify/mutants/$form-$flaw.patch plain=$(printf '%s' "$form" | tr - _)
  target=$(sed -n '/^--- a/{s,^--- a/\([^[:blank:]]*\).*,\1,p;q;}' "$patch")
  mkdir -p "$dir/$(dirname "$target")"
  cp "$data/protocols/$form.c" "$dir/protocols"
  patch --quiet --fuzz=0 --output="$dir/$target" "$data/$target" "$patch"
  echo "MUTANT(\"$form~$flaw\", mutant_$plain)" >"$dir/mutants.inc"
  $compile -w -iquote "$dir" -iquote "$data" "-Dprotocol_$plain=mutant_$plain" "$dir/protocols/$form.c" \
    -o "$dir/mutant.o"
  $compile -w -iquote "$data" -I"$dir" "$data/verify/mutants/mutants.c" -o "$dir/protocol.o"
fi
clang --target=wasm32-wasi -mexec-model=reactor -nodefaultlibs -Wl,--gc-sections,-s \
  "$tree/play/page.o" "$dir"/*.o -lc -o "$dir/page.wasm"
gzip -9n <"$dir/page.wasm" | base64 -w0
