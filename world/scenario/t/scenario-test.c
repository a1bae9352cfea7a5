/* Tests that scenarios are loaded, refused, overridden and saved. Every case is a line of TAP. */
#include "world/scenario/scenario.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/scenario/keys.h"
#include "world/scenario/machine_file.h"
#include "world/scenario/parameters.h"
#include "world/scenario/platform_file.h"

/* ---- TAP ---- */

static int tests, failed;

static bool ok(bool good, const char *name)
{
  printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
  failed += !good;
  return good;
}

static void is_text(const char *got, const char *expected, const char *name)
{
  if (!ok(!g_strcmp0(got, expected), name))
    printf("#      got: %s\n# expected: %s\n", got ? got : "(nothing)", expected);
}

static void is_number(double got, double expected, const char *name)
{
  if (!ok(got >= expected && got <= expected, name))
    printf("#      got: %.17g\n# expected: %.17g\n", got, expected);
}

static void put(const char *file, const char *text)
{
  g_autoptr(GError) error = NULL;
  if (!g_file_set_contents(file, text, -1, &error)) {
    printf("Bail out! %s\n", error->message);
    exit(1);
  }
}

/* ---- a world to test in: a folder with platforms ---- */

static const struct rcl_protocol mutant = {.name = "c3~no-suppress", .title = "C3 with a flaw"};
static const struct rcl_protocol *const mutants[] = {&mutant, NULL};

static const char mini[] =
    "<?xml version='1.0'?>\n"
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\">\n"
    "  <zone id=\"all\" routing=\"Full\">\n"
    "    <cluster id=\"c\" prefix=\"node-\" suffix=\".lan\" radical=\"0-2,7\" speed=\"1Gf\"/>\n"
    "    <host id=\"service-0\" speed=\"1Gf\"/>\n"
    "    <host id=\"service-nfs\" speed=\"1Gf\"><disk id=\"d\"/></host>\n"
    "    <host id=\"extra\" speed=\"1Gf\"/>\n"
    "  </zone>\n"
    "</platform>\n";

/* Two nodes on two interconnects. */
static const char both[] =
    "<?xml version='1.0'?>\n"
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\">\n"
    "  <zone id=\"all\" routing=\"Full\">\n"
    "    <zone id=\"a\" routing=\"Full\">\n"
    "      <prop id=\"interconnect\" value=\"slow\"/>\n"
    "      <host id=\"a-0\" speed=\"1Gf\"/><host id=\"a-1\" speed=\"1Gf\"/>\n"
    "    </zone>\n"
    "    <zone id=\"b\" routing=\"Full\">\n"
    "      <prop id=\"interconnect\" value=\"fast\"/>\n"
    "      <host id=\"b-0\" speed=\"1Gf\"/><host id=\"b-1\" speed=\"1Gf\"/>\n"
    "    </zone>\n"
    "    <host id=\"service-0\" speed=\"1Gf\"/>\n"
    "  </zone>\n"
    "</platform>\n";

static void make_world(void)
{
  g_mkdir("platforms", 0700);
  put("mini.xml", mini);
  put("both.xml", both);
  put("platforms/shared.xml", mini);
  put("t.txt", "no XML\n");
  put("bad.yaml", "nodes: 4\nnetwork: {latency: 2}\n");
  put("worse.yaml", "spares: 4\n");
  put("bare.xml", "<platform version='4.1'><host id='a'/><host id='b'/></platform>\n");
  put("broken.xml", "<platform>\n<zone>\n</platform>\n");
  put("radical.xml", "<platform><cluster prefix='a' radical='0-' suffix=''/></platform>\n");
  put("negative.xml", "<platform><cluster prefix='a' radical='-1' suffix=''/></platform>\n");
  put("huge.xml", "<platform><cluster prefix='a' radical='99999999999999999999'/></platform>\n");
  g_setenv("RECLINE_PLATFORMS", "nowhere:platforms", TRUE);
  rcl_protocol_register(mutants);
}

/* ---- what is refused ---- */

#define PROGRAM_OF_4(topology) "program: {binary: cg, ranks: 4, topology: " topology "}\n"
#define PROGRAM "program: {binary: cg, args: [S], ranks: 2}\n"
#define PLATFORM "platform: {file: mini.xml}\n"
#define PROTOCOL "protocol: {name: c3}\n"
#define GOOD PROGRAM PLATFORM PROTOCOL /* three lines */
#define LAW(keys) GOOD "failures:\n  - {" keys "}\n"
#define EVENTS                                                                                     \
  "start, down, timer, send, receive, choice, safe-point, member, collective, output, arrived, "   \
  "control, collected, captured, durable or "                                                      \
  "committed"
#define KEYS                                                                                       \
  "id, statement, source, program, platform, protocol, checkpoint, failures, detection, "          \
  "recovery, output, output_files, schedule, seed, clocks, limits, expect or check"
#define FAILURE_KEYS                                                                               \
  "rank, at, after, ends_after, law, mtbf, shape, of, burst, within, trace, begins, repair, "      \
  "repair_law, "                                                                                   \
  "repair_shape, kills, returns or restart_on"

struct refusal {
  const char *name, *yaml, *error;
  const char *set; /* one override, or NULL */
};

