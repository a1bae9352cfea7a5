/* A machine described by a few amounts, in place of a SimGrid platform file: defaults for what is
 * not said, and the platform that SimGrid gets. docs/platform.md says what each amount means. */
#ifndef RECLINE_MACHINE_AMOUNTS_H
#define RECLINE_MACHINE_AMOUNTS_H

#include <glib.h>
#include <stdbool.h>

enum { MACHINE_NODES_MAX = 65536 };

/* FLAT: one crossbar. FAT_TREE: switches of `group` nodes below a core that never blocks but for
 * the `taper` of their trunks. DRAGONFLY: groups, with a link between each two. */
enum wiring { TOPOLOGY_UNSTATED, TOPOLOGY_FLAT, TOPOLOGY_FAT_TREE, TOPOLOGY_DRAGONFLY };

/* Bytes per second; seconds that a synced write takes besides. */
struct machine_disk {
  double bandwidth, read_bandwidth, write_latency;
};

/* Amounts below 0, a taper below 1 and counts of 0 are not stated. */
struct machine {
  int nodes; /* that can carry ranks */
  enum wiring topology;
  double speed;  /* of a core, flop/s */
  int cores;     /* of a node */
  double memory; /* bytes per second of a copy */
  struct {
    double latency, bandwidth; /* between two nodes next to each other; bytes per second */
    double overhead;           /* seconds of software at each end of a message */
    double eager;              /* messages of fewer bytes do not wait for their receive */
    double hop;                /* seconds of each further link between switches */
    int group;                 /* nodes at one switch of a fat tree, in one group of a dragonfly */
    double taper;              /* bandwidth of a switch's nodes over that of its trunk */
  } network;
  struct {
    double latency, bandwidth; /* between ranks of one node */
  } within_node;
  struct machine_disk storage, local; /* of all nodes, on the service host; of one node */
  double mtbf;                        /* of a node, seconds */
};

/* Takes what `machine` does not state from `other`. */
void machine_inherit(struct machine *machine, const struct machine *other);

/* Puts a default in place of what is not stated, for `per_node` ranks on a node; mtbf has none.
 * Returns a set with a bit for each default (machine_presumed()). */
unsigned machine_complete(struct machine *, int per_node);

/* What a default matters for. */
enum matters {
  MATTERS_ALWAYS,
  MATTERS_COPIES,  /* checkpoints and logs */
  MATTERS_WITHIN,  /* several ranks on a node */
  MATTERS_TREE,    /* a topology with more than one switch */
  MATTERS_STORAGE, /* writes to the service host, */
  MATTERS_LOCAL,   /* to the disks of nodes */
  MATTERS_RESTART_STORAGE,
  MATTERS_RESTART_LOCAL /* reading them */
};

struct machine_default {
  const char *key;
  char *taken; /* "2us"; freed by the caller */
  enum matters matters;
  bool decisive; /* figures depend on it, where it matters */
};

/* Returns the default for bit `i` of a set, from 0; taken NULL: there are no more bits. */
struct machine_default machine_presumed(const struct machine *, unsigned i);

/* Returns the SimGrid platform of a complete machine, as XML: nodes "node-0" to "node-N", the
 * service host "service-0", with the same bytes for the same machine. The caller frees it. */
char *machine_xml(const struct machine *);

#endif
