#!/bin/sh
# Property `pure`: small flawed protocols, each made of impure.c by a line. Each flaw must be a
# breach that names protocol, event and rank, with a trace of the moves up to it.
. "$(dirname "$0")/../../protocols/t/tap.sh"
cd "$dir" || exit 1

compile() { # NAME LINE-OF-C [OPTION...]: a shared object and a claim in a folder of that name
  flaw=$1
  mkdir "$flaw"
  printf '%s\n' "$2" >"$flaw/flaw.h"
  shift 2
  ${CC:-cc} -std=c11 -O1 -shared -fPIC -I"$root" -I"$flaw" -DNAME="\"$flaw\"" "$@" \
    -o "$flaw/$flaw.so" "$root/verify/t/impure.c" 2>"$flaw/cc.log" || cat "$flaw/cc.log"
  cat >"$flaw/$flaw.yaml" <<END
program:
  ranks: 2
  script: |
    rank 0: send 1, send 1 tag 1, recv any
    rank 1: recv 0 tag 1, send 0, recv 0
protocol: {name: $flaw, file: $flaw.so, capacity: 1}
check: {checkpoints: 0, crashes: 1}
END
}

# Counts a test: the check is a breach with these words, after that many moves, and leaves a trace.
breaches() { # NAME WORDS MOVES [OPTION...]
  flaw=$1 words=$2 moves=$3
  shift 3
  timeout 60 "$recline" check "$flaw/$flaw.yaml" --out "$flaw/out" "$@" >"$flaw/said" 2>"$flaw/err"
  is "$?:$(sed -n 's/^ *pure, //p' "$flaw/said")" "3:rank 0, by step $((moves - 1)): $flaw $words" \
    "$flaw: $words" "$flaw/said" "$flaw/err"
  is "$(grep -c '^[0-9]' "$flaw/out/$flaw.trace"):$(grep -c '^violation pure ' "$flaw/out/$flaw.trace")" \
    "$moves:1" 'with the moves up to it' "$flaw/out/$flaw.trace"
}

flaw() { # NAME WORDS LINE-OF-C: found by any check, in the first START
  compile "$1" "$3"
  breaches "$1" "$2" 1
}

holds() { # NAME LINE-OF-C [OPTION...]
  flaw=$1
  compile "$@"
  exits 0 "$flaw holds" "$recline" check "$flaw/$flaw.yaml"
  exits 0 "$flaw holds in an audit" "$recline" check "$flaw/$flaw.yaml" --audit
}

holds fine ''

# Memory that is not its own.
for bytes in 1 9 57 3993; do
  s=$([ $bytes -eq 1 ] || echo s)
  flaw behind$bytes "wrote $bytes byte$s behind its state at start" \
    "#define AT_START at[8 + $bytes - 1] = 1"
done
flaw read1 'read 1 byte behind its state at start' '#define AT_START state->told = at[8]'
flaw before1 'wrote 1 byte before its state at start' '#define AT_START at[-1] = 1'
flaw before2000 'wrote 2000 bytes before its state at start' '#define AT_START at[-2000] = 1'
flaw before9000 'wrote 9000 bytes before its state at start' '#define AT_START at[-9000] = 1'
flaw config 'wrote to its config at start' \
  '#define AT_START *(volatile uint32_t *)(uintptr_t)&config->capacity = 2'
flaw config-behind 'read 8 bytes behind its config at start' \
  '#define AT_START state->told = ((byte *)(uintptr_t)(config + 1))[7]'
flaw event 'wrote to the event at start' \
  '#define AT_START *(byte *)(uintptr_t)&event->part = 1'
flaw event-behind 'wrote 1 byte behind the event at start' \
  '#define AT_START *(byte *)(uintptr_t)(event + 1) = 1'
flaw null 'wrote through a null pointer (Segmentation fault) at start' \
  '#define AT_START *(volatile int *)(uintptr_t)8 = 1'
flaw wild 'touched memory that is not its own (Segmentation fault) at start' \
  '#define AT_START *(volatile int *)((uintptr_t)memory ^ (uintptr_t)1 << 62) = 1'

# The list of actions.
flaw room 'wrote 1 byte behind the room for actions at start' \
  '#define AT_START *(byte *)&actions->item[actions->capacity] = 1'