static const struct refusal refusals[] = {
    {"an empty file", "",
     "t.yaml:1: program: missing, expected a mapping with binary, args, stdin, script, ranks or "
     "topology",
     NULL},
    {"a text for a mapping", "program: {binary: cg, ranks: 2}\nprotocol: c3\n",
     "t.yaml:2: protocol: \"c3\", expected a mapping with name, file, capacity, interval, log, "
     "log_in, failures, crossings, initiators, exchange or control; did you mean {name: c3}?",
     NULL},
    {"a text", "hello\n", "t.yaml:1: \"hello\", expected a mapping with " KEYS, NULL},
    {"a list", "- program\n", "t.yaml:1: a list, expected a mapping with " KEYS, NULL},
    {"not YAML", "seed: 1\nprogram: {binary: cg\nprotocol: [\n",
     "t.yaml:3: not YAML (did not find expected ',' or '}'), expected one scenario", NULL},
    {"a tab", "program:\n\tbinary: cg\n",
     "t.yaml:2: not YAML (found character that cannot start any token), expected one scenario",
     NULL},
    {"bad characters", "seed: 1\nid: \xff\xfe\n",
     "t.yaml:2: not YAML (invalid leading UTF-8 octet), expected one scenario", NULL},
    {"two documents", GOOD "---\nseed: 2\n", "t.yaml:5: a second document, expected one scenario",
     NULL},
    {"an alias to itself", GOOD "check: &a {lies: [*a]}\n",
     "t.yaml:1: nested too deep, expected a scenario", NULL},
    {"an undefined alias", GOOD "seed: *a\n",
     "t.yaml:4: not YAML (found undefined alias), expected one scenario", NULL},

    {"an unknown key", GOOD "sede: 1\n",
     "t.yaml:4: unknown key \"sede\", expected " KEYS "; did you mean seed?", NULL},
    {"an unknown key below", "program:\n  binary: cg\n  rnaks: 2\n",
     "t.yaml:3: unknown key \"program.rnaks\", expected binary, args, stdin, script, ranks or "
     "topology; "
     "did you mean ranks?",
     NULL},
    {"an unknown key in a list", GOOD "failures:\n  - rank: 1\n    att: 3s\n",
     "t.yaml:6: unknown key \"failures.0.att\", expected " FAILURE_KEYS "; did you mean at?", NULL},
    {"an unknown key of a trigger", GOOD "failures:\n  - rank: 1\n    after: {evnt: captured}\n",
     "t.yaml:6: unknown key \"failures.0.after.evnt\", expected event, rank, checkpoint, "
     "iteration, count, recovery or actions; did you mean event?",
     NULL},
    {"a key that is no text", GOOD "? [a]\n: 1\n",
     "t.yaml:4: a key that is no text, expected a name", NULL},
    {"a key twice", GOOD "seed: 1\nseed: 2\n",
     "t.yaml:5: seed: the key is there twice, expected it once", NULL},

    {"a list for a mapping", GOOD "checkpoint: [a]\n",
     "t.yaml:4: checkpoint: a list, expected a mapping with every, at, count, calls, then, "
     "storage, "
     "levels, writes, "
     "places, "
     "level or "
     "bytes",
     NULL},
    {"nothing for a mapping", GOOD "checkpoint:\n",
     "t.yaml:4: checkpoint: no value, expected a mapping with every, at, count, calls, then, "
     "storage, "
     "levels, writes, "
     "places, level or "
     "bytes",
     NULL},
    {"a mapping for a text", GOOD "id: {a: b}\n", "t.yaml:4: id: a mapping, expected a text", NULL},
    {"a text for a list", GOOD "failures: some\n", "t.yaml:4: failures: \"some\", expected a list",
     NULL},
    {"a text for a list of properties", GOOD "check: {properties: consistent}\n",
     "t.yaml:4: check.properties: \"consistent\", expected a list", NULL},
    {"a mapping in a list of properties", GOOD "check:\n  properties:\n  - a\n  - {b: c}\n",
     "t.yaml:7: check.properties.1: a mapping, expected a text", NULL},
    {"a text for a mapping in a list", GOOD "failures: [none]\n",
     "t.yaml:4: failures.0: \"none\", expected a mapping with " FAILURE_KEYS, NULL},
    {"a text for a number", GOOD "seed: many\n",
     "t.yaml:4: seed: \"many\" is no whole number, expected 0 to 18446744073709551615", NULL},
    {"a fraction for a number", "program: {binary: cg, ranks: 2.5}\n" PROTOCOL,
     "t.yaml:1: program.ranks: \"2.5\" is no whole number, expected digits only", NULL},
    {"an octal number", "program: {binary: cg, ranks: 010}\n" PROTOCOL,
     "t.yaml:1: program.ranks: \"010\" is no whole number, expected digits only", NULL},
    {"no number", "program: {binary: cg, ranks: }\n" PROTOCOL,
     "t.yaml:1: program.ranks: no value, expected a whole number", NULL},
    {"a list for a number", "program: {binary: cg, ranks: [2]}\n" PROTOCOL,
     "t.yaml:1: program.ranks: a list, expected a whole number", NULL},
    {"a value of two lines", GOOD "expect:\n  verdict: \"a\\nb\"\n",
     "t.yaml:5: expect.verdict: \"a b\" is unknown, expected completed, recovered, gave-up, lost, "
     "stopped, holds, violated, inconclusive or vacuous",
     NULL},

    {"no program", PROTOCOL,
     "t.yaml:1: program: missing, expected a mapping with binary, args, stdin, script, ranks or "
     "topology",
     NULL},
    {"no protocol", PROGRAM,
     "t.yaml:1: protocol: missing, expected a mapping with name, file, capacity, interval, log, "
     "log_in, failures, crossings, initiators, exchange or control",
     NULL},
    {"no ranks", "seed: 1\nprogram:\n  binary: cg\n" PROTOCOL,
     "t.yaml:3: program.ranks: missing, expected a whole number", NULL},
    {"no name of a protocol", PROGRAM PLATFORM "protocol: {capacity: 4}\n",
     "t.yaml:3: protocol.name: missing, expected a text", NULL},
    {"a topology that is none", PROGRAM_OF_4("star") PROTOCOL,
     "t.yaml:1: program.topology: \"star\", expected all, ring, line, grid-AxB, torus-AxB, "
     "hypercube or pairs as 0-1",
     NULL},
    {"a topology of too many ranks", PROGRAM_OF_4("0-1 3-4") PROTOCOL,
     "t.yaml:1: program.topology: \"3-4\", expected two ranks of the program", NULL},
    {"a pair of one rank", PROGRAM_OF_4("1-1") PROTOCOL,
     "t.yaml:1: program.topology: \"1-1\", expected two different ranks", NULL},
    {"a grid of another size", PROGRAM_OF_4("grid-2x3") PROTOCOL,
     "t.yaml:1: program.topology: \"grid-2x3\", expected sizes as 4x4 whose product is the number "
     "of ranks",
     NULL},
    {"a list for a topology", PROGRAM_OF_4("[0-1]") PROTOCOL,
     "t.yaml:1: program.topology: a list, expected a text", NULL},
    {"neither binary nor script", "program: {ranks: 2}\n" PROTOCOL,
     "t.yaml:1: program: neither binary nor script, expected one of them", NULL},
    {"binary and script",
     "program:\n  binary: cg\n  ranks: 2\n  script: |\n    rank *: send 0\n" PROTOCOL,
     "t.yaml:4: program.script: beside a binary, expected binary or script, not both", NULL},
    {"args of a script", "program: {script: 'rank *: send 0', ranks: 2, args: [S]}\n" PROTOCOL,
     "t.yaml:1: program.args: beside a script, expected args with a binary only", NULL},
    {"an empty binary", "program: {binary: '', ranks: 2}\n" PROTOCOL,
     "t.yaml:1: program.binary: \"\" is no program, expected its name or path", NULL},
    {"a binary that is not there", "program: {binary: ./cg, ranks: 2}\n" PROTOCOL,
     "t.yaml:1: program.binary: \"./cg\" is not there, expected a program built by recline-cc",
     NULL},
    {"no rank at all", "program: {binary: cg, ranks: 0}\n" PROTOCOL,
     "t.yaml:1: program.ranks: 0 is out of range, expected 1 to 32767", NULL},
    {"negative ranks", "program: {binary: cg, ranks: -2}\n" PROTOCOL,
     "t.yaml:1: program.ranks: -2 is out of range, expected 1 to 32767", NULL},
    {"too many ranks", "program: {binary: cg, ranks: 99999999999999999999}\n" PROTOCOL,
     "t.yaml:1: program.ranks: \"99999999999999999999\" is no whole number, expected digits only",
     NULL},

    {"a binary without a platform", PROGRAM PROTOCOL,
     "t.yaml:1: platform.file: missing, expected the platform on which cg runs", NULL},
    {"a platform without a file", PROGRAM "platform:\n  spares: 1\n" PROTOCOL,
     "t.yaml:3: platform.file: missing, expected a SimGrid platform or a description of a machine, "
     "or its nodes here",
     NULL},
    {"a machine without nodes", PROGRAM "platform: {speed: 1Gf}\n" PROTOCOL,
     "t.yaml:2: platform.nodes: missing, expected the number of nodes of the machine", NULL},
    {"a machine with too few", PROGRAM "platform: {nodes: 1}\n" PROTOCOL,
     "t.yaml:2: platform.nodes: platform has 1 nodes, expected at least 2 for 2 ranks and 0 spares",
     NULL},
    {"a machine beside XML", PROGRAM "platform:\n  file: mini.xml\n  memory: 1GBps\n" PROTOCOL,
     "t.yaml:4: platform.memory: beside a SimGrid platform, expected a file that describes a "
     "machine (.yaml), or none",
     NULL},
    {"a rate without a unit of rates", PROGRAM "platform: {nodes: 4, memory: 1GB}\n" PROTOCOL,
     "t.yaml:2: platform.memory: \"1GB\" is no rate, expected a number with unit Bps, kBps, MBps, "
     "GBps, TBps, KiBps, MiBps or GiBps",
     NULL},
    {"a rate in bits", PROGRAM "platform: {nodes: 4, memory: 10Gbps}\n" PROTOCOL,
     "t.yaml:2: platform.memory: \"10Gbps\" is no rate, expected a number with unit Bps, kBps, "
     "MBps, GBps, TBps, KiBps, MiBps or GiBps: 10Gbps are 1.25GBps",
     NULL},
    {"a speed without a unit of speeds", PROGRAM "platform: {nodes: 4, speed: 1GHz}\n" PROTOCOL,
     "t.yaml:2: platform.speed: \"1GHz\" is no speed, expected a number with unit f, kf, Mf, Gf, "
     "Tf or Pf",
     NULL},
    {"a network of no bandwidth",
     PROGRAM "platform:\n  nodes: 4\n  network: {bandwidth: 0Bps}\n" PROTOCOL,
     "t.yaml:4: platform.network.bandwidth: 0Bps, expected more than 0", NULL},
    {"a topology", PROGRAM "platform: {nodes: 4, topology: tree}\n" PROTOCOL,
     "t.yaml:2: platform.topology: \"tree\" is unknown, expected flat, fat-tree or dragonfly",
     NULL},
    {"a law without a mean on a machine without one",
     PROGRAM "platform: {nodes: 4}\n" PROTOCOL "failures: [{law: exponential}]\n",
     "t.yaml:4: failures.0.mtbf: missing, expected a time", NULL},
    {"zones, of which the machine says no mean",
     PROGRAM "platform: {nodes: 4, mtbf: 1h}\n" PROTOCOL
             "failures: [{law: exponential, of: zone}]\n",
     "t.yaml:4: failures.0.mtbf: missing, expected a time", NULL},
    {"a machine of a file", PROGRAM "platform: {file: bad.yaml}\n" PROTOCOL,
     "bad.yaml:2: network.latency: \"2\" is no time, expected a number with unit ns, us, ms, s, "
     "min, h, "
     "d or y",
     NULL},
    {"a key that a machine has not", PROGRAM "platform: {file: worse.yaml}\n" PROTOCOL,
     "worse.yaml:1: unknown key \"spares\", expected nodes, per_node, topology, speed, cores, "
     "memory, "
     "network, within_node, storage, local or mtbf",
     NULL},
    {"a platform that is not there", PROGRAM "platform:\n  file: max.xml\n" PROTOCOL,
     "t.yaml:3: platform.file: \"max.xml\" is not there, expected a platform beside the scenario "
     "or in nowhere:platforms",
     NULL},
    {"a platform that is no XML", PROGRAM "platform: {file: t.txt}\n" PROTOCOL,
     "t.yaml:2: platform.file: t.txt (Error on line 1 char 1: Document must begin with an element "
     "(e.g. <book>)), expected a SimGrid platform file",
     NULL},
    {"a cluster without ranges", PROGRAM "platform: {file: radical.xml}\n" PROTOCOL,
     "t.yaml:2: platform.file: radical.xml (radical \"0-\" of <cluster> is no list of ranges such "
     "as 0-7,12), expected a SimGrid platform file",
     NULL},
    {"a cluster whose host has a negative number",
     PROGRAM "platform: {file: negative.xml}\n" PROTOCOL,
     "t.yaml:2: platform.file: negative.xml (radical \"-1\" of <cluster> is no list of ranges such "
     "as 0-7,12), expected a SimGrid platform file",
     NULL},
    {"a cluster whose host has a number beyond 64 bits",
     PROGRAM "platform: {file: huge.xml}\n" PROTOCOL,
     "t.yaml:2: platform.file: huge.xml (radical \"99999999999999999999\" of <cluster> is no list "
     "of "
     "ranges such as 0-7,12), expected a SimGrid platform file",
     NULL},
    {"a placement", PROGRAM "platform: {file: mini.xml, placement: packed}\n" PROTOCOL,
     "t.yaml:2: platform.placement: \"packed\" is unknown, expected one-per-node or block", NULL},
    {"a dispatcher that is no host",
     PROGRAM "platform:\n  file: mini.xml\n  dispatcher: service-9\n" PROTOCOL,
     "t.yaml:4: platform.dispatcher: \"service-9\" is no host of mini.xml, expected one of its 7 "
     "hosts",
     NULL},
    {"no host for the dispatcher", PROGRAM "platform: {file: bare.xml}\n" PROTOCOL,
     "t.yaml:2: platform.dispatcher: \"service-0\" is no host of bare.xml, expected one of its 2 "
     "hosts",
     NULL},
    {"too few hosts",
     "program: {binary: cg, ranks: 5}\nplatform:\n  file: mini.xml\n  spares: 1\n" PROTOCOL,
     "t.yaml:3: platform.file: mini.xml has 5 nodes, expected at least 6 for 5 ranks and 1 spares",
     NULL},
    {"a dispatcher on a node",
     "program: {binary: cg, ranks: 5}\nplatform: {file: mini.xml, dispatcher: extra}\n" PROTOCOL,
     "t.yaml:2: platform.file: mini.xml has 4 nodes, expected at least 5 for 5 ranks and 0 spares",
     NULL},
    {"an interconnect that is not there",
     PROGRAM "platform: {file: both.xml, interconnect: token-ring}\n" PROTOCOL,
     "t.yaml:2: platform.interconnect: interconnect \"token-ring\" is not in it, expected one of "
     "slow, fast",
     NULL},
    {"an interconnect where none has a name",
     PROGRAM "platform: {file: mini.xml, interconnect: fast}\n" PROTOCOL,
     "t.yaml:2: platform.interconnect: interconnect \"fast\" is not in it, expected none, it names "
     "no interconnects",
     NULL},
    {"more ranks than one on a node with one-per-node",
     PROGRAM "platform: {file: both.xml, placement: one-per-node, per_node: 2}\n" PROTOCOL,
     "t.yaml:2: platform.per_node: 2 with one-per-node, expected placement: block", NULL},
    {"no rank on a node", PROGRAM "platform: {file: both.xml, per_node: 0}\n" PROTOCOL,
     "t.yaml:2: platform.per_node: 0 is out of range, expected 1 to 32767", NULL},
    {"too few nodes to restart on",
     "program: {binary: cg, ranks: 4}\nplatform: {file: both.xml, per_node: 2}\n" PROTOCOL
     "failures:\n  - {rank: 0, at: 1s, restart_on: {interconnect: fast}}\n",
     "t.yaml:5: failures.0.restart_on.per_node: both.xml has 2 nodes, expected at least 4 for 4 "
     "ranks and 0 "
     "spares",
     NULL},
    {"negative spares", PROGRAM "platform: {file: mini.xml, spares: -1}\n" PROTOCOL,
     "t.yaml:2: platform.spares: -1 is out of range, expected 0 to 1000000000", NULL},

    {"no capacity", PROGRAM PLATFORM "protocol: {name: c3, capacity: 0}\n",
     "t.yaml:3: protocol.capacity: 0 is out of range, expected 1 to 1048576", NULL},

    {"an unknown storage", GOOD "checkpoint:\n  storage: tape\n",
     "t.yaml:5: checkpoint.storage: \"tape\" is unknown, expected memory, local or nfs", NULL},
    {"storage by number", GOOD "checkpoint:\n  storage: 1\n",
     "t.yaml:5: checkpoint.storage: \"1\" is unknown, expected memory, local or nfs", NULL},
    {"unknown writes", GOOD "checkpoint: {writes: late}\n",
     "t.yaml:4: checkpoint.writes: \"late\" is unknown, expected background or foreground", NULL},
    {"unknown places", GOOD "checkpoint: {places: nowhere}\n",
     "t.yaml:4: checkpoint.places: \"nowhere\" is unknown, expected anywhere or program; "
     "did you mean anywhere?",
     NULL},
    {"a size in parsecs", GOOD "checkpoint: {bytes: 4 parsecs}\n",
     "t.yaml:4: checkpoint.bytes: \"4 parsecs\" is no size, expected a number with unit B, kB, MB, "
     "GB, TB, KiB, MiB, GiB or TiB",
     NULL},
    {"a negative size", GOOD "checkpoint: {bytes: -4MB}\n",
     "t.yaml:4: checkpoint.bytes: \"-4MB\" is negative, expected a size of 0 or more", NULL},
    {"a time without unit", GOOD "checkpoint: {every: 2}\n",
     "t.yaml:4: checkpoint.every: \"2\" is no time, expected a number with unit ns, us, ms, s, "
     "min, h, d or "
     "y",
     NULL},
    {"a time in parsecs", GOOD "failures:\n  - {rank: 1, at: 1s}\n  - rank: 0\n    at: 4 parsecs\n",
     "t.yaml:7: failures.1.at: \"4 parsecs\" is no time, expected a number with unit ns, us, ms, "
     "s, min, h, d or y",
     NULL},
    {"a negative time", GOOD "detection: -1ms\n",
     "t.yaml:4: detection: \"-1ms\" is negative, expected a time of 0 or more", NULL},
    {"a time that is no number", GOOD "detection: soon\n",
     "t.yaml:4: detection: \"soon\" is no time, expected a number with unit ns, us, ms, s, min, h, "
     "d or y",
     NULL},
    {"an endless time", GOOD "detection: 1e999s\n",
     "t.yaml:4: detection: \"1e999s\" is no time, expected a number with unit ns, us, ms, s, min, "
     "h, d or y",
     NULL},
    {"a hexadecimal time", GOOD "detection: 0x1s\n",
     "t.yaml:4: detection: \"0x1s\" is no time, expected a number with unit ns, us, ms, s, min, h, "
     "d or y",
     NULL},
    {"an empty time", GOOD "detection: ''\n",
     "t.yaml:4: detection: \"\" is no time, expected a number with unit ns, us, ms, s, min, h, d "
     "or y",
     NULL},
    {"a unit alone", GOOD "detection: s\n",
     "t.yaml:4: detection: \"s\" is no time, expected a number with unit ns, us, ms, s, min, h, d "
     "or y",
     NULL},
    {"a long value",
     GOOD "detection: aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg\n",
     "t.yaml:4: detection: \"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff...\" is "
     "no time, expected a number with unit ns, us, ms, s, min, h, d or y",
     NULL},

    {"a failure without rank", GOOD "failures:\n  - at: 1s\n",
     "t.yaml:5: failures.0.rank: missing, expected a whole number", NULL},
    {"a failure without trigger", GOOD "failures:\n  - rank: 1\n",
     "t.yaml:5: failures.0: neither at, after, law nor trace, expected one of them", NULL},
    {"a failure with two triggers",
     GOOD "failures:\n  - rank: 1\n    at: 1s\n    after: {event: captured}\n",
     "t.yaml:7: failures.0.after: beside another of at, after, law and trace, expected one of them",
     NULL},
    {"an unknown law", LAW("law: normal, mtbf: 1h"),
     "t.yaml:5: failures.0.law: \"normal\" is unknown, expected exponential, weibull, lognormal or "
     "gamma",
     NULL},
    {"a law without a mean", LAW("law: exponential"),
     "t.yaml:5: failures.0.mtbf: missing, expected a time", NULL},
    {"a law whose mean is 0", LAW("law: exponential, mtbf: 0"),
     "t.yaml:5: failures.0.mtbf: 0, expected a time above it", NULL},
    {"a law without a shape", LAW("law: weibull, mtbf: 1h"),
     "t.yaml:5: failures.0.shape: missing, expected a number from 0.1 to 100", NULL},
    {"an exponential law with a shape", LAW("law: exponential, mtbf: 1h, shape: 1"),
     "t.yaml:5: failures.0.shape: beside exponential, expected weibull, lognormal or gamma", NULL},
    {"a shape out of range", LAW("law: gamma, mtbf: 1h, shape: 0"),
     "t.yaml:5: failures.0.shape: \"0\", expected a number from 0.1 to 100", NULL},
    {"a shape that is no number", LAW("law: gamma, mtbf: 1h, shape: 1.2.3"),
     "t.yaml:5: failures.0.shape: \"1.2.3\", expected a number from 0.1 to 100", NULL},
    {"a law of a rank", LAW("rank: 1, law: exponential, mtbf: 1h"),
     "t.yaml:5: failures.0.rank: beside law, expected none: nodes fail by law", NULL},
    {"ranks of zones", LAW("law: exponential, mtbf: 1h, of: zone, kills: rank"),
     "t.yaml:5: failures.0.kills: rank of a zone, expected node", NULL},
    {"a burst without a time", LAW("law: exponential, mtbf: 1h, burst: 2"),
     "t.yaml:5: failures.0.burst: without a time, expected within", NULL},
    {"a time without a burst", LAW("law: exponential, mtbf: 1h, within: 2s"),
     "t.yaml:5: failures.0.within: alone, expected burst with it", NULL},
    {"a repair without shape", LAW("law: exponential, mtbf: 1h, repair_law: gamma"),
     "t.yaml:5: failures.0.repair_law: without a shape, expected repair_shape with it", NULL},
    {"a shape of no repair", LAW("law: exponential, mtbf: 1h, repair_shape: 2"),
     "t.yaml:5: failures.0.repair_shape: alone, expected repair_law: weibull, lognormal or gamma",
     NULL},
    {"a drawn beginning of no trace", LAW("law: exponential, mtbf: 1h, begins: drawn"),
     "t.yaml:5: failures.0.begins: without trace, expected it with one", NULL},
    {"a repair law of one failure", LAW("rank: 1, at: 1s, repair_law: exponential"),
     "t.yaml:5: failures.0.repair_law: without law, expected it with one", NULL},
    {"a law and a time", LAW("at: 1s, law: exponential, mtbf: 1h"),
     "t.yaml:5: failures.0.law: beside another of at, after, law and trace, expected one of them",
     NULL},
    {"a mean without a law", LAW("rank: 1, at: 1s, mtbf: 1h"),
     "t.yaml:5: failures.0.mtbf: without law, expected it with one", NULL},
    {"of what, without a law", LAW("rank: 1, at: 1s, of: node"),
     "t.yaml:5: failures.0.of: without law, expected it with one", NULL},
    {"a rank too high", GOOD "failures:\n  - {rank: 2, at: 1s}\n",
     "t.yaml:5: failures.0.rank: 2 is out of range, expected 0 to 1", NULL},
    {"a negative rank", GOOD "failures:\n  - {rank: -1, at: 1s}\n",
     "t.yaml:5: failures.0.rank: -1 is out of range, expected 0 to 1", NULL},
    {"a negative repair", GOOD "failures:\n  - {rank: 1, at: 1s, repair: -1s}\n",
     "t.yaml:5: failures.0.repair: \"-1s\" is negative, expected a time of 0 or more", NULL},
    {"an unknown event", GOOD "failures:\n  - rank: 1\n    after:\n      event: capture\n",
     "t.yaml:7: failures.0.after.event: \"capture\" is no event, expected " EVENTS
     "; did you mean captured?",
     NULL},
    {"no event", GOOD "failures:\n  - rank: 1\n    after: {count: 1}\n",
     "t.yaml:6: failures.0.after.event: missing, expected a text", NULL},
    {"the event none", GOOD "failures:\n  - rank: 1\n    after: {event: none}\n",
     "t.yaml:6: failures.0.after.event: \"none\" is no event, expected " EVENTS, NULL},
    {"a rank of a trigger", GOOD "failures:\n  - rank: 1\n    after: {event: captured, rank: 7}\n",
     "t.yaml:6: failures.0.after.rank: 7 is out of range, expected 0 to 1", NULL},
    {"a negative checkpoint",
     GOOD "failures:\n  - rank: 1\n    after: {event: captured, checkpoint: -1}\n",
     "t.yaml:6: failures.0.after.checkpoint: -1 is out of range, expected 0 to 1000000000", NULL},
    {"the event before the first",
     GOOD "failures:\n  - rank: 1\n    after: {event: captured, count: 0}\n",
     "t.yaml:6: failures.0.after.count: 0 is out of range, expected 1 to 1000000000", NULL},
    {"a negative recovery",
     GOOD "failures:\n  - rank: 1\n    after: {event: captured, recovery: -1}\n",
     "t.yaml:6: failures.0.after.recovery: -1 is out of range, expected 0 to 1000000000", NULL},

    {"a negative seed", GOOD "seed: -1\n",
     "t.yaml:4: seed: \"-1\" is no whole number, expected 0 to 18446744073709551615", NULL},
    {"an unknown verdict", GOOD "expect: {verdict: maybe}\n",
     "t.yaml:4: expect.verdict: \"maybe\" is unknown, expected completed, recovered, gave-up, "
     "lost, stopped, holds, violated, inconclusive or vacuous",
     NULL},
    {"a negative exit code", GOOD "expect: {program_exit: -1}\n",
     "t.yaml:4: expect.program_exit: -1 is out of range, expected 0 to 255", NULL},
    {"an empty id", GOOD "id: ''\n",
     "t.yaml:4: id: \"\" is no name, expected letters, digits, . _ - and ~, at most 100, the first "
     "a letter or digit",
     NULL},
    {"negative checkpoints", GOOD "check: {checkpoints: -1}\n",
     "t.yaml:4: check.checkpoints: -1 is out of range, expected 0 to 1000000000", NULL},
    {"no ranks on a node", GOOD "check: {per_node: 0}\n",
     "t.yaml:4: check.per_node: 0 is out of range, expected 1 to 2", NULL},
    {"negative crashes", GOOD "check: {crashes: -1}\n",
     "t.yaml:4: check.crashes: -1 is out of range, expected 0 to 1000000000", NULL},
    {"places below the matching",
     PROGRAM PLATFORM "protocol: {name: chandy-lamport}\ncheckpoint: {places: program}\n",
     "t.yaml:4: checkpoint.places: program, expected anywhere: chandy-lamport checkpoints at any "
     "moment",
     NULL},
    {"an unknown order", GOOD "check: {order: lifo}\n",
     "t.yaml:4: check.order: \"lifo\" is unknown, expected any, fifo or none; did you mean fifo?",
     NULL},
    {"an unknown hazard", GOOD "check: {hazards: [cut-steps, cake]}\n",
     "t.yaml:4: check.hazards.1: \"cake\" is no hazard, expected cut-steps, whole-writes, "
     "torn-writes, false-detection or control-overtakes",
     NULL},
    {"an unknown bound", GOOD "check: {exceeds: [cake]}\n",
     "t.yaml:4: check.exceeds.0: \"cake\" is no bound, expected deviation, longest or shortest",
     NULL},
    {"bounds the wrong way round", GOOD "clocks: {longest: 1us, shortest: 2us}\n",
     "t.yaml:4: clocks.shortest: longer than the longest latency, expected it shorter", NULL},
    {"an unknown lie", GOOD "check:\n  lies:\n    - drop\n    - cake\n",
     "t.yaml:7: check.lies.1: \"cake\" is no lie, expected drop, duplicate, early-durable, "
     "windows-lost or locks-lost",
     NULL},
    {"negative states", GOOD "check: {max_states: -1}\n",
     "t.yaml:4: check.max_states: \"-1\" is no whole number, expected 0 to 18446744073709551615",
     NULL},

    {"--set without a value", GOOD, "t.yaml:1: --set \"seed\", expected dotted.path=value", "seed"},
    {"--set without a path", GOOD, "t.yaml:1: --set \"=1\", expected dotted.path=value", "=1"},
    {"--set to an unknown key", GOOD,
     "t.yaml:2: unknown key \"platform.hosts\", expected file, nodes, per_node, topology, speed, "
     "cores, memory, network, within_node, storage, local, mtbf, placement, interconnect, spares "
     "or dispatcher "
     "(from --set)",
     "platform.hosts=1"},
    {"--set to a wrong unit", GOOD "failures:\n  - rank: 1\n    at: 1s\n",
     "t.yaml:6: failures.0.at: \"4 parsecs\" is no time, expected a number with unit ns, us, ms, "
     "s, min, h, d or y (from --set)",
     "failures.0.at=4 parsecs"},
    {"--set to a wrong type", GOOD "seed: 1\n",
     "t.yaml:4: seed: a list, expected a whole number (from --set)", "seed=[1]"},
    {"--set to nothing", GOOD "seed: 1\n",
     "t.yaml:4: seed: no value, expected a whole number (from --set)", "seed="},
    {"--set to no YAML", GOOD "seed: 1\n",
     "t.yaml:4: --set \"seed=[1\": not YAML (did not find expected ',' or ']'), expected one value",
     "seed=[1"},
    {"--set below a number", GOOD "seed: 1\n",
     "t.yaml:4: --set \"seed.of=1\": no place for \"of\", expected a path of keys and list indexes",
     "seed.of=1"},
    {"--set with an empty key", GOOD,
     "t.yaml:1: --set \"program..ranks=1\": no place for \"\", expected a path of keys and list "
     "indexes",
     "program..ranks=1"},
    {"--set past the end of a list", GOOD "failures:\n  - {rank: 1, at: 1s}\n",
     "t.yaml:5: --set \"failures.2.rank=1\": no place for \"2\", expected the index of an item, or "
     "the next one",
     "failures.2.rank=1"},
    {"--set to a word in a list", GOOD "failures:\n  - {rank: 1, at: 1s}\n",
     "t.yaml:5: --set \"failures.last.rank=1\": no place for \"last\", expected the index of an "
     "item, or the next one",
     "failures.last.rank=1"},
    {"--set into a list", "- a\n", "t.yaml:1: a list, expected a mapping with " KEYS, "seed=1"},
    {"an incomplete failure by --set", GOOD,
     "t.yaml:1: failures.0: neither at, after, law nor trace, expected one of them (from --set)",
     "failures.0.rank=1"},
};

