/* Tests texts that describe topologies: the neighbours of each rank, texts that are refused, and
 * ranks that cannot be reached. */
#include "protocols/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "protocols/t/tap.h"

/* Prints the neighbours of each rank: "1;0,2;1". */
static void print(const uint32_t *rows, int ranks, char *text)
{
  *text = '\0';
  for (int rank = 0; rank < ranks; rank++) {
    const struct rcl_config config = {.self = (int16_t)rank,
                                      .ranks = (int16_t)ranks,
                                      .neighbours = &rows[(size_t)rank * neighbours_row(ranks)]};
    const char *between = rank ? ";" : "";
    for (int peer = 0; peer < ranks; peer++)
      if (rcl_is_neighbour(&config, peer)) {
        sprintf(text + strlen(text), "%s%d", between, peer);
        between = ",";
      }
    if (*between == ';')
      strcat(text, between);
  }
}

static void reads(const char *text, int ranks, const char *expected)
{
  char found[2048], problem[NEIGHBOURS_PROBLEM] = "";
  uint32_t *rows = neighbours_read(text, ranks, problem);
  if (rows)
    print(rows, ranks, found);
  if (!ok(rows && !strcmp(found, expected), "%s of %d ranks", text, ranks))
    note("found %s, expected %s", rows ? found : problem, expected);
  free(rows);
}

static void refuses(const char *text, int ranks, const char *expected)
{
  char problem[NEIGHBOURS_PROBLEM] = "";
  uint32_t *rows = neighbours_read(text, ranks, problem);
  if (!ok(!rows && !strcmp(problem, expected), "\"%s\" of %d ranks is refused", text, ranks))
    note("said %s", problem);
  free(rows);
}

static void reaches(const char *text, int ranks, int expected)
{
  char problem[NEIGHBOURS_PROBLEM];
  uint32_t *rows = neighbours_read(text, ranks, problem);
  int found = rows ? neighbours_unreached(rows, ranks) : -2;
  if (!ok(found == expected, "%s of %d ranks: the first that is not reached", text, ranks))
    note("found %d, expected %d", found, expected);
  free(rows);
}

static void refuse_all(void)
{
  static const char word[] =
      ", expected all, ring, line, grid-AxB, torus-AxB, hypercube or pairs as 0-1";
  static const char *const unknown[] = {"rings",   "rin",  "0",   "0-", "0-1-2",
                                        "0-1,1-2", "-1-2", "0+1", "all"};
  static const char size[] = ", expected sizes as 4x4 whose product is the number of ranks";
  static const char *const sizes[] = {
      "grid-",      "grid-3",      "grid-2x3",
      "grid-2x2x",  "grid-0x4",    "torus-2x2x2",
      "torus-2x2y", "torus--2x-2", "grid-99999x99999x99999x99999x99999x99999x99999x99999x9"};
  char text[160];
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    refuses(unknown[i], 4, (snprintf(text, sizeof text, "\"%s\"%s", unknown[i], word), text));
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    refuses(sizes[i], 4, (snprintf(text, sizeof text, "\"%.32s\"%s", sizes[i], size), text));
  refuses("", 4, (snprintf(text, sizeof text, "\"\"%s", word), text));
  refuses("ring star", 4, (snprintf(text, sizeof text, "\"star\"%s", word), text));
  refuses("0-4", 4, "\"0-4\", expected two ranks of the program");
  refuses("4-0", 4, "\"4-0\", expected two ranks of the program");
  refuses("99999-0", 4, "\"99999-0\", expected two ranks of the program");
  refuses("2-2", 4, "\"2-2\", expected two different ranks");
}

int main(void)
{
  struct rcl_config all = {.self = 1, .ranks = 3};
  ok(rcl_is_neighbour(&all, 0) && rcl_is_neighbour(&all, 2) && !rcl_is_neighbour(&all, 1),
     "without a topology all other ranks are neighbours");
  reads("line", 4, "1;0,2;1,3;2");
  reads("ring", 4, "1,3;0,2;1,3;0,2");
  reads("ring", 2, "1;0");
  reads("ring", 1, "");
  reads("2-0", 4, "2;;0;");
  reads("  0-1   2-3 ", 4, "1;0;3;2");
  reads("line 0-3", 4, "1,3;0,2;1,3;0,2");
  reads("grid-2x3", 6, "1,3;0,2,4;1,5;0,4;1,3,5;2,4");
  reads("torus-2x3", 6, "1,2,3;0,2,4;0,1,5;0,4,5;1,3,5;2,3,4");
  reads("grid-2x2x2", 8, "1,2,4;0,3,5;0,3,6;1,2,7;0,5,6;1,4,7;2,4,7;3,5,6");
  reads("grid-4", 4, "1;0,2;1,3;2");
  reads("torus-4x1", 4, "1,3;0,2;1,3;0,2");
  reads("hypercube", 4, "1,2;0,3;0,3;1,2");
  reads("hypercube", 6, "1,2,4;0,3,5;0,3;1,2;0,5;1,4");
  reads("31-32 0-63", 65,
        "63;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;32;31;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;0;");
  refuse_all();
  reaches("ring", 4, -1);
  reaches("line", 40, -1);
  reaches("0-1 2-3", 4, 2);
  reaches("1-2 2-3", 4, 1);
  reaches("0-3 3-1", 4, 2);
  reaches("line", 1, -1);
  return done();
}
