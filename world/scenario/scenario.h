/* Reads and writes scenarios and claims, in one YAML format for the SMPI host and the explorer.
 *
 * `recline run` needs program, platform and protocol; `recline check` needs a program that is a
 * script, a protocol and the bounds under `check`. A claim is a scenario with an id and a
 * statement. Every key, unit and default is documented in docs/scenario.md.
 *
 * All times are in seconds, all sizes in bytes once loaded. Strings and arrays belong to the
 * scenario and live until scenario_free().
 */
#ifndef RECLINE_SCENARIO_H
#define RECLINE_SCENARIO_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "world/scenario/machine_amounts.h"

#include "protocols/protocol.h"
#include "world/scenario/failure_trace.h"

/* Says when a failure strikes. */
enum trigger {
  TRIGGER_TIME,  /* at: seconds of simulated time */
  TRIGGER_POINT, /* after: the count-th event of a kind at a rank (and checkpoint) */
  TRIGGER_LAW,   /* law: any number of times, after times drawn from a distribution */
  TRIGGER_TRACE, /* trace: at the times in a file */
};

/* Lists distributions of the time from the repair of a node to its next failure. */
enum law { LAW_NONE, LAW_EXPONENTIAL, LAW_WEIBULL, LAW_LOGNORMAL, LAW_GAMMA };

/* Says of which failures `mtbf` is the mean time between two: failures of each node, of all nodes
 * together, or of each zone of the platform, whose nodes fail at once. */
enum failure_scope { OF_NOTHING, OF_NODE, OF_PLATFORM, OF_ZONE };

/* Says where in a trace a run begins: at its beginning, or at a time drawn by the seed. */
enum begins { BEGINS_FIRST, BEGINS_DRAWN };

/* Lays ranks out on nodes: rank r is on host nodes[r / per_node]. */
struct layout {
  /* the interconnect's name in the platform, or NULL for the platform's first one, if it has any */
  char *interconnect;
  int per_node; /* number of ranks that share a node, at least 1 */
  char **zones; /* the zone of each node of platform.layout if some failure is by zone, else NULL */
  /* hosts that can carry ranks, in the order of the file: ranks start on the first ones, the
   * next `spares` are free, the rest is idle. The list ends with NULL, and is NULL without a
   * platform */
  char **nodes;
};

enum placement { PLACEMENT_ONE_PER_NODE, PLACEMENT_BLOCK };

/* Says what a failure kills: the victim's node with all its ranks, the victim alone, or the file
 * server and the event logger. */
enum kills { KILLS_NODE, KILLS_RANK, KILLS_SERVER };

/* Says what happens to the node when it is repaired. */
enum returns { RETURNS_REPAIRED, RETURNS_NEVER, RETURNS_EMPTY };

struct failure {
  enum trigger trigger;
  int rank; /* the victim, or -1 if the law chooses it */
  enum kills kills;
  enum returns returns; /* KILLS_NODE: what happens to the node when it is repaired */
  double at;            /* TRIGGER_TIME: time in seconds; otherwise -1 */
  struct {
    /* the rank at whose event the failure strikes, which is the victim unless the file names
     * another rank */
    int rank;
    enum rcl_event_kind event;
    uint32_t checkpoint; /* checkpoint of the event, or 0 for any */
    uint32_t iteration;  /* iteration of the rank's program, or 0 for any */
    uint32_t count;      /* how many such events it takes; 1 for the first event */
    /* Events count only from the start of the recovery with this number on. With 0 they count from
     * the beginning. */
    uint32_t recovery;
    /* number of actions, of those that others see, after which the victim crashes within its
     * step; -1 if it crashes after the step, before the work of its actions begins */
    int actions;
  } after; /* TRIGGER_POINT */
  /* the victim is declared dead while it lives, and its process ends this number of seconds later;
   * -1 if it crashes instead */
  double ends_after;
  enum law law; /* TRIGGER_LAW: the law; LAW_NONE otherwise */
  /* TRIGGER_LAW: the failures of which `mtbf` is the mean time between two */
  enum failure_scope of;
  /* TRIGGER_LAW: mean time between failures in seconds; the shape of a Weibull or gamma law, or
   * sigma of a lognormal law, or -1 for an exponential law */
  double mtbf, shape;
  /* TRIGGER_LAW: number of nodes that fail shortly after each other, or 1 if each fails alone */
  int burst;
  double within;          /* seconds within which the nodes of a burst fail */
  char *trace;            /* TRIGGER_TRACE: absolute path of the trace; NULL otherwise */
  enum begins begins;     /* TRIGGER_TRACE: where in the trace a run begins */
  struct outage *outages; /* the outages of the trace, sorted by start */
  unsigned outages_count;
  /* seconds from detection until the node can be used again, or the mean of that time; -1 if the
   * trace tells it */
  double repair;
  /* TRIGGER_LAW: the law of `repair`, or LAW_NONE if all repairs take equally long */
  enum law repair_law;
  double repair_shape; /* the same as `shape`, for `repair_law` */
  /* Interconnect on which all ranks go on after the failure, or NULL for the same one. */
  struct layout *restart_on;
};