/* Returns the message without the folder, because messages name files of scenarios by their
 * complete path. */
static const char *within_folder(const char *message)
{
  g_autofree char *here = g_get_current_dir(), *folder = g_strconcat(here, "/", NULL);
  return message + (g_str_has_prefix(message, folder) ? strlen(folder) : 0);
}

static void test_refusals(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
    const struct refusal *refusal = &refusals[i];
    const char *const set[] = {refusal->set, NULL};
    g_autoptr(GError) error = NULL;
    put("t.yaml", refusal->yaml);
    struct scenario *scenario = scenario_load("t.yaml", set, &error);
    is_text(error ? within_folder(error->message) : NULL, refusal->error, refusal->name);
    scenario_free(scenario);
  }
}

/* ---- every key of a failure and of a level ---- */

/* Tells the place of a key in a list: the key is alone on line 5. */
struct place {
  const char *path, *before, *after;
};

/* Tests that `value` for `key` is refused in one line, with its place. */
static void is_refused(const struct place *place, const struct key *key, const char *value)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *yaml =
      g_strconcat(GOOD, place->before, key->name, ": ", value, place->after, NULL);
  g_autofree char *begins = g_strdup_printf("t.yaml:5: %s.%s: ", place->path, key->name);
  g_autofree char *name = g_strdup_printf("%s.%s: %s is refused", place->path, key->name, value);
  put("t.yaml", yaml);
  struct scenario *scenario = scenario_load("t.yaml", NULL, &error);
  const char *message = error ? error->message : "nothing";
  if (!ok(!scenario && g_str_has_prefix(message, begins) && strstr(message, ", expected ") &&
              !strchr(message, '\n'),
          name))
    printf("# %s\n", message);
  scenario_free(scenario);
}

