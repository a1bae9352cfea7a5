/* Describes a machine by a few amounts, in place of a SimGrid platform file: fills in defaults, and
 * makes the platform for SimGrid. docs/platform.md says what each amount means. */
#ifndef RECLINE_MACHINE_AMOUNTS_H
#define RECLINE_MACHINE_AMOUNTS_H

#include <glib.h>
#include <stdbool.h>

enum { MACHINE_NODES_MAX = 65536 };

/* FLAT: one crossbar. FAT_TREE: switches of `group` nodes each, with trunks to a core that never
 * blocks; `taper` makes a trunk slower than its nodes together. DRAGONFLY: groups, with a link
 * between each two. */
enum wiring { TOPOLOGY_UNSTATED, TOPOLOGY_FLAT, TOPOLOGY_FAT_TREE, TOPOLOGY_DRAGONFLY };

/* Describes a disk by its speed in bytes per second, and by the seconds that a synced write takes
 * in addition. */
struct machine_disk {
  double bandwidth, read_bandwidth, write_latency;
};

/* Describes a machine. Amounts below 0, a taper below 1 and counts of 0 mean that the value is not
 * stated. */
struct machine {
  int nodes; /* nodes that can have ranks */
  enum wiring topology;
  double speed;  /* flop/s of a core */
  int cores;     /* cores of a node */
  double memory; /* bytes per second of a copy in memory */
  struct {
    /* Seconds, and bytes per second, between two nodes that are next to each other. */
    double latency, bandwidth;
    double overhead; /* seconds of software at each end of a message */
    double eager;    /* messages of fewer bytes do not wait for their receive */
    double hop;      /* seconds of each further link between switches */
    int group;       /* nodes at one switch of a fat tree, in one group of a dragonfly */
    double taper;    /* bandwidth of a switch's nodes divided by the bandwidth of its trunk */
  } network;
  struct {
    double latency, bandwidth; /* seconds and bytes per second between ranks of one node */
  } within_node;
  struct machine_disk storage, local; /* storage: on the service host, for all nodes; local: on each
                                         node */
  double mtbf;                        /* seconds between failures of a node */
};

/* Fills in, from `other`, the values that `machine` does not state. */
void machine_inherit(struct machine *machine, const struct machine *other);

/* Fills in defaults for values that are not stated, for `per_node` ranks on a node. mtbf has no
 * default. Returns a set with a bit for each default (machine_presumed()). */
unsigned machine_complete(struct machine *, int per_node);

/* Names the things for which a default matters. */
enum matters {
  MATTERS_ALWAYS,
  MATTERS_COPIES,  /* checkpoints and logs */
  MATTERS_WITHIN,  /* several ranks on a node */
  MATTERS_TREE,    /* a topology with more than one switch */
  MATTERS_STORAGE, /* writes to the service host */
  MATTERS_LOCAL,   /* writes to disks of nodes */
  MATTERS_RESTART_STORAGE,
  MATTERS_RESTART_LOCAL /* reads from disks of nodes */
};

struct machine_default {
  const char *key;
  char *taken; /* "2us"; the caller frees it */
  enum matters matters;
  bool decisive; /* figures depend on this default where it matters */
};

/* Returns the default for bit `i` of a set, from 0. `taken` is NULL if there are no more bits. */
struct machine_default machine_presumed(const struct machine *, unsigned i);

/* Returns the SimGrid platform of a complete machine, as XML: nodes "node-0" to "node-N", and the
 * service host "service-0". The same machine gives the same bytes. The caller frees it. */
char *machine_xml(const struct machine *);

#endif
