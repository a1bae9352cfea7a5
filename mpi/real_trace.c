/* The trace of this process, a line at a time, in the notation of docs/trace.md but without the
 * numbers of messages, which need all processes: `recline join` joins the traces of all.
 *
 *     FOLDER/trace.LIFE.RANK      lives count from 0, one for each start
 *
 * Lines that tell of no step have the account of the process, of its life so far: at each capture
 * and at the end. SPENT are seconds by enum real_activity.
 *
 *     SECONDS RANK account [checkpoint=N] spent=SPENT,... stored=BYTES image=BYTES iterations=N
 */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "mpi/real_inside.h"
#include "protocols/text.h"

double real_trace_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void put_head(const char *what)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  fprintf(real.trace, "%lld.%09ld %d %s", (long long)now.tv_sec, now.tv_nsec, real.rank, what);
}

/* Writes the content of a payload as the world computes it (world/script/content.h). */
static void put_content(const struct real_payload *payload)
{
  uint64_t digest[2];
  uint32_t word[4];
  hash_bytes_wide(payload->bytes, payload->size, digest);
  memcpy(word, digest, sizeof word);
  word[0] += !(word[0] | word[1] | word[2] | word[3]);
  fprintf(real.trace, " content=%08" PRIx32 "%08" PRIx32 "%08" PRIx32 "%08" PRIx32, word[0],
          word[1], word[2], word[3]);
}

/* Writes the name of the program and its arguments, as the system has them. */
static void put_program(void)
{
  char words[1024];
  FILE *file = fopen("/proc/self/cmdline", "r");
  size_t count = file ? fread(words, 1, sizeof words - 1, file) : 0, first = 0;
  if (file)
    fclose(file);
  words[count] = '\0';
  for (size_t i = 0; words[i]; i++)
    first = words[i] == '/' ? i + 1 : first;
  fputs("program ", real.trace);
  for (size_t i = first; i + 1 < count; i++)
    fputc(words[i] == '\0' ? ' ' : isprint((unsigned char)words[i]) ? words[i] : '?', real.trace);
}

static void put_library(void)
{
  char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  PMPI_Get_library_version(name, &length);
  name[strcspn(name, ",\n")] = '\0'; /* its name and version come first */
  for (char *each = name; *each; each++)
    *each = *each == '\t' ? ' ' : *each;
  fprintf(real.trace, "\nlibrary %s\n", name);
}

void real_trace_begin(void)
{
  char name[4096];
  if (!real.options.trace)
    return;
  snprintf(name, sizeof name, "%s/trace.%u.%d", real.options.folder, real.life, real.rank);
  real.trace = fopen(name, "w");
  if (!real.trace)
    real_die(64, OUTPUT_CANNOT, name, strerror(errno));
  setvbuf(real.trace, NULL, _IOFBF, 1 << 16);
  fprintf(real.trace, "recline-part-trace 2\nprotocol %s\nranks %d\ncapacity %u\n",
          real.protocol->name, real.ranks, real.config.capacity);
  put_program();
  put_library();
  fprintf(real.trace, "began %.9f\n---\n", real.began);
  fflush(real.trace);
}

void real_trace_step(const struct rcl_event *event, const struct real_message *message)
{
  char text[TEXT_MAX];
  if (!real.trace)
    return;
  put_head(event_print(real.protocol, event, text));
  if (message && message->payload)
    put_content(message->payload);
  for (uint32_t i = 0; i < real.actions.count; i++)
    fprintf(real.trace, " | %s", action_print(real.protocol, &real.actions.item[i], text));
  fprintf(real.trace, " # %016" PRIx64 "\n",
          rcl_protocol_digest_state(real.protocol, &real.config, real.state));
  fflush(real.trace);
}

void real_trace_finished(void)
{
  if (!real.trace)
    return;
  put_head("finished\n");
  fflush(real.trace);
}

void real_trace_account(uint32_t checkpoint)
{
  if (!real.trace)
    return;
  real_switch(real.activity);
  put_head("account");
  if (checkpoint)
    fprintf(real.trace, " checkpoint=%" PRIu32, checkpoint);
  for (int i = 0; i < REAL_ACTIVITIES; i++)
    fprintf(real.trace, "%s%.9f", i ? "," : " spent=", real.spent[i]);
  fprintf(real.trace, " stored=%" PRIu64 " image=%" PRIu64 " iterations=%" PRIu64 "\n",
          real.stored_bytes, real.image_bytes, real.iterations);
  fflush(real.trace);
}

void real_trace_end(void)
{
  if (real.trace && fclose(real.trace))
    fprintf(stderr, "recline: the trace of process %d: %s\n", real.rank, strerror(errno));
  real.trace = NULL;
}