static void refuse_numbers(const struct place *place, const struct key *key)
{
  double most = key->kind == KEY_RANKS ? key->most + 2 /* ranks */ : key->most;
  bool whole = key->kind != KEY_REAL;
  g_autofree char *below = g_strdup_printf("%g", whole ? key->least - 1 : key->least / 2);
  g_autofree char *above = g_strdup_printf("%.0f", most + 1);
  const char *const values[] = {below, above, whole ? "1.5" : "'1,5'", "many", "nan", "0x1"};
  for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
    is_refused(place, key, values[i]);
}

static void refuse_values(const struct place *place, const struct key *key)
{
  static const char *const times[] = {"4 parsecs", "3", "-1s", "1e999s", "soon", "1s 2s"};
  bool list = key->kind == KEY_LIST || key->kind == KEY_MAPPING;
  is_refused(place, key, list ? "some" : "[[]]");
  is_refused(place, key, "''");
  if (key->kind == KEY_WHOLE || key->kind == KEY_RANKS || key->kind == KEY_REAL)
    refuse_numbers(place, key);
  for (size_t i = 0; key->kind == KEY_SECONDS && i < G_N_ELEMENTS(times); i++)
    is_refused(place, key, times[i]);
  if (key->kind == KEY_CHOICE || key->kind == KEY_EVENT)
    is_refused(place, key, "other");
}

