/* Describes a machine by a few amounts, in place of a SimGrid platform file: fills in defaults, and
 * makes the platform for SimGrid. docs/platform.md says what each amount means. */
#ifndef RECLINE_MACHINE_AMOUNTS_H
#define RECLINE_MACHINE_AMOUNTS_H

#include <glib.h>
#include <stdbool.h>

enum { MACHINE_NODES_MAX = 65536 };

/* Lists topologies. FLAT is one crossbar. FAT_TREE has switches of `group` nodes each, with trunks
 * to a core that never blocks; `taper` makes a trunk slower than its nodes together. DRAGONFLY has
 * groups of nodes, with a link between each two groups. */
enum wiring { TOPOLOGY_UNSTATED, TOPOLOGY_FLAT, TOPOLOGY_FAT_TREE, TOPOLOGY_DRAGONFLY };

/* Describes a disk by its speed in bytes per second, and by the seconds that a synced write takes
 * in addition. */
struct machine_disk {
  double bandwidth, read_bandwidth, write_latency;
};

/* Describes a machine. An amount below 0, a taper below 1, or a count of 0 means that the value is
 * not stated. */
struct machine {
  int nodes; /* number of nodes that can have ranks */
  enum wiring topology;
  double speed;  /* speed of a core in flop/s */
  int cores;     /* number of cores of a node */
  double memory; /* speed of a copy in memory, in bytes per second */
  struct {
    /* Between two nodes that are next to each other, in seconds and bytes per second. */
    double latency, bandwidth;
    double overhead; /* seconds that software takes at each end of a message */
    double eager;    /* number of bytes; smaller messages do not wait for their receive */
    double hop;      /* seconds for each further link between switches */
    /* number of nodes at one switch of a fat tree, or in one group of a dragonfly */
    int group;
    double taper; /* bandwidth of a switch's nodes divided by the bandwidth of its trunk */
  } network;
  struct {
    double latency, bandwidth; /* between ranks of one node, in seconds and bytes per second */
  } within_node;
  /* `storage` is on the service host, for all nodes; `local` is on each node */
  struct machine_disk storage, local;
  double mtbf; /* mean time between failures of a node, in seconds */
};

/* Fills in, from `other`, the values that `machine` does not state. */
void machine_inherit(struct machine *machine, const struct machine *other);

/* Fills in defaults for values that are not stated, for `per_node` ranks on a node. mtbf has no
 * default. Returns a set with a bit for each default (machine_presumed()). */
unsigned machine_complete(struct machine *, int per_node);

/* Names the uses for which a default matters. */
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
  char *taken; /* the value that is taken, such as "2us"; the caller frees it */
  enum matters matters;
  bool decisive; /* figures of runs depend on this default, where it matters */
};

/* Returns the default for bit `i` of a set, from 0. `taken` is NULL if there are no more bits. */
struct machine_default machine_presumed(const struct machine *, unsigned i);

/* Returns the SimGrid platform of a complete machine, as XML: nodes "node-0" to "node-N", and the
 * service host "service-0". The same machine gives the same bytes. The caller frees it. */
char *machine_xml(const struct machine *);

#endif