/* Names the fault-tolerant MPI runtime that runs model (sim/host/failures/ulfm.h). */
enum runtime { RUNTIME_NONE, RUNTIME_ULFM };

/* Says where images are: in the memory of the rank's node, on the node's first disk, or on the
 * first disk of the service host. */
enum storage { STORAGE_UNSTATED, STORAGE_MEMORY, STORAGE_LOCAL, STORAGE_NFS };

/* Says how data on nodes survive the loss of nodes: not at all; by a copy on the next node of the
 * set; by the parity of a set, which may lose one node; or by a code with which a set may lose
 * `losses` nodes.
 */
enum redundancy { REDUNDANCY_NONE, REDUNDANCY_PARTNER, REDUNDANCY_XOR, REDUNDANCY_REED_SOLOMON };

/* Describes a level of storage. Checkpoint k goes to the last level whose `every` divides k. */
struct level {
  enum storage storage;
  enum redundancy redundancy;
  int every;
  int group;  /* number of successive nodes in a set; 1 without redundancy */
  int losses; /* number of nodes in a set that may be lost and rebuilt */
};
enum { LEVELS_MAX = 8 };

/* Says what happens when a program asks for a checkpoint. */
enum calls { CALLS_IGNORED, CALLS_TAKEN };

/* Says what a run does when its last checkpoint is committed. With AFTERWARDS_STOP it leaves the
 * checkpoint for another run. */
enum afterwards { AFTERWARDS_CONTINUE, AFTERWARDS_STOP };

/* Says whether the program of a rank continues or waits while its checkpoint is written. */
enum writes { WRITES_BACKGROUND, WRITES_FOREGROUND };
/* Says where hybrid keeps its log of payloads: in memory only, or also in each checkpoint. */
enum log_place { LOG_IN_MEMORY, LOG_IN_STORAGE };
/* Says how bookmark's ranks learn that channels are empty (protocols/bookmark.c). The protocol's
 * parameter `exchange` has the same values. */
enum exchanges { EXCHANGE_TWICE, EXCHANGE_ONCE, EXCHANGE_IN_TURN, EXCHANGE_GATHERED };
/* Says how a protocol's words travel with a collective: in a collective of their own ahead of the
 * data, with the data, or in one of these two ways, depending on the size of the data. */
enum control { CONTROL_SEPARATE, CONTROL_COMBINED, CONTROL_AUTO };

/* Says what happens to connections at captures and restarts. */
enum closes { CONNECTIONS_STAY, CONNECTIONS_CLOSE };
/* Gives the order of delivery on a channel: MPI's order, the order of sending, or no order, not
 * even MPI's. */
enum order { ORDER_ANY, ORDER_FIFO, ORDER_NONE };

/* Says when outputs leave: when the protocol allows it, or at once. */
enum outputs { OUTPUT_HELD, OUTPUT_PASSES };
enum lie { LIE_DROP, LIE_DUPLICATE, LIE_EARLY_DURABLE, LIE_WINDOWS_LOST, LIE_LOCKS_LOST };

enum places { PLACES_ANYWHERE, PLACES_PROGRAM };
/* Says what an image has: all memory, or the data that the program protects. */
enum image_level { IMAGE_SYSTEM, IMAGE_APPLICATION };

enum expected_verdict {
  EXPECT_NOTHING,
  /* of run: */ EXPECT_COMPLETED,
  EXPECT_RECOVERED,
  EXPECT_GAVE_UP,
  EXPECT_LOST,
  EXPECT_STOPPED,
  /* of check: */ EXPECT_HOLDS,
  EXPECT_VIOLATED,
  EXPECT_INCONCLUSIVE,
  EXPECT_VACUOUS
};

struct scenario {
  char *file;      /* name of the file, as the command line has it */
  char *directory; /* the folder of the file, to which names are relative */
  char *id;        /* for claims: "c3-1.1"; otherwise the file's name without folder and suffix */
  char *statement; /* for claims: what the claim states; NULL otherwise */
  char *source;    /* for claims: paper and section; NULL otherwise */

