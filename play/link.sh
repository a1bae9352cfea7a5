#!/bin/sh
# link.sh TREE NAME SOURCE: prints the page's module with one more protocol, compressed and in base64.
# Then prints, on a line of its own, what is in that protocol's `struct state`, as layout.pl writes it,
# if SOURCE has one and there is a perl.
#
# TREE is the folder of this build or installation. The protocol is in SOURCE, a file that ends with
# RECLINE_PROTOCOLS; without SOURCE, NAME is a mutant, made of the sources and patches in
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
compile='clang --target=wasm32-wasi -std=c11 -Os -c'
: >"$dir/layout"
if [ -n "$source" ]; then
  # the folders that `pkg-config --cflags recline` would name, in a build and in an installation
  $compile -I"$tree/include" -I"$tree/../../include" -Xclang -fdump-record-layouts "$source" \
    -o "$dir/protocol.o" >"$dir/dump"
  cp "$source" "$dir/protocol.c"
  ! command -v perl >/dev/null ||
    perl "$tree/play/layout.pl" "$dir/layout" "own=$dir/protocol.c=$dir/dump"
else
  # Finds the protocol of the mutant. A form may have a name of its own: mattern is a form of
  # lai-yang.
  data=${RECLINE_DATA:?} form=${name%%~*} flaw=${name#*~}
  for patch in "$data/verify/mutants/$form/$flaw.patch" "$data/verify/mutants/${form%-*}/$flaw.patch" \
    "$data"/verify/mutants/*/"$flaw.patch"; do
    [ ! -e "$patch" ] || break
  done
  form=${patch%/*} form=${form##*/}
  [ -e "$patch" ] || { echo "there is no patch of $name among the mutants" >&2; exit 1; }
  plain=$(printf '%s' "$form" | tr - _)
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
echo
cat "$dir/layout"
