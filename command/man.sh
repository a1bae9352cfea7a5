#!/bin/sh
# man.sh RECLINE FOLDER: makes manual pages of recline and of its commands from what --help prints.
set -eu
recline=$1
mkdir -p "$2"
version=$("$recline" --version)
commands=$("$recline" help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')

# page NAME SUMMARY COMMAND [WORD]...: makes a page of `COMMAND WORD... --help`, which names all others.
page()
{
  name=$1 summary=$2
  shift 2
  see=$(for other in "" $commands; do echo "recline${other:+-}$other(1)"; done | grep -v "^$name(" |
    paste -s -d, | sed 's/,/, /g')
  printf '[see also]\n%s\n' "$see" >"$folder/.see"
  help2man --no-info --section 1 --manual recline --name "$summary" --include "$folder/.see" \
    --source "$version" --version-string "$version" "$*" |
    sed -e "s/^\.TH RECLINE /.TH $(echo "$name" | tr a-z- A-Z-) /" \
      -e "/^\.SH NAME/,/^\.SH SYN/s/^recline /$name /" \
      -e '/^\.SH EXAMPLES/,/^\.SH "SEE/s/^recline /.br\n&/' >"$folder/$name.1"
  rm "$folder/.see"
}

folder=$2
page recline 'simulator and model checker of checkpoint/rollback protocols for MPI' "$recline"
"$recline" help | sed -n 's/^  \([a-z][a-z]*\)  *\([a-z].*\)/\1 \2/p' | while read -r command summary; do
  page "recline-$command" "$summary" "$recline" "$command"
done