static const struct key *key_named(const struct key *keys, const char *name)
{
  while (strcmp(keys->name, name) != 0)
    keys++;
  return keys;
}

static void test_values_of(const struct key *keys, const struct place *place)
{
  for (const struct key *key = keys; key->name; key++)
    refuse_values(place, key);
}

static void test_wrong_values(void)
{
  static const struct place failure = {"failures.0", "failures:\n  - {", "}\n"},
                            after = {"failures.0.after",
                                     "failures:\n  - {after: {event: captured, ", "}}\n"},
                            layout = {"failures.0.restart_on", "failures:\n  - {restart_on: {",
                                      "}}\n"},
                            level = {"checkpoint.levels.0", "checkpoint: {levels:\n  [{", "}]}\n"};
  const struct key *failures = key_named(scenario_keys, "failures")->keys;
  const struct key *checkpoint = key_named(scenario_keys, "checkpoint")->keys;
  test_values_of(failures, &failure);
  test_values_of(key_named(failures, "after")->keys + 1, &after);
  test_values_of(key_named(failures, "restart_on")->keys, &layout);
  test_values_of(key_named(checkpoint, "levels")->keys, &level);
}

/* Returns a right value for a key of a failure. */
static const char *right_value(const struct key *key)
{
  return key->kind == KEY_SECONDS        ? "1s"
         : !strcmp(key->name, "returns") ? "never"
         : key->kind == KEY_CHOICE       ? key->names[0]
         : key->kind == KEY_MAPPING      ? "{}"
         : key->kind == KEY_TEXT         ? "down.csv"
         : key->kind == KEY_RANKS        ? "1"
                                         : "2";
}

static void is_loaded_again(const struct scenario *scenario)
{
  g_autoptr(GError) error = NULL;
  scenario_save(scenario, "again.yaml", NULL);
  struct scenario *again = scenario_load("again.yaml", NULL, &error);
  ok(again, error ? error->message : "what is saved of it loads");
  scenario_free(again);
}

/* Tests the keys that can be beside those which say when a failure strikes. Others are refused
 * there. */
static void test_keys_beside(void)
{
  static const char *const triggers[][2] = {
      {"rank: 0, at: 1s", "ends_after repair returns restart_on"},
      {"rank: 0, after: {event: captured}", "ends_after repair returns restart_on"},
      {"law: weibull, shape: 2, mtbf: 1h", "of repair repair_law returns restart_on"},
      {"law: exponential, mtbf: 1h, burst: 2, within: 1s",
       "of repair repair_law returns restart_on"},
      {"law: exponential, mtbf: 1h, repair_law: gamma, repair_shape: 2",
       "of repair returns restart_on"},
      {"trace: down.csv", "restart_on"}};
  const struct key *failures = key_named(scenario_keys, "failures")->keys;
  put("down.csv", "node,start,end\n0,1,2\n");
  for (size_t i = 0; i < G_N_ELEMENTS(triggers); i++) {
    g_autoptr(GString) taken = g_string_new("");
    for (const struct key *key = failures; key->name; key++) {
      g_autoptr(GError) error = NULL;
      g_autofree char *yaml =
          g_strdup_printf(LAW("%s, %s: %s"), triggers[i][0], key->name,
                          !strcmp(key->name, "after") ? "{event: captured}" : right_value(key));
      put("t.yaml", yaml);
      struct scenario *scenario = scenario_load("t.yaml", NULL, &error);
      if (scenario && strcmp(key->name, "kills") && strcmp(key->name, "begins"))
        g_string_append_printf(taken, "%s%s", taken->len ? " " : "", key->name);
      if (!scenario)
        ok(g_str_has_prefix(error->message, "t.yaml:5: failures.0") &&
               strstr(error->message, ", expected ") && !strchr(error->message, '\n'),
           error->message);
      else
        is_loaded_again(scenario);
      scenario_free(scenario);
    }
    is_text(taken->str, triggers[i][1], triggers[i][0]);
  }
}

static void test_missing_files(void)
{
  g_autoptr(GError) missing = NULL, folder = NULL;
  scenario_load("missing.yaml", NULL, &missing);
  is_text(missing->message, "missing.yaml: No such file or directory, expected a scenario file",
          "a missing file");
  ok(missing->domain == SCENARIO_ERROR, "the domain of errors");
  scenario_load("platforms", NULL, &folder);
  is_text(folder->message, "platforms: Is a directory, expected a scenario file", "a folder");
}

/* Tests the message about unknown protocols. The expected list comes from the registry, because it
 * depends on the registered protocols. */
static void test_unknown_protocols(void)
{
  static const char *const names[] = {"c4", "c3~sloppy", "C3", ""};
  static const char *const meant[] = {"; did you mean c3?", "", "; did you mean c3?", ""};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autoptr(GError) error = NULL;
    g_autofree char *yaml = g_strdup_printf(PROGRAM PLATFORM "protocol:\n  name: '%s'\n", names[i]);
    GString *expected = g_string_new(NULL);
    g_string_printf(expected, "t.yaml:4: protocol.name: \"%s\" is no protocol, expected ",
                    names[i]);
    g_autoptr(GPtrArray) listed = g_ptr_array_new(); /* protocols without mutants */
    for (size_t p = 0; rcl_protocol_at(p); p++)
      if (!strchr(rcl_protocol_at(p)->name, '~'))
        g_ptr_array_add(listed, (char *)rcl_protocol_at(p)->name);
    for (unsigned p = 0; p < listed->len; p++)
      g_string_append_printf(expected, "%s%s",
                             !p                    ? ""
                             : p + 1 < listed->len ? ", "
                                                   : " or ",
                             (const char *)listed->pdata[p]);
    g_string_append(expected, meant[i]);
    put("t.yaml", yaml);
    scenario_load("t.yaml", NULL, &error);
    g_autofree char *name = g_strdup_printf("protocol \"%s\"", names[i]);
    is_text(error ? error->message : NULL, expected->str, name);
    g_string_free(expected, TRUE);
  }
}