flaw uncounted 'wrote behind the 0 actions that it counts at start' \
  '#define AT_START actions->item[3].slot = 1'
flaw stale 'counts action 1, of which it has not written all at start' \
  '#define AT_START actions->count = 1'
flaw unwritten 'counts action 1, of which it has not written all at start' \
  '#define AT_START actions->item[0].kind = RCL_ACTION_RELEASE; actions->item[0].bare = actions->item[0].pad2 = 0; actions->count = 1'
flaw before-list 'wrote 4 bytes before the room for actions at start' \
  '#define AT_START ((volatile uint32_t *)actions->item)[-1] = 1'
flaw too-many 'wants more than 58 actions at start' \
  '#define AT_START for (int i = 0; i < 100; i++) rcl_act(actions, RCL_ACTION_HOLD)'
flaw larger 'changed the room for actions at start' '#define AT_START actions->capacity = 100'

# The other functions.
flaw invariant 'wrote to its state in violated_invariant at start' '#define IN_INVARIANT at[0] = 1'
flaw invariant-behind 'read 1 byte behind its state in violated_invariant at start' \
  '#define IN_INVARIANT return at[8]'
flaw invariant-7 'tells of invariant 7, of 1, in violated_invariant at start' \
  '#define IN_INVARIANT return 7'
flaw work 'wrote to its state in work at start' '#define IN_WORK at[0] = 1'
flaw in-use 'wrote to its state in in_use at start' '#define IN_USE at[0] = 1; return 0'
piece='*piece = (struct rcl_piece)'
flaw in-use-large 'tells of 64 bytes from byte 0, of a state of 8, behind byte 0 in in_use at start' \
  "#define IN_USE $piece{.bytes = 64, .room = 64}; return 1"
flaw in-use-overlaps 'tells of 4 bytes from byte 4, of a state of 8, behind byte 8 in in_use at start' \
  "#define IN_USE $piece{.bytes = 8}; piece[1] = (struct rcl_piece){.offset = 4, .bytes = 4}; return 2"
flaw in-use-disorder 'tells of 4 bytes from byte 0, of a state of 8, behind byte 8 in in_use at start' \
  "#define IN_USE $piece{.bytes = 8}; piece[1] = (struct rcl_piece){.bytes = 4}; return 2"
flaw in-use-small 'does not tell of byte 0 of its state, which is not zero in in_use at start' \
  "#define IN_USE $piece{.offset = 4, .bytes = 4}; return 1"
flaw in-use-null 'read through a null pointer (Segmentation fault) in in_use at start' \
  '#define IN_USE return *(volatile uint32_t *)(uintptr_t)4'
flaw in-use-many 'tells of 17 pieces, expected 16 at most, in in_use at start' '#define IN_USE return 17'
flaw in-use-room 'wrote 1 byte behind the room for pieces in in_use at start' \
  '#define IN_USE piece[16].offset = 1; return 0'
flaw in-use-moves 'tells of other pieces than before the step in in_use at start' \
  "#define IN_USE $piece{.bytes = 4}; piece[1] = (struct rcl_piece){.offset = *at ? 4 : 8}; return 2"

# The size of a state, which is asked for before there is one.
size() { # NAME WORDS LINE-OF-C
  compile "$1" "$3"
  timeout 60 "$recline" check "$1/$1.yaml" >"$1/said" 2>"$1/err"
  is "$?:$(sed -n 's/^breach: //p' "$1/err")" "3:$1 $2 in state_size${4:-}" "$1: $2 in state_size" "$1/err"
}
size size-odd 'tells of 12 bytes' '#define IN_SIZE return 12' ', expected a multiple of 8 below 2 GiB'
size size-huge 'tells of 8589934592 bytes' '#define IN_SIZE return (size_t)1 << 33' \
  ', expected a multiple of 8 below 2 GiB'
size size-of-rank 'tells of 16 bytes at rank 1' '#define IN_SIZE return 8 + 8 * (size_t)config->self' \
  ', expected 8 as before'
size size-writes 'wrote to its config' \
  '#define IN_SIZE *(volatile uint32_t *)(uintptr_t)&config->capacity = 2; return 8'
size size-null 'ended by signal 11 (Segmentation fault)' \
  '#define IN_SIZE return *(volatile uint32_t *)(uintptr_t)4'
