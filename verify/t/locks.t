#!/bin/sh
# Locks 1 and 2 of docs/architecture.md.
. "$(dirname "$0")/../../protocols/t/tap.sh"

# 1. Purity: a protocol needs mem* and nothing else, has no writable data, knows no host.
objects=$build/protocols/CMakeFiles/recline-protocols.dir
for source in "$root"/protocols/*.c; do
  name=$(basename "$source" .c)
  case $name in step | registry | text | grammar | neighbours) continue ;; esac
  object=$objects/$name.c.o
  if nm -u "$object" | grep -q -e __asan -e __ubsan; then
    sanitized=1
  else
    sanitized=0
  fi
  strangers=$(nm -u "$object" | awk '{print $2}' |
    grep -v -e '^mem[a-z]*$' -e '^_GLOBAL_OFFSET_TABLE_$' -e '^__asan' -e '^__ubsan' \
      -e '^__sanitizer' -e '^__stack_chk_fail$' -e '^asan\.')
  check "$name needs nothing but mem* ($strangers)" test -z "$strangers"
  if [ "$sanitized" -eq 0 ]; then
    writable=$(objdump -h "$object" | awk '$2 ~ /^\.(data|bss|tdata|tbss)$/ && $3 !~ /^0+$/ {print $2}')
    check "$name has no writable data ($writable)" test -z "$writable"
  else
    report 0 "$name has no writable data # SKIP the sanitizers add some"
  fi
  check "$name has no conditional parts" sh -c '! grep -n "^[ \t]*#[ \t]*if" "$1"' - "$source"
done

# 2. One door: one place calls a protocol's step.
calls=$(grep -rn --include='*.c' --include='*.h' -e '->step *(' "$root/protocols" "$root/world" \
  "$root/verify" "$root/sim" "$root/mpi" "$root/play" 2>/dev/null)
check "one place calls a protocol's step" test "$(printf '%s\n' "$calls" | wc -l)" -eq 1
check 'and it is the door' sh -c 'printf "%s" "$1" | grep -q "protocols/step.c:"' - "$calls"
is "$(cd "$root" && grep -rl --include='*.c' 'rcl_protocol_step(' protocols/*.c world verify sim mpi play |
  grep -v '/t/' | sort | tr '\n' ' ')" \
  'mpi/real_host.c protocols/step.c world/rules/world_door.c ' \
  'which the world opens, and the host for real MPI'
finish