static void test_broken_platform(void)
{
  g_autoptr(GError) error = NULL;
  put("t.yaml", PROGRAM "platform: {file: broken.xml}\n" PROTOCOL);
  scenario_load("t.yaml", NULL, &error);
  ok(g_str_has_prefix(error->message, "t.yaml:2: platform.file: broken.xml (Error on line 3") &&
         g_str_has_suffix(error->message, "), expected a SimGrid platform file") &&
         !strchr(error->message, '\n'),
     "a platform of broken XML");
  printf("# %s\n", error->message);
}

/* ---- what is accepted ---- */

static struct scenario *load(const char *yaml, const char *const *set, const char *name)
{
  g_autoptr(GError) error = NULL;
  put("t.yaml", yaml);
  struct scenario *scenario = scenario_load("t.yaml", set, &error);
  is_text(error ? error->message : NULL, NULL, name);
  if (!scenario) {
    printf("Bail out! the rest needs this scenario\n");
    exit(1);
  }
  return scenario;
}

static void test_defaults(void)
{
  struct scenario *scenario = load(GOOD, NULL, "a minimal scenario loads");
  is_text(scenario->id, "t", "the id is the name of the file");
  is_text(scenario->file, "t.yaml", "the file as given");
  is_text(scenario->directory, ".", "the folder of the file");
  is_text(scenario->program.binary, "cg", "a bare name of a binary stays");
  is_text(scenario->program.args[0], "S", "args");
  ok(!scenario->program.args[1], "the end of args");
  ok(!scenario->program.script, "no script");
  ok(!scenario->program.topology, "all ranks are neighbours");
  ok(g_path_is_absolute(scenario->platform.file), "the platform's path is absolute");
  ok(!scenario->platform.dispatcher, "no dispatcher named");
  g_autofree char *nodes = g_strjoinv(" ", scenario->platform.layout.nodes);
  is_text(nodes, "node-0.lan node-1.lan node-2.lan node-7.lan extra", "hosts that carry ranks");
  is_number(scenario->protocol.capacity, 65536, "default capacity");
  is_number(scenario->checkpoint.every, 0, "no checkpoints");
  ok(scenario->checkpoint.storage == STORAGE_NFS, "default storage");
  ok(scenario->checkpoint.writes == WRITES_BACKGROUND, "default writes");
  ok(scenario->checkpoint.places == PLACES_ANYWHERE, "default places");
  is_number(scenario->checkpoint.bytes, 0, "size as measured");
  is_number(scenario->failures_count, 0, "no failures");
  is_number(scenario->detection, 0.1, "default detection");
  ok(scenario->recovery.runtime == RUNTIME_NONE, "no runtime");
  is_number((double)scenario->seed, 1, "default seed");
  ok(scenario->expect.verdict == EXPECT_NOTHING, "nothing expected");
  is_number(scenario->expect.program_exit, -1, "no exit code expected");
  is_number(scenario->check.checkpoints, 1, "default checkpoints to explore");
  is_number(scenario->check.crashes, 1, "default crashes to explore");
  is_number(scenario->check.per_node, 1, "ranks crash one by one");
  ok(scenario->check.order == ORDER_ANY, "default order");
  ok(!scenario->check.properties, "all properties");
  ok(!scenario->check.lies, "an honest host");
  ok(!scenario->check.max_states, "no bound on states");
  is_number(scenario_line(scenario, "protocol.name"), 3, "the line of a key");
  is_number(scenario_line(scenario, "platform.spares"), 2, "the line of a key that is not there");
  g_autoptr(GError) error = NULL;
  scenario_complain(scenario, "protocol.name", &error, "%s is slow, expected %d", "c3", 7);
  is_text(error->message, "t.yaml:3: protocol.name: c3 is slow, expected 7", "a host's complaint");
  scenario_free(scenario);
}

static const char full[] =
    "id: full-1.1\n"
    "statement: \"it: recovers # always\"\n"
    "source: a paper, section 2\n"
    "program:\n"
    "  ranks: 3\n"
    "  topology: line 0-2\n"
    "  script: |\n"
    "    rank 0: send 1\n"
    "\n"
    "    rank 1: recv any # a comment: with a colon\n"
    "platform: {file: shared.xml, placement: one-per-node, spares: 1, dispatcher: service-nfs}\n"
    "protocol: {name: c3~no-suppress, capacity: 7}\n"
    "checkpoint: {every: 1.5ms, storage: local, writes: foreground, places: program, "
    "bytes: 64KiB}\n"
    "failures:\n"
    "  - {rank: 2, kills: rank, at: 4.1s, repair: 2min}\n"
    "  - {rank: 1, after: {event: durable, rank: 0, checkpoint: 2, iteration: 4, count: 3, "
    "recovery: 1}}\n"
    "  - {rank: 1, after: {event: captured}, repair: 0}\n"
    "detection: 250us\n"
    "recovery: {runtime: ulfm, revoke: 2us, agree: 3us, spawn: 4ms, rebuild: 0.5s}\n"
    "seed: 18446744073709551615\n"
    "clocks: {deviation: 20us, longest: 3ms, shortest: 1us, skew: 0}\n"
    "expect: {verdict: gave-up, program_exit: 3}\n"
    "check: {checkpoints: 2, crashes: 0, order: fifo, properties: [a, b], reach: [late, "
    "commits 2], lies: [drop, early-durable], exceeds: [longest], "
    "hazards: [torn-writes, false-detection], max_states: 5000000000}\n";

static void check_full(const struct scenario *scenario, const char *when)
{
  printf("# %s\n", when);
  is_text(scenario->id, "full-1.1", "id");
  is_text(scenario->statement, "it: recovers # always", "statement");
  is_text(scenario->source, "a paper, section 2", "source");
  is_text(scenario->program.script,
          "rank 0: send 1\n\nrank 1: recv any # a comment: with a colon\n", "script");
  is_number(scenario->program.ranks, 3, "ranks");
  is_text(scenario->program.topology, "line 0-2", "topology");
  ok(g_str_has_suffix(scenario->platform.file, "/platforms/shared.xml"), "platform");
  is_number(scenario->platform.spares, 1, "spares");
  is_text(scenario->platform.dispatcher, "service-nfs", "dispatcher");
  is_text(scenario->protocol.name, "c3~no-suppress", "a registered mutant");
  is_number(scenario->protocol.capacity, 7, "capacity");
  is_number(scenario->checkpoint.every, 0.0015, "every");
  ok(scenario->checkpoint.storage == STORAGE_LOCAL, "storage");
  ok(scenario->checkpoint.writes == WRITES_FOREGROUND, "writes");
  ok(scenario->checkpoint.places == PLACES_PROGRAM, "places");
  is_number(scenario->checkpoint.bytes, 65536, "bytes");
  is_number(scenario->failures_count, 3, "failures");
  const struct failure *failures = scenario->failures;
  ok(failures[0].trigger == TRIGGER_TIME && failures[0].rank == 2, "a failure by time");
  is_number(failures[0].at, 4.1, "its time");
  is_number(failures[0].repair, 120, "its repair");
  ok(failures[1].trigger == TRIGGER_POINT && failures[1].rank == 1, "a failure by point");
  ok(failures[1].after.event == RCL_EVENT_DURABLE && failures[1].after.rank == 0, "its event");
  ok(failures[1].after.checkpoint == 2 && failures[1].after.count == 3 &&
         failures[1].after.recovery == 1,
     "its numbers");
  is_number(failures[1].after.iteration, 4, "its iteration");
  ok(failures[0].kills == KILLS_RANK && failures[1].kills == KILLS_NODE, "what they kill");
  is_number(failures[1].repair, 1, "the default repair");
  ok(failures[2].after.rank == 1 && failures[2].after.count == 1 &&
         failures[2].after.checkpoint == 0 && failures[2].after.recovery == 0,
     "the defaults of a point");
  is_number(failures[2].repair, 0, "0 needs no unit");
  is_number(scenario->detection, 0.00025, "detection");
  ok(scenario->recovery.runtime == RUNTIME_ULFM, "the runtime");
  is_number(scenario->recovery.revoke, 2e-6, "what it takes to revoke");
  is_number(scenario->recovery.agree, 3e-6, "to agree");
  is_number(scenario->recovery.spawn, 0.004, "to spawn");
  is_number(scenario->recovery.rebuild, 0.5, "and to rebuild");
  ok(scenario->seed == G_MAXUINT64, "seed");
  ok(scenario->expect.verdict == EXPECT_GAVE_UP, "verdict");
  is_number(scenario->expect.program_exit, 3, "program_exit");
  is_number(scenario->check.checkpoints, 2, "checkpoints to explore");
  is_number(scenario->check.crashes, 0, "crashes to explore");
  ok(scenario->check.order == ORDER_FIFO, "order");
  g_autofree char *properties = g_strjoinv(" ", scenario->check.properties);
  is_text(properties, "a b", "properties");
  g_autofree char *reach = g_strjoinv("/", scenario->check.reach);
  is_text(reach, "late/commits 2", "reach");
  ok(scenario->check.lies == (1u << LIE_DROP | 1u << LIE_EARLY_DURABLE), "lies");
  is_number(scenario->check.hazards, 12, "hazards");
  ok(scenario->check.exceeds == 1u << RCL_BOUND_LONGEST, "exceeds");
  is_number(scenario->clocks.bound[RCL_BOUND_DEVIATION], 2e-5, "deviation");
  is_number(scenario->clocks.bound[RCL_BOUND_LONGEST], 3e-3, "longest");
  is_number(scenario->clocks.bound[RCL_BOUND_SHORTEST], 1e-6, "shortest");
  is_number(scenario->clocks.skew, 0, "skew");
  ok(scenario->check.max_states == 5000000000u, "max_states");
}