  struct {
    char *binary; /* absolute path or bare name of a program built by recline-cc; NULL for a
                     script */
    char **args;  /* arguments of a binary; the list ends with NULL */
    /* absolute path of the file that rank 0 of a binary reads on standard input, or NULL for
     * none */
    char *input;
    char *script;    /* text of the script (world/script/script.h); NULL for a binary */
    int script_line; /* line of the file on which the script's first line stands */
    int ranks;
    char *topology; /* a text of protocols/neighbours.h, or NULL if all ranks are neighbours */
  } program;

  struct {
    char *file;            /* absolute path of the platform, or NULL if the scenario names none */
    struct machine stated; /* the machine's values that the scenario itself states */
    /* The machine's values with those of `file`, if that is a description, and with all
     * defaults. */
    struct machine machine;
    /* a bit for each default among the values of `machine` (machine_complete()) */
    unsigned presumed;
    /* the platform as XML, from `file` or made from `machine`, or NULL if there is none */
    char *text;
    /* host of the dispatcher, or NULL for the platform's host "service-0" */
    char *dispatcher;
    int spares;               /* number of nodes that are kept free for restarts */
    enum placement placement; /* the placement from which layout.per_node comes */
    struct layout layout;     /* the layout at the start */
  } platform;

  struct {
    char *name; /* name in the registry, or the name of a mutant ("c3~no-suppress") */
    /* absolute path of the shared object that has the protocol, or NULL if it is recline's own */
    char *file;
    uint32_t capacity; /* number of entries in each list of the protocol's state */
    /* hybrid: number of iterations from one checkpoint to the next, or 0 if it is not stated */
    uint32_t interval;
    uint32_t log;          /* hybrid: number of iterations in an interval whose payloads are kept */
    enum log_place log_in; /* where hybrid keeps this log */
    uint32_t failures;     /* causal: number of ranks that may fail at once without the loss of a
                              determinant */
    /* event-logging: number of lines that a message may cross, or 0 for any number */
    uint32_t crossings;
    /* event-logging: number of ranks that begin checkpoints, from rank 0 on */
    uint32_t initiators;
    enum exchanges exchange;
    enum control control;
  } protocol;

  struct {
    double every; /* seconds between checkpoints, or 0 if `every` asks for none */
    /* further times at which to take a checkpoint, as the file has them, or NULL if there is
     * none */
    char **at;
    double *instants; /* the times of `at` in seconds, rising */
    unsigned instants_count;
    int count; /* number of checkpoints in all, or 0 for any */
    enum calls calls;
    enum afterwards then;
    enum storage storage; /* STORAGE_UNSTATED if there are levels */
    /* Levels of storage, sorted by `every`, which is 1 in the first level. NULL if there is only
     * the level `only`. */
    struct level *levels;
    unsigned levels_count;
    struct level only;
    enum writes writes;
    enum places places;
    enum image_level level;
    double bytes; /* size of one rank's image in bytes, or 0 if it is measured */
  } checkpoint;

  struct failure *failures;
  unsigned failures_count;
  double detection; /* seconds from a crash to its detection */
  struct {
    double bound[RCL_BOUNDS]; /* the bounds of which protocols with clocks are told, in seconds */
    double skew;              /* largest number of seconds by which clocks really deviate */
  } clocks;
  struct {
    enum runtime runtime;
    /* number of restarts from one checkpoint that may fail before the run goes back to the
     * checkpoint before it, or 0 for any number */
    int attempts;
    double revoke, agree, rebuild; /* seconds of one round in a tree of all ranks */
    double spawn;                  /* seconds of starting new processes */
  } recovery;
  enum outputs output; /* whether outputs of a run are held */
  /* patterns of names of files whose writes are outputs, or NULL if there is none */
  char **output_files;
  /* absolute path of a trace that the run follows step by step, or NULL if there is none */
  char *schedule;
  uint64_t seed;

  struct {
    /* Limits on the machine that runs or checks, in seconds and bytes, or 0 for no limit. */
    double time, memory;
    double simulated; /* limit of a run in simulated seconds, or 0 for no limit */
  } limits;

  struct {
    enum expected_verdict verdict;
    int program_exit; /* exit code of the program, or -1 if the scenario does not state it */
  } expect;

  /* The next fields are the bounds and choices of the explorer. */
  struct {
    int checkpoints; /* number of TIMERs that may happen */
    int crashes;     /* number of crashes, which strike at any point of any rank */
    int per_node;    /* number of successive ranks that crash together */
    enum closes connections;
    enum order order;
    /* names of properties to check (world/rules/properties.h), or NULL for all that apply */
    char **properties;
    /* the claim names no properties, and some properties that apply are left out */
    bool all_but_some;
    /* a temporal formula (world/temporal/temporal.h), or NULL if there is none */
    char *ltl;
    /* "NAME" or "NAME COUNT": events that runs must show in addition, or NULL if there is none */
    char **reach;
    unsigned lies;       /* faults that the host injects: 1 << enum injected_fault, or-ed */
    unsigned exceeds;    /* bounds of clocks that do not hold: 1 << enum rcl_bound, or-ed */
    unsigned hazards;    /* enum hazard (world/rules/world.h), or-ed */
    uint64_t max_states; /* bound on the number of states, or 0 for no bound */
  } check;

