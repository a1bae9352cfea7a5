/* Gives tests a session outside of a page:
 *
 *     session-tool describe NAME             the description of what `recline play NAME` plays
 *     session-tool walk SEED STEPS NAME...   a digest of a walk through each
 *     session-tool view NAME                 what the page knows of the last state
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "play/play.h"
#include "play/session.h"

static int refuse(const char *why)
{
  fprintf(stderr, "session-tool: %s\n", why);
  return 1;
}

/* Returns whether the session plays the described world, which is the case if their headers are the
 * same. */
static bool is_described(struct session *session)
{
  char *header = session_header(session);
  size_t size = strlen(header) - strlen("---\n");
  bool same = !strncmp(header, session->description, size);
  free(header);
  return same;
}

static int show(const char *what, uint64_t seed, unsigned steps, const char *name)
{
  g_autoptr(GError) error = NULL;
  struct played played;
  struct session session = {0};
  struct buffer view = {0};
  if (!played_read(name, NULL, &played, &error))
    return refuse(error->message);
  if (!strcmp(what, "describe"))
    fputs(played.description, stdout);
  const char *wrong = session_begin(&session, played.description);
  if (wrong)
    return refuse(wrong);
  if (!is_described(&session))
    return refuse("the session's world is not as it is described");
  if (!strcmp(what, "walk"))
    printf("%s %016" PRIx64 "\n", name, session_walk(&session, seed, steps));
  for (unsigned i = 0; !strcmp(what, "view") && i < played.count; i++)
    if (!session_take(&session, &played.moves[i], NULL))
      return refuse(session.verdict.text);
  session_view(&session, &view);
  if (!strcmp(what, "view"))
    puts(view.text);
  free(view.text);
  session_clear(&session);
  played_clear(&played);
  return 0;
}

int main(int argc, char **argv)
{
  bool walk = argc > 4 && !strcmp(argv[1], "walk");
  g_setenv("RECLINE_DATA", RECLINE_SOURCE_DIR, FALSE);
  for (int i = walk ? 4 : 2; i < argc; i++)
    if (show(argv[1], walk ? strtoull(argv[2], NULL, 10) : 0,
             walk ? (unsigned)strtoul(argv[3], NULL, 10) : 0, argv[i]))
      return 1;
  return 0;
}