size size-endless 'does not end within 3 s of processor time' \
  '#define IN_SIZE for (volatile int i = 0; i < 2; i = 0); return 8'

# Data of the shared object that look, in the file, like data of the start files.
data='wrote to a variable of its shared object (Segmentation fault) at start'
flaw table "$data" '__attribute__((section(".got.plt"))) uint32_t count = 1;
#define AT_START count++'
flaw described "$data" 'static const struct rcl_protocol flawed;
#define AT_START *(volatile char *)(uintptr_t)&flawed = 1'
flaw fixed "$data" '__attribute__((section(".data.rel.ro"))) uint32_t count = 1;
#define AT_START count++'
compile nameless 'static char completed_7;
#define AT_START completed_7++' -s
breaches nameless "$data" 1

# Shared objects that are not loaded; the same where they are stripped.
refused() { # NAME WORDS WORDS-WHEN-STRIPPED LINE-OF-C [OPTION...]
  flaw=$1 words=$2 stripped=$3
  shift 3
  set -- "$flaw" "$@"
  compile "$@"
  for words in "$words" "$stripped"; do
    "$recline" check "$flaw/$flaw.yaml" >"$flaw/said" 2>"$flaw/err"
    is "$?:$(wc -l <"$flaw/err"):$(sed 's/.*protocol.file: \(.*\), expected.*/\1/' "$flaw/err")" \
      "64:1:$words" "$flaw: $words" "$flaw/err"
    strip "$flaw/$flaw.so"
  done
}

nameless='it can write to a variable (without a name, as it is stripped)'
for name in count completed completed_7; do
  refused "$name" "it can write to a variable ($name)" "$nameless" "static uint32_t $name;
#define AT_START $name++"
done
refused initial 'it can write to a variable (count)' "$nameless" 'static uint32_t count = 7;
#define AT_START count++'
refused section 'it can write to a variable (count)' "$nameless" \
  '__attribute__((section("mine"))) uint32_t count = 7;
#define AT_START count++'
thread='static _Thread_local uint32_t count;
#define AT_START count++'
needs='it needs __tls_get_addr'
refused thread "$needs" "$needs" "$thread"
writes='it can write to a variable (of each thread)'
refused thread-static "$writes" "$writes" "$thread" -ftls-model=initial-exec
loaded='it runs a function when it is loaded (a constructor)'
refused constructor "$loaded" "$loaded" \
  '__attribute__((constructor)) void begin(void); void begin(void) {}'
refused alone "$loaded" "$loaded" \
  '__attribute__((constructor)) void begin(void); void begin(void) {}' -nostartfiles
refused init "$loaded" "$loaded" 'void _init(void); void _init(void) {}' -nostartfiles
ended='it runs a function at the end (a destructor)'
refused destructor "$ended" "$ended" '__attribute__((destructor)) void end(void); void end(void) {}'
chooses='it chooses a function when it is loaded (an indirect one)'
refused indirect "$chooses" "$chooses" 'static int one(void) { return 1; }
static int (*choose(void))(void) { return one; }
static int chosen(void) __attribute__((ifunc("choose")));
#define AT_START state->told = (uint32_t)chosen()'
# A library that has one of the functions that start files name.
mkdir counts
echo 'static int count; int __gmon_start__(void); int __gmon_start__(void) { return ++count; }' |
  ${CC:-cc} -xc -shared -fPIC -nostartfiles -o counts/libcount.so - 2>made
needs='it needs libcount.so'
refused library "$needs" "$needs" 'int __gmon_start__(void);
#define AT_START state->told = (uint32_t)__gmon_start__()' -Wl,--no-as-needed -L"$dir/counts" -lcount \
  -Wl,-rpath,"$dir/counts"
needs='it needs memfd_create'
refused needs "$needs" "$needs" 'int memfd_create(const char *, unsigned);
#define AT_START state->told = (uint32_t)memfd_create("x", 0)'
# A recline with the sanitizers takes objects that are built with them.
is_sanitized || {
  needs='it needs __asan_none'
  refused weak "$needs" "$needs" '__attribute__((weak)) void __asan_none(void);
#define AT_START if (__asan_none) __asan_none()'
}

