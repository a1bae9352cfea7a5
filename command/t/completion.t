#!/bin/sh
# Completion of keys typed into an interactive bash, and what zsh's function offers. Also --help and the
# manual pages, which are made from the same tables.
. "$(dirname "$0")/../../protocols/t/tap.sh"
recline=$build/bin/recline
cd "$dir" || exit 1
mkdir stub kept
touch mine.yaml
# This stub completes as recline does. Otherwise it prints the words with which it was called.
cat >stub/recline <<END
#!/bin/sh
[ "\$1" != --complete ] || exec "$recline" "\$@"
printf '<%s>' "\$@"
END
chmod +x stub/recline

# completes NAME KEYS WORDS: in bash, the typed KEYS, with their tabs, become the command line WORDS.
completes()
{
  # shellcheck disable=SC2059 # \t in the keys
  { printf "PATH=\$PWD/stub:\$PATH; . '$root/command/recline.bash'\n"; printf "$2\nexit\n"; } |
    TERM=dumb script -qec 'bash --norc --noprofile -i' /dev/null >typed 2>&1
  grep -qF -e "$3" typed
  is $? 0 "bash: $1" typed
}

completes 'a command' 'recline chec\tx' '<check><x>'
completes 'a claim' 'recline check c3-no-sup\tx' '<check><c3-no-suppress><x>'
completes 'a scenario' 'recline run dem\t--js\t' '<run><demo><--json>'
completes 'a key and its value' 'recline run demo --set protocol.na\tbookm\t' '<run><demo><--set><protocol.name=bookmark>'
completes 'a parameter and its value' 'recline prove bookmark --set protocol.ex\tin-t\t' '<--set><protocol.exchange=in-turn>'
completes 'a choice of a key' 'recline campaign demo -w checkpoint.pla\tany\t' '<-w><checkpoint.places=anywhere>'
completes 'the value of an option' 'recline check --reduce s\tx' '<--reduce><sym><x>'
completes 'behind =' 'recline check --reduce=s\tx' '<--reduce=sym><x>'
completes 'a platform' 'recline draw cir\t-o x' '<draw><cirrus><-o><x>'
completes 'what can be listed' 'recline list sc\tx' '<list><scenarios><x>'
completes 'a command for help' 'recline help camp\tx' '<help><campaign><x>'
completes 'a folder' 'recline report kep\t-o x' '<report><kept/-o>'
completes 'a file' 'recline run min\tx' '<run><mine.yaml><x>'

# Runs zsh's function, with a compadd and a _files that print.
zsh_offers()
{
  zsh -fc 'compadd() { while [[ $1 == -* ]]; do [[ $1 == -S ]] && shift; shift; done; print -rl -- "$@"; }
    _files() { print files; }
    words=("$@"); CURRENT=$#words; . "$0"' "$root/command/recline.zsh" "$recline" "$@"
}
if command -v zsh >/dev/null; then
  is "$(zsh_offers check c3-no-sup | grep .)" "$(printf 'c3-no-suppress\nfiles')" 'zsh: a claim, or a file'
  is "$(zsh_offers run demo --set protocol.na | grep .)" 'protocol.name=' 'zsh: a key'
fi

for command in $("$recline" --complete '' | grep -v -e --); do
  "$recline" "$command" --help >help
  grep -q '^Usage: recline '"$command" help && grep -q '^  recline '"$command" help &&
    [ "$(wc -l <help)" -le 36 ] && ! grep -q '^.\{81\}' help
  is $? 0 "--help of $command is one screen, with an example" help
  for option in $("$recline" --complete "$command" --); do grep -q -e "$option" help || echo "$option"; done >missing
  is "$(cat missing)" '' "with every option of $command"
  [ -e "$build/man/recline.1" ] || continue
  for option in $("$recline" --complete "$command" --); do
    sed 's/\\//g' "$build/man/recline-$command.1" | grep -q -e "$option" || echo "$option"
  done >missing
  is "$(cat missing)" '' "its manual page has them too"
done
finish