static char *contents(const char *file)
{
  char *text = NULL;
  g_file_get_contents(file, &text, NULL, NULL);
  return text;
}

/* Saves `scenario` and loads it back, from another folder and under another name. */
static struct scenario *round_trip(const struct scenario *scenario)
{
  g_autoptr(GError) error = NULL;
  g_mkdir("out", 0700);
  ok(scenario_save(scenario, "out/scenario.yaml", &error), "it is saved");
  struct scenario *again = scenario_load("out/scenario.yaml", NULL, &error);
  is_text(error ? error->message : NULL, NULL, "what was saved loads");
  g_autofree char *first = contents("out/scenario.yaml");
  ok(again && scenario_save(again, "out/again.yaml", NULL), "it is saved again");
  g_autofree char *second = contents("out/again.yaml");
  is_text(second, first, "with the same bytes");
  return again;
}

static void test_full(void)
{
  struct scenario *scenario = load(full, NULL, "a scenario with every key loads");
  check_full(scenario, "as loaded");
  is_number(scenario->program.script_line, 8, "the line of the script");
  struct scenario *again = round_trip(scenario);
  if (again)
    check_full(again, "as saved and loaded");
  g_autofree char *text = contents("out/scenario.yaml");
  ok(strstr(text, "file: shared.xml\n") != NULL, "a platform of a data folder is saved by name");
  scenario_free(again);
  scenario_free(scenario);
}

static void test_minimal_round_trip(void)
{
  struct scenario *scenario = load(GOOD, NULL, "a minimal scenario");
  struct scenario *again = round_trip(scenario);
  is_text(again->id, "t", "the id stays under another name");
  is_text(again->platform.file, scenario->platform.file, "the platform stays in another folder");
  ok(!again->platform.dispatcher && again->expect.verdict == EXPECT_NOTHING &&
         again->expect.program_exit == -1 && !again->check.properties,
     "what was not stated stays so");
  scenario_free(again);
  scenario_free(scenario);
}

static void test_layouts(void)
{
  struct scenario *first =
      load("program: {binary: cg, ranks: 4}\n"
           "platform: {file: both.xml, interconnect: fast, per_node: 2}\n" PROTOCOL
           "failures:\n  - {rank: 0, at: 1s, restart_on: {per_node: 4}}\n",
           NULL, "layouts load");
  struct scenario *scenario = round_trip(first);
  const struct layout *start = &scenario->platform.layout;
  const struct layout *later = scenario->failures[0].restart_on;
  is_text(layout_host(start, 1), "b-0", "two ranks on a node of the named interconnect");
  is_text(layout_host(start, 2), "b-1", "and two on the next");
  is_number(layout_nodes(start, 4), 2, "nodes that they take");
  is_text(layout_host(later, 3), "a-0", "all go on over the first interconnect");
  scenario_free(first);
  scenario_free(scenario);
}

#define MACHINE_LAW "failures: [{law: exponential}, {law: exponential, of: platform}]\n"

/* Tests a machine that a file describes, if the scenario changes some of its values. */
static void test_machines(void)
{
  put("machine.yaml", "nodes: 6\nper_node: 2\nspeed: 2Gf\nmtbf: 5y\n"
                      "network: {latency: 1.5us, eager: 0}\n");
  struct scenario *first = load(
      "program: {binary: cg, ranks: 4}\n"
      "platform: {file: machine, spares: 1, speed: 3Gf, network: {bandwidth: 1.25GBps}}\n" PROTOCOL
          MACHINE_LAW,
      NULL, "a machine of a file loads");
  struct scenario *scenario = round_trip(first);
  const struct machine *machine = &scenario->platform.machine;
  is_number(machine->speed, 3e9, "what the scenario states");
  is_number(machine->network.latency, 1.5e-6, "what the file states");
  is_number(machine->network.bandwidth, 1.25e9, "of one mapping, too");
  is_number(machine->network.eager, 0, "a stated 0 is no default");
  is_number(machine->within_node.bandwidth, machine->memory / 2, "what follows from a default");
  is_number(scenario->platform.layout.per_node, 2, "ranks on a node");
  is_number(machine->cores, 2, "a core for each");
  is_number(g_strv_length(scenario->platform.layout.nodes), 6, "its nodes, without the service");
  is_number(scenario->failures[0].mtbf, 5 * 365 * 86400.0, "a node's mean time between failures");
  is_number(scenario->failures[1].mtbf, 5 * 365 * 86400.0 / 3, "and that of the nodes in use");
  is_text(scenario->platform.text, first->platform.text, "the same platform again");
  g_autofree char *name = scenario_platform_name(scenario);
  is_text(name, "machine.yaml", "its name in results");
  scenario_free(first);
  scenario_free(scenario);
}

/* Tests that every topology, with any number of nodes, is a platform with as many hosts, and no
 * host twice. */
static void test_topologies(void)
{
  static const int nodes[] = {1, 2, 7, 31, 32, 33, 72, 73, 500};
  bool good = true, groups = true;
  for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++)
    for (int wiring = TOPOLOGY_FLAT; wiring <= TOPOLOGY_DRAGONFLY; wiring++) {
      static const char *const names[] = {"", "flat", "fat-tree", "dragonfly"};
      struct machine machine = {0};
      int per_node = 1;
      g_autofree char *yaml = g_strdup_printf("nodes: %d\ntopology: %s\n", nodes[i], names[wiring]);
      put("machine.yaml", yaml);
      bool read = machine_read("machine.yaml", &machine, &per_node, NULL);
      good = good && read;
      machine_complete(&machine, per_node);
      g_autofree char *xml = machine_xml(&machine);
      g_auto(GStrv) hosts = platform_hosts(xml, NULL, NULL);
      g_auto(GStrv) zones = hosts ? platform_zones(xml, NULL, hosts) : NULL;
      good = good && hosts && g_strv_length(hosts) == (unsigned)nodes[i] + 1;
      groups = groups && zones && (wiring == TOPOLOGY_FLAT || g_strcmp0(zones[1], "group-0") == 0);
      if (wiring == TOPOLOGY_DRAGONFLY && nodes[i] == 72)
        is_number(machine.network.group, 8, "72 nodes are a dragonfly of 9 groups of 8");
      if (wiring == TOPOLOGY_DRAGONFLY && nodes[i] == 73)
        is_number(machine.network.group, 18, "one more is not");
    }
  ok(good, "machines of every topology have their hosts");
  ok(groups, "whose groups are zones");
}

static void test_scripts(void)
{
  struct scenario *scenario = load("program: {ranks: 2, script: 'rank *: send 0'}\n" PROTOCOL, NULL,
                                   "a script needs no platform");
  is_number(scenario->program.script_line, 1, "the line of a quoted script");
  ok(!scenario->platform.file && !scenario->platform.layout.nodes, "no platform");
  scenario_free(round_trip(scenario));
  scenario_free(scenario);
}

static void refuses_parameter(const char *assignment, const char *error)
{
  const char *const set[] = {assignment, NULL};
  g_autoptr(GError) problem = NULL;
  g_autoptr(GArray) given = parameters_read(set, &problem);
  is_text(given ? NULL : problem->message, error, assignment);
}

