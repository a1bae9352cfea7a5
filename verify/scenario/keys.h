/* The keys of a scenario file, as YAML can hold them: texts, whole numbers, choices, NULL where a
 * key is not there. Units, ranges, defaults and names are judged on the way from keys to struct
 * scenario (scenario_read.c), each with the line of its key. */
#ifndef RECLINE_KEYS_H
#define RECLINE_KEYS_H

#include <cyaml/cyaml.h>
#include <stdint.h>

#define KEYS_DISPATCHER "service-0" /* the dispatcher's host where none is named */

struct keys_program {
  char *binary, **args, *script;
  unsigned args_count;
  int64_t *ranks;
};

struct keys_platform {
  char *file, *dispatcher;
  int *placement;
  char *interconnect;
  int64_t *per_node;
  int64_t *spares;
};

struct keys_protocol {
  char *name, *file;
  int64_t *capacity, *interval, *log;
  int *control;
};

struct keys_checkpoint {
  char *every, *bytes;
  int *storage, *writes, *places;
};

struct keys_after {
  char *event;
  int64_t *rank, *checkpoint, *iteration, *count, *recovery;
};

struct keys_layout {
  char *interconnect;
  int64_t *per_node;
};

struct keys_failure {
  int64_t *rank;
  int *kills;
  char *at, *repair;
  struct keys_after *after;
  struct keys_layout *restart_on;
};

struct keys_recovery {
  int *runtime;
  char *revoke, *agree, *spawn, *rebuild;
};

struct keys_expect {
  int *verdict;
  int64_t *program_exit;
};

struct keys_clocks {
  char *deviation, *longest, *shortest, *skew;
};

struct keys_check {
  int64_t *checkpoints, *crashes, *per_node;
  int *order, *connections;
  char **properties, **lies, **exceeds;
  unsigned properties_count, lies_count, exceeds_count;
  uint64_t *max_states;
};

struct keys {
  char *id, *statement, *source, *detection, *schedule;
  uint64_t *seed;
  struct keys_program program;
  struct keys_platform *platform;
  struct keys_protocol protocol;
  struct keys_checkpoint checkpoint;
  struct keys_failure *failures;
  unsigned failures_count;
  struct keys_clocks clocks;
  struct keys_recovery recovery;
  struct keys_expect expect;
  struct keys_check check;
};

enum { ORDER_ANY, ORDER_FIFO, ORDER_NONE };

/* The one table of keys and types, of a struct keys. */
extern const cyaml_schema_value_t keys_schema;
extern const cyaml_config_t keys_cyaml;

/* Names of clocks' bounds under `exceeds`, by enum rcl_bound. */
extern const char *const keys_bounds[];

#endif
