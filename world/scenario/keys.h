/* Has the one table of a scenario file's keys: the values that each may have, its default, and its
 * place in struct scenario. Files are checked, read and saved by this table; --set changes the
 * document before that (document.h). Rules between keys are judged after all keys are read
 * (scenario_read.c). */
#ifndef RECLINE_KEYS_H
#define RECLINE_KEYS_H

#include <stddef.h>

#include "world/scenario/document.h"
#include "world/scenario/scenario.h"

enum { RANKS_MAX = 32767 };

enum key_kind {
  KEY_TEXT,    /* char *, or NULL if there is no text */
  KEY_TEXTS,   /* char **, a list that ends with NULL, or NULL if there is none */
  KEY_SET,     /* unsigned: a list of `names`, each as 1 << its index */
  KEY_WHOLE,   /* int or uint32_t, `least` to `most` */
  KEY_RANKS,   /* int, `least` to the number of ranks + `most` */
  KEY_NUMBER,  /* uint64_t */
  KEY_REAL,    /* double, `least` to `most` */
  KEY_SECONDS, /* double */
  KEY_BYTES,   /* double */
  KEY_RATE,    /* double, bytes per second */
  KEY_FLOPS,   /* double, floating-point operations per second */
  KEY_CHOICE,  /* int or enum: the value is `least` + index in `names` */
  KEY_EVENT,   /* enum rcl_event_kind */
  KEY_MAPPING, /* a mapping of `keys`, in the same structure or, with a `size`, behind a pointer */
  KEY_LIST,    /* a list of mappings of `keys`: a pointer to structures of `size` bytes, and an
                  unsigned count */
};

/* Describes a key of the table. A saved scenario leaves out numbers below `least`, lists with fewer
 * items, NULL, mappings whose first key is needed and has no value, and `sparse` mappings without
 * any value. So a default below `least` stands for "not stated". */
struct key {
  const char *name; /* name of the key; NULL ends a table */
  enum key_kind kind;
  size_t offset, count; /* offsets in the structure of the value and, for a list, of its count */
  bool needed;
  /* style when saved: with `literal` a text stands after `|`, with `flow` a list or mapping
   * stands on one line */
  bool literal, flow;
  bool sparse;
  double least, most, otherwise;
  const char *const *names; /* the possible values, a list that ends with NULL */
  const char *word;         /* the word that messages have for an entry of a set */
  const struct key *keys;
  size_t size;
};

/* scenario_keys has the keys of struct scenario, machine_keys has the keys of a machine in a file
 * of its own (platform.stated), parameter_keys has the keys of scenario_keys that give values to
 * the parameters of protocols (parameters.h). */
extern const struct key scenario_keys[], machine_keys[], parameter_keys[];

/* Compares the document with the table: keys, types and names. Fills `lines`. Returns false with
 * `error` set to one line if they do not fit. */
bool keys_check(struct document *, const struct key *keys, GError **error);

/* Fills `scenario` from a checked document: every key gets its value or its default. */
bool keys_read(struct document *, const struct key *keys, struct scenario *, GError **error);

/* Frees what the keys in `from` point to. */
void keys_clear(const struct key *keys, void *from);

#endif