/* Tests values that are given to parameters without a scenario. */
static void test_parameters(void)
{
  static const struct {
    const char *name;
    uint32_t value;
    const char *text;
  } expected[] = {{"initiators", 3, "protocol.initiators=3"},
                  {"exchange", 2, "protocol.exchange=in-turn"},
                  {"iterations", 1, "checkpoint.places=program"}};
  const char *const set[] = {"protocol.exchange=twice", "checkpoint.places=program",
                             "protocol.exchange='in-turn' # again", "protocol.initiators=3", NULL};
  g_autoptr(GArray) given = parameters_read(set, NULL);
  is_number(given ? given->len : 0, G_N_ELEMENTS(expected), "each parameter once");
  for (guint i = 0; given && i < given->len && i < G_N_ELEMENTS(expected); i++) {
    const struct parameter *one = &g_array_index(given, struct parameter, i);
    is_text(one->name, expected[i].name, "its name");
    is_number(one->value, expected[i].value, "the last value that it was given");
    is_text(one->text, expected[i].text, "both in a scenario's words");
  }
  refuses_parameter("protocol.name=c3",
                    "unknown key \"protocol.name\", expected interval, log, log_in, failures, "
                    "crossings, initiators or exchange (from --set)");
  refuses_parameter("seed=1", "unknown key \"seed\", expected protocol or checkpoint (from --set)");
  refuses_parameter("protocol=c3", "protocol: \"c3\", expected a mapping with interval, log, "
                                   "log_in, failures, crossings, initiators or exchange "
                                   "(from --set)");
  refuses_parameter("protocol.initiators=0", "protocol.initiators: 0 is out of range, expected 1 "
                                             "to 32767 (from --set)");
  refuses_parameter("protocol.exchange=thrice",
                    "protocol.exchange: \"thrice\" is unknown, expected twice, once, in-turn or "
                    "gathered; did you mean twice? (from --set)");
  refuses_parameter("exchange", "--set \"exchange\", expected dotted.path=value");
}

static void test_save_errors(void)
{
  g_autoptr(GError) error = NULL;
  struct scenario *scenario = load(GOOD, NULL, "a scenario to save");
  ok(!scenario_save(scenario, "missing/scenario.yaml", &error) && error, "no folder to save in");
  scenario_free(scenario);
}

static void test_binary_path(void)
{
  put("prog", "");
  struct scenario *scenario =
      load("program: {binary: ./prog, ranks: 2}\n" PLATFORM PROTOCOL, NULL, "a path of a binary");
  ok(g_path_is_absolute(scenario->program.binary) &&
         g_str_has_suffix(scenario->program.binary, "/prog"),
     "is taken from the scenario's folder");
  scenario_free(scenario);
}

static void test_set(void)
{
  static const char *const set[] = {"failures.0.at=4.1s",
                                    "failures.1={rank: 0, at: 2s}",
                                    "failures.2.rank=1",
                                    "failures.2.after.event=committed",
                                    "protocol.name=bookmark",
                                    "check.crashes=2",
                                    "check.properties=[a, b=c]",
                                    "checkpoint.storage=local",
                                    "seed=1",
                                    "seed=7",
                                    "program.args.0=W",
                                    NULL};
  struct scenario *scenario =
      load(GOOD "failures:\n  - {rank: 1, at: 1s, repair: 3s}\n", set, "--set, many times");
  is_number(scenario->failures[0].at, 4.1, "a value in a list");
  is_number(scenario->failures[0].repair, 3, "its neighbour stays");
  is_number(scenario->failures_count, 3, "items are appended");
  is_number(scenario->failures[1].at, 2, "an item as a whole");
  ok(scenario->failures[2].after.event == RCL_EVENT_COMMITTED, "an item key by key");
  is_text(scenario->protocol.name, "bookmark", "another protocol");
  is_number(scenario->check.crashes, 2, "a mapping that was not there");
  is_text(scenario->check.properties[1], "b=c", "an equals sign in a value");
  ok(scenario->checkpoint.storage == STORAGE_LOCAL, "a choice");
  is_number((double)scenario->seed, 7, "the last one counts");
  is_text(scenario->program.args[0], "W", "an argument");
  scenario_free(scenario);
}

static void test_no_failures(void)
{
  static const char *const none[] = {"failures=none", NULL};
  static const char *const empty[] = {"failures=[]", NULL};
  static const char *const other[] = {"failures=none", "failures.0={rank: 0, at: 1s}", NULL};
  struct scenario *scenario =
      load(GOOD "failures:\n  - {rank: 1, at: 1s}\n", none, "--set failures=none");
  is_number(scenario->failures_count, 0, "takes them away");
  scenario_free(scenario);
  scenario = load(GOOD "failures:\n  - {rank: 1, at: 1s}\n", empty, "--set failures=[]");
  is_number(scenario->failures_count, 0, "takes them away too");
  scenario_free(round_trip(scenario));
  scenario_free(scenario);
  scenario = load(GOOD "failures: none\n", NULL, "failures: none");
  is_number(scenario->failures_count, 0, "is an empty list");
  scenario_free(scenario);
  scenario = load(GOOD "failures:\n  - {rank: 1, at: 9s}\n", other, "none, then one");
  is_number(scenario->failures[0].at, 1, "leaves the one");
  scenario_free(scenario);
}

static void test_aliases(void)
{
  static const char *const set[] = {"failures.0.at=5s", NULL};
  struct scenario *scenario =
      load(GOOD "failures:\n  - &f {rank: 1, at: 1s}\n  - *f\n", set, "an alias is a copy");
  is_number(scenario->failures[0].at, 5, "what is set is set");
  is_number(scenario->failures[1].at, 1, "and the copy stays");
  scenario_free(scenario);
}

static void test_units(void)
{
  static const struct {
    const char *text;
    double value;
  } times[] = {{"100ms", 0.1}, {"3us", 0.000003}, {"1.5s", 1.5},    {"2min", 120},   {"6h", 21600},
               {"0", 0},       {".5s", .5},       {"1e3s", 1e3},    {"1e-3s", 1e-3}, {"4 s", 4},
               {"7ns", 7e-9},  {"64d", 5529600},  {"5y", 157680000}},
    sizes[] = {{"64KiB", 65536},     {"1MB", 1e6},           {"1000", 1000}, {"2B", 2},
               {"0.5kB", 500},       {"3GB", 3e9},           {"1TB", 1e12},  {"1MiB", 1048576},
               {"1GiB", 1073741824}, {"2TiB", 2199023255552}};
  double value = 0;
  for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
    value = -1;
    scenario_seconds(times[i].text, &value, NULL);
    is_number(value, times[i].value, times[i].text);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
    value = -1;
    scenario_bytes(sizes[i].text, &value, NULL);
    is_number(value, sizes[i].value, sizes[i].text);
  }
  static const char *const bad[] = {"1", "1.2.3s", "--1s", "1e",   "1es", "s",
                                    "",  "1 ",     "nans", "infs", "1w"};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *name = g_strdup_printf("\"%s\" is no time", bad[i]);
    ok(!scenario_seconds(bad[i], &value, NULL), name);
  }
}

static void test_platform(void)
{
  g_autofree char *path = platform_find("shared.xml", "."), *own = platform_find("mini.xml", ".");
  is_text(platform_name(path), "shared.xml", "the name of a shared platform");
  is_text(platform_name(own), own, "of one that is elsewhere");
  put("shared.xml", mini);
  g_autofree char *nearer = platform_find("shared.xml", ".");
  ok(g_strcmp0(nearer, path) != 0, "the scenario's folder comes first");
  g_remove("shared.xml");
  ok(!platform_find("none.xml", "."), "a platform that is nowhere");
}

static void test_headline(void)
{
  g_autofree char *id = NULL, *statement = NULL, *other = NULL, *none = NULL, *bad = NULL;
  g_autoptr(GError) error = NULL;
  put("mutant.yaml", "id: c3~x\nstatement: it fails\npatch: {a: b}\n");
  ok(scenario_headline("mutant.yaml", &id, &statement, NULL), "the head of any file");
  is_text(id, "c3~x", "its id");
  is_text(statement, "it fails", "its statement");
  put("mutant.yaml", "- a\n");
  ok(scenario_headline("mutant.yaml", &other, &none, NULL), "of one without a head too");
  is_text(other, "mutant", "named by its file");
  is_text(none, NULL, "and no statement");
  put("mutant.yaml", "a: 1\nid: [\n");
  ok(!scenario_headline("mutant.yaml", &bad, &bad, &error) &&
         g_str_has_prefix(error->message, "mutant.yaml:3: not YAML"),
     "but not of a broken one");
}

static void clean(const char *folder)
{
  GDir *dir = g_dir_open(folder, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
      clean(path);
    else
      g_remove(path);
  }
  if (dir)
    g_dir_close(dir);
  g_rmdir(folder);
}

int main(void)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  g_autofree char *folder = g_dir_make_tmp("recline-scenario-XXXXXX", NULL);
  if (!folder || g_chdir(folder)) {
    printf("Bail out! no temporary folder\n");
    return 1;
  }
  make_world();
  test_refusals();
  test_wrong_values();
  test_keys_beside();
  test_missing_files();
  test_unknown_protocols();
  test_broken_platform();
  test_defaults();
  test_full();
  test_minimal_round_trip();
  test_layouts();
  test_machines();
  test_topologies();
  test_scripts();
  test_parameters();
  test_save_errors();
  test_binary_path();
  test_set();
  test_no_failures();
  test_aliases();
  test_units();
  test_platform();
  test_headline();
  printf("1..%d\n", tests);
  if (g_chdir("/") == 0)
    clean(folder);
  return failed != 0;
}
