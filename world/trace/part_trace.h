/* Reads what one process on real MPI has done in one life: the file trace.LIFE.RANK that the host
 * leaves (docs/mpi-host.md). After its head come lines `SECONDS RANK EVENT...`, and accounts. */
#ifndef RECLINE_PART_TRACE_H
#define RECLINE_PART_TRACE_H

#include <glib.h>
#include <stdbool.h>

/* Holds the head, which is equal in all parts of a run except for `began`. The part owns the texts.
 */
struct part_head {
  const char *protocol, *program, *library; /* `library` is the MPI library */
  int ranks;
  /* numbers that runs allow: `ranks` is 1 to G_MAXINT16, `capacity` at most RCL_CAPACITY_MAX */
  unsigned capacity;
  double began; /* start of the process, in seconds */
};

struct part_trace {
  char *file; /* path of the file */
  struct part_head head;
  bool there; /* the file exists */
  /* all lines, with NULL behind the last one; `line` is NULL if the process has told nothing */
  char **line;
  unsigned next; /* index of the next line to read; the first one is the line behind the head */
};

/* Reads a part. The caller ends with part_trace_clear(), also after an error. A last line without
 * an end is left out, because its process was killed while it wrote. A process that has no file, or
 * that was killed before the end of its head, has told nothing. Returns false if the head is wrong,
 * with `error` set to one line `file:line: what, expected what`. */
bool part_trace_read(struct part_trace *, const char *folder, unsigned life, unsigned rank,
                     GError **error);
void part_trace_clear(struct part_trace *);

#endif