# How compilers and linkers build objects that are loaded.
for cc in gcc clang; do
  for linker in bfd gold lld; do
    command -v $cc >made && command -v ld.$linker >made || continue
    CC=$cc holds $cc-$linker '' -fuse-ld=$linker
    strip $cc-$linker/$cc-$linker.so
    exits 0 'stripped, too' "$recline" check $cc-$linker/$cc-$linker.yaml
  done
done
holds relocated-late '' -Wl,-z,norelro,-z,lazy

# Signals, and steps that do not end.
flaw zero 'ended by signal 8 (Floating point exception) at start' \
  '#define AT_START volatile uint32_t zero = 0; state->told = (7 + state->told) / zero'
flaw trap 'ended by signal 4 (Illegal instruction) at start' '#define AT_START __builtin_trap()'
flaw deep 'wrote beyond its stack (Segmentation fault) at start' \
  'static int deep(volatile int *n) { volatile int more[999]; more[0] = *n + 1; return deep(more) + more[0]; }
#define AT_START volatile int n = 0; state->told = (uint32_t)deep(&n)'
flaw endless 'does not end within 3 s of processor time at start' \
  '#define AT_START for (volatile int i = 0; i < 2; i = 0)'

# What only an audit can see: memory that was never written, addresses.
impure() { # NAME WORDS LINE-OF-C
  compile "$1" "$3"
  breaches "$1" "$2" "${4:-1}" --audit
}
makes='is impure: elsewhere in memory it makes another state at start'
# The stack of the sanitizers lies elsewhere than the one that an audit fills.
is_sanitized || impure uninitialised "$makes" \
  '#define AT_START volatile unsigned char room[512]; state->told = room[300] == 0x5A'
impure address "$makes" '#define AT_START state->told = (uintptr_t)memory >> 4 & 1'
impure address-high "$makes" '#define AT_START state->told = (uintptr_t)event >> 15 & 1'
below='static const uint32_t table[] = {1, 2};
#define AT_START state->told = (uintptr_t)event < (uintptr_t)table'
# The sanitizers leave less room for addresses, and have a stack of their own.
is_sanitized || {
  for bit in 20 31 46; do
    impure address-$bit "$makes" "#define AT_START state->told = (uintptr_t)config >> $bit & 1"
  done
  for bit in 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
    impure stack-$bit "$makes" \
      "#define AT_START volatile int here = 0; state->told = (uintptr_t)&here >> $bit & 1"
  done
  impure address-below "$makes" "$below"
  impure uninitialised-deep "$makes" \
    '#define AT_START volatile unsigned char room[40000]; state->told = room[300] == 0x5A'
}
impure before-read 'read 1 byte before its state at start' \
  '#define AT_START volatile int unused = at[-1]; (void)unused'
impure stale-read "$makes" '#define AT_START state->told = actions->item[0].slot == 0xA5A5A5A5'
impure stale-field 'is impure: elsewhere in memory it takes other actions at send' \
  '#define AT_SEND actions->item[0] = (struct rcl_action){.kind = RCL_ACTION_TRANSMIT, .words = {actions->item[1].slot != 0xA5A5A5A5}}; actions->count = 1' 2

# The stack may begin anywhere near the top of the addresses, and grows further in an audit. What is
# reserved for objects leaves it room: without random addresses, words of the environment push it down.
if setarch -R true 2>setarch; then
  word=$(head -c 120000 /dev/zero | tr '\0' x)
  set --
  crowded=
  for pushed in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    set -- "$@" "PUSHES_$pushed=$word"
    setarch -R env "$@" "$recline" check fine/fine.yaml --audit >said 2>err || crowded="$crowded $pushed"
  done
  is "$crowded" '' 'wherever the stack begins, an audit says the same' said err
else
  ok 'an audit wherever the stack begins # SKIP addresses are always random'
fi

# A run ends in the same words.
if ! is_sanitized && { [ -x "$build/bin/ring" ] || ls "$build"/*/ring >made 2>&1; }; then
  sed -e "s/name: restart, file: restart.so/name: behind1, file: behind1.so/" \
    "$root/examples/restart-run.yaml" >zero/run.yaml
  sed -i 's/behind1/zero/g' zero/run.yaml
  "$recline" run zero/run.yaml >zero/said 2>zero/err
  is "$?:$(grep -c 'breach: zero ended by signal 8 (Floating point exception) at start' zero/err)" \
    3:1 'a run ends by the same breach' zero/said zero/err
fi
finish