  GHashTable *lines; /* private, for scenario_line() and scenario_complain() */
};

/* Reads and checks `file`. `set` holds overrides "dotted.path=value", which are applied before the
 * check. The list ends with NULL, or is NULL. The caller frees the scenario with scenario_free().
 * Returns NULL with `error` set to one line `file:line: what, expected what` (without a line for a
 * missing file). */
struct scenario *scenario_load(const char *file, const char *const *set, GError **error);

/* Reads only the id and the statement of a scenario, claim or mutant, whatever its other keys are,
 * for lists. If the file states no id, `id` becomes the file's name; `statement` may become NULL.
 * The caller frees both. Errors are as with scenario_load(). */
bool scenario_headline(const char *file, char **id, char **statement, GError **error);

/* Returns the absolute path of the file `name` in `folder`, or in the first folder that has it of
 * an environment variable, where folders are separated by colons. Returns NULL if there is no such
 * file. The caller frees the path. */
char *scenario_file_in(const char *folder, const char *name);
char *scenario_find_in(const char *variable, const char *name);

/* Writes the scenario, with its overrides, as YAML that scenario_load() reads back. `--out DIR`
 * keeps it as scenario.yaml. The file is written under a temporary name and renamed. */
bool scenario_save(const struct scenario *, const char *file, GError **error);

/* Returns whether a run, if `run`, or otherwise a check can judge `expect`. If not, sets an error
 * as scenario_complain() does. */
bool scenario_expects_of(const struct scenario *, bool run, GError **error);

void scenario_free(struct scenario *);

/* Returns the host of the dispatcher, the file server and the event logger; the scenario owns
 * it. */
const char *scenario_dispatcher(const struct scenario *);

/* Returns the name of a law, such as "exponential": a static text. */
const char *scenario_law_name(enum law);

/* Returns whether some failure strikes by law, any number of times. */
bool scenario_fails_by_law(const struct scenario *);

/* scenario_level() returns the level with that index, or NULL behind the last one.
 * scenario_level_of() returns the level to which a checkpoint goes. A scenario without levels has
 * one level, with checkpoint.storage. */
const struct level *scenario_level(const struct scenario *, unsigned index);
const struct level *scenario_level_of(const struct scenario *, uint32_t checkpoint);

/* Returns the number of ranks whose images are on one node, in a run and in the explorer. */
int scenario_stored_per_node(const struct scenario *);

/* layout_host() returns the host on which `rank` runs, layout_nodes() the number of nodes that
 * `ranks` ranks need. */
const char *layout_host(const struct layout *, int rank);
int layout_nodes(const struct layout *, int ranks);

/* Returns the name of the platform in results and messages: its file without folder, or "platform"
 * if the scenario describes the machine itself. The caller frees it. */
char *scenario_platform_name(const struct scenario *);

/* Returns default number `i`, from 0, among the values that the platform's description leaves to
 * recline; `taken` is NULL behind the last one. Defaults that do not matter in this scenario, such
 * as that of a disk to which nothing is written, are left out. */
struct machine_default scenario_presumed(const struct scenario *, unsigned i);

/* Returns whether timers of ranks ever go off, by an interval, at instants, or when the program
 * calls for a checkpoint. */
bool scenario_asks(const struct scenario *);

/* Sets an error `file:line: path: what, expected what` at the line of `path` ("failures.0.after"),
 * or of the nearest key above it, and returns false. It is for rules that only a command or a host
 * can judge. */
bool scenario_complain(const struct scenario *, const char *path, GError **error,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Returns the line of `path`, or of the nearest key above it, counted from 1. */
int scenario_line(const struct scenario *, const char *path);

/* Reads "1.5ms", "2s", "6h" into seconds, "64KiB", "1MB" into bytes, "12.5GBps" into bytes per
 * second, "1Tf" into flop/s. Errors name the units. */
bool scenario_seconds(const char *text, double *seconds, GError **error);
bool scenario_bytes(const char *text, double *bytes, GError **error);
bool scenario_rate(const char *text, double *rate, GError **error);
bool scenario_flops(const char *text, double *flops, GError **error);

/* Reads the time in a command's option, where a number without a unit is in seconds. */
bool scenario_option_seconds(const char *text, double *seconds, GError **error);

#define SCENARIO_ERROR scenario_error_quark()
GQuark scenario_error_quark(void);

#endif
