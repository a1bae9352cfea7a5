#include "sim/host/rank/node_memory.h"

#include "sim/host/rank/shadow.h"
#include "sim/net/placement.h"
#include "sim/net/transport.h"

#include <string.h>
#include <sys/mman.h>

/* Holds what a memory contains on one recovery line. Each image of that line refers to this
 * struct. */
struct line_content {
  struct node_memory *memory;
  /* the incarnation in which, and the checkpoint for which, the ranks of the line were captured */
  uint32_t incarnation, checkpoint;
  /* the content, or NULL as long as some rank has yet to be captured */
  char *bytes;
  unsigned images;
};

struct node_memory {
  int comm, size, *member;
  size_t *part; /* number of bytes of each member's part */
  size_t bytes;
  char *base;
  GPtrArray *contents; /* struct line_content */
};

static GPtrArray *memories; /* struct node_memory, or NULL if none was made yet */

/* ---- who shares ---- */

static const char *first_node(int rank)
{
  const struct layout *layout = &layer.scenario->platform.layout;
  return layout->nodes ? layout_host(layout, rank) : node_of(rank);
}

/* A rank that has not called MPI_Init yet counts as being on its first node. */
static const char *present_node(int rank)
{
  return node_of(rank) ? node_of(rank) : first_node(rank);
}

bool node_is_shared(int rank, int other)
{
  return g_strcmp0(first_node(rank), first_node(other)) == 0 &&
         g_strcmp0(present_node(rank), present_node(other)) == 0;
}

/* Returns the rank's entry about that memory, also if the rank is still about to share it, or NULL
 * if there is none. */
static const struct sharing *entry_of(int rank, const struct node_memory *memory)
{
  const struct mpi_state *mpi = layer.rank[rank].mpi;
  const struct sharing *each = mpi ? mpi->sharings : NULL;
  while (each && each->memory != memory && (each->memory || each->comm != memory->comm))
    each = each->next;
  return each;
}

struct sharing *sharing_begin(struct rank *r, const struct comm *members)
{
  struct sharing *sharing = rank_alloc(r, sizeof *sharing);
  *sharing = (struct sharing){.size = members->size, .next = r->mpi->sharings};
  sharing->member = rank_alloc(r, (size_t)members->size * sizeof *sharing->member);
  memcpy(sharing->member, members->member, (size_t)members->size * sizeof *sharing->member);
  r->mpi->sharings = sharing;
  return sharing;
}

static struct node_memory *memory_new(const struct sharing *sharing, const size_t *part,
                                      size_t bytes)
{
  struct node_memory *memory = g_new0(struct node_memory, 1);
  *memory = (struct node_memory){
      .comm = sharing->comm,
      .size = sharing->size,
      .member = g_memdup2(sharing->member, (size_t)sharing->size * sizeof *sharing->member),
      .part = g_memdup2(part, (size_t)sharing->size * sizeof *part),
      .bytes = bytes,
      .contents = g_ptr_array_new()};
  memory->base = mmap(NULL, MAX(bytes, 1), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory->base == MAP_FAILED)
    die(DIE_INPUT, "no memory of %zu bytes for a window that ranks of a node share", bytes);
  if (!memories)
    memories = g_ptr_array_new();
  g_ptr_array_add(memories, memory);
  return memory;
}

/* Members free their memory together, and the communicator's number can be used again only after
 * that. So at most one memory that living ranks share belongs to a communicator. */
char *sharing_make(struct sharing *sharing, const size_t *part, size_t bytes)
{
  for (int i = 0; i < sharing->size && !sharing->memory; i++)
    for (const struct sharing *each = layer.rank[sharing->member[i]].mpi->sharings; each;
         each = each->next)
      if (each->comm == sharing->comm && each->memory)
        sharing->memory = each->memory;
  if (!sharing->memory)
    sharing->memory = memory_new(sharing, part, bytes);
  return sharing->memory->base;
}

static void memory_free(struct node_memory *memory)
{
  munmap(memory->base, MAX(memory->bytes, 1));
  g_ptr_array_unref(memory->contents);
  g_free(memory->member);
  g_free(memory->part);
  g_free(memory);
}

static bool is_needed(const struct node_memory *memory)
{
  if (memory->contents->len > 0)
    return true;
  for (int i = 0; i < memory->size; i++)
    if (entry_of(memory->member[i], memory))
      return true;
  return false;
}

/* Frees each memory that no rank shares and no image holds any more. */
static void sweep(void)
{
  for (guint i = memories ? memories->len : 0; i-- > 0;)
    if (!is_needed(memories->pdata[i]))
      memory_free(g_ptr_array_remove_index(memories, i));
}

void sharing_end(struct rank *r, struct sharing *sharing)
{
  struct sharing **place = &r->mpi->sharings;
  sharing_wake(r);
  while (*place != sharing)
    place = &(*place)->next;
  *place = sharing->next;
  rank_free(sharing->member);
  rank_free(sharing);
  sweep();
}

/* ---- who stands still ---- */

static uint32_t incarnation_of(int rank)
{
  return shadow_rank(rank)->incarnation;
}

/* Returns the last checkpoint for which the rank was captured, or for which its capture has
 * begun. */
static uint32_t reached(int rank)
{
  const struct world_rank *of = shadow_rank(rank);
  return of->phase == RANK_CAPTURING ? of->capturing : of->line;
}

/* Returns whether the answer is true for any rank that shares memory with `r`. Ranks that are about
 * to share memory do not count, because such a rank may be within a collective call for which it
 * needs the other ranks. */
static bool any_partner(const struct rank *r,
                        bool (*is_so)(const struct rank *, int, const struct sharing *))
{
  for (const struct sharing *each = r->mpi ? r->mpi->sharings : NULL; each; each = each->next)
    for (int i = 0; each->memory && i < each->size; i++)
      if (each->member[i] != r->index && is_so(r, each->member[i], each))
        return true;
  return false;
}

static struct line_content *find_content(struct node_memory *memory, uint32_t incarnation,
                                         uint32_t checkpoint)
{
  for (guint i = 0; i < memory->contents->len; i++) {
    struct line_content *content = memory->contents->pdata[i];
    if (content->incarnation == incarnation && content->checkpoint == checkpoint)
      return content;
  }
  return NULL;
}

/* What a rank of another incarnation shares is not known until the rank has started again. */
static bool holds_up(const struct rank *r, int partner, const struct sharing *sharing)
{
  uint32_t incarnation = incarnation_of(r->index), line = shadow_rank(r->index)->line;
  if (incarnation_of(partner) != incarnation)
    return true;
  if (shadow_rank(partner)->line >= line || !entry_of(partner, sharing->memory))
    return false;
  const struct line_content *content = find_content(sharing->memory, incarnation, line);
  return !content || !content->bytes;
}

static bool is_ahead(const struct rank *r, int partner, const struct sharing *sharing)
{
  (void)sharing;
  return incarnation_of(partner) == incarnation_of(r->index) &&
         reached(partner) > shadow_rank(r->index)->line;
}

static bool has_not_started(const struct rank *r, int partner, const struct sharing *sharing)
{
  (void)sharing;
  return incarnation_of(partner) != incarnation_of(r->index);
}

static bool all_have_started(const struct rank *r, const int *member, int size)
{
  for (int i = 0; i < size; i++)
    if (incarnation_of(member[i]) != incarnation_of(r->index))
      return false;
  return true;
}

bool sharing_all_have_started(const struct rank *r, const void *sharing)
{
  const struct sharing *of = sharing;
  return all_have_started(r, of->member, of->size);
}

bool sharing_stops(const struct rank *r)
{
  return any_partner(r, holds_up);
}

bool sharing_is_level(const struct rank *r, const void *nothing)
{
  (void)nothing;
  return !any_partner(r, is_ahead);
}

bool sharing_lets_capture(const struct rank *r)
{
  return !any_partner(r, has_not_started);
}

static bool wake(const struct rank *r, int partner, const struct sharing *sharing)
{
  (void)r;
  (void)sharing;
  if (layer.rank[partner].transport)
    transport_wake(partner);
  return false;
}

void sharing_wake(const struct rank *r)
{
  any_partner(r, wake);
}

/* ---- contents ---- */

static struct line_content *add_content(struct node_memory *memory, uint32_t incarnation,
                                        uint32_t checkpoint)
{
  struct line_content *content = g_new0(struct line_content, 1);
  *content =
      (struct line_content){.memory = memory, .incarnation = incarnation, .checkpoint = checkpoint};
  g_ptr_array_add(memory->contents, content);
  return content;
}

/* Returns the number of the rank among the members, or -1 if the rank is none of them. */
static int place_of(const struct node_memory *memory, int rank)
{
  for (int i = 0; i < memory->size; i++)
    if (memory->member[i] == rank)
      return i;
  return -1;
}

/* Returns whether the rank was captured, or is in a collective call. Such a rank writes nothing
 * more to the memory before its capture, except for the data that the call brings. */
static bool is_at_rest(int rank, const struct line_content *content)
{
  return incarnation_of(rank) == content->incarnation &&
         (shadow_rank(rank)->line >= content->checkpoint || layer.rank[rank].mpi->call.inside);
}

/* Returns whether all ranks that share the memory are at rest, apart from `r`, which is
 * captured. */
static bool all_are_at_rest(const struct rank *r, const struct line_content *content)
{
  const struct node_memory *memory = content->memory;
  for (int i = 0; i < memory->size; i++)
    if (memory->member[i] != r->index && entry_of(memory->member[i], memory) &&
        !is_at_rest(memory->member[i], content))
      return false;
  return true;
}

void sharing_captured(const struct rank *r, struct capture *capture)
{
  uint32_t incarnation = incarnation_of(r->index);
  for (guint i = 0; memories && i < memories->len; i++) {
    struct node_memory *memory = memories->pdata[i];
    if (place_of(memory, r->index) < 0)
      continue;
    struct line_content *content = find_content(memory, incarnation, capture->checkpoint);
    const struct sharing *entry = entry_of(r->index, memory);
    if (entry && entry->memory) {
      if (!content)
        content = add_content(memory, incarnation, capture->checkpoint);
      if (!capture->contents)
        capture->contents = g_ptr_array_new();
      content->images++;
      g_ptr_array_add(capture->contents, content);
    }
    if (content && !content->bytes && all_are_at_rest(r, content))
      content->bytes = g_memdup2(memory->base, MAX(memory->bytes, 1));
  }
}

/* The rank has written to the memory. Adds the written bytes to the contents of lines for which the
 * rank has yet to be captured, if these contents were taken already. */
static void put_into_contents(const struct rank *r, const struct node_memory *memory,
                              const struct typemap *map, char *at, size_t bytes)
{
  for (guint i = 0; i < memory->contents->len; i++) {
    const struct line_content *content = memory->contents->pdata[i];
    if (!content->bytes || content->incarnation != incarnation_of(r->index) ||
        content->checkpoint <= shadow_rank(r->index)->line)
      continue;
    g_autofree char *packed = g_malloc(bytes);
    typemap_pack(map, at, packed, (MPI_Count)bytes);
    typemap_unpack(map, packed, content->bytes + (at - memory->base), (MPI_Count)bytes);
  }
}

void sharing_stored(const struct rank *r, void *at, MPI_Datatype type, size_t bytes)
{
  if (bytes == 0)
    return;
  const struct typemap *map = typemap_of(type);
  const char *first = (const char *)at + map->true_low;
  for (const struct sharing *each = r->mpi->sharings; each; each = each->next) {
    const struct node_memory *memory = each->memory;
    if (memory && first >= memory->base && first < memory->base + memory->bytes)
      put_into_contents(r, memory, map, at, bytes);
  }
}

void sharing_forget(struct capture *capture)
{
  if (!capture->contents)
    return;
  for (guint i = 0; i < capture->contents->len; i++) {
    struct line_content *content = capture->contents->pdata[i];
    if (--content->images > 0)
      continue;
    g_ptr_array_remove(content->memory->contents, content);
    g_free(content->bytes);
    g_free(content);
  }
  g_ptr_array_unref(capture->contents);
  capture->contents = NULL;
  sweep();
}

/* Returns the content to which the rank's image of that checkpoint refers, or NULL if there is
 * none. */
static const struct line_content *content_in_image(int rank, const struct node_memory *memory,
                                                   uint32_t checkpoint)
{
  const GPtrArray *captures = layer.rank[rank].captures;
  for (guint i = 0; i < captures->len; i++) {
    const struct capture *capture = captures->pdata[i];
    for (guint j = 0; capture->contents && j < capture->contents->len; j++) {
      const struct line_content *content = capture->contents->pdata[j];
      if (content->memory == memory && capture->checkpoint == checkpoint)
        return content;
    }
  }
  return NULL;
}

/* Restores the content of the line from which `r` starts, if `r` is the last member to start. Other
 * members may have been captured again since their start. A memory that was made after the line has
 * no content on the line. */
static void put_back(const struct rank *r, const struct node_memory *memory)
{
  const struct line_content *content = NULL;
  if (!all_have_started(r, memory->member, memory->size))
    return;
  for (int i = 0; i < memory->size && !content; i++)
    content = content_in_image(memory->member[i], memory, shadow_rank(r->index)->line);
  if (!content)
    return;
  REQUIRE(content->bytes, "the ranks that share memory are all captured on a recovery line");
  memcpy(memory->base, content->bytes, memory->bytes);
}

static bool is_elsewhere(const struct rank *r, int partner, const struct sharing *sharing)
{
  (void)sharing;
  return !node_is_shared(r->index, partner);
}

void sharing_started(const struct rank *r)
{
  if (any_partner(r, is_elsewhere))
    die(DIE_INPUT,
        "rank %d shares memory with ranks of its node, expected restart_on with the same per_node",
        r->index);
  for (guint i = 0; memories && i < memories->len; i++)
    if (place_of(memories->pdata[i], r->index) >= 0)
      put_back(r, memories->pdata[i]);
  sharing_wake(r);
  sweep();
}

double sharing_bytes(const struct rank *r)
{
  double bytes = 0.0;
  for (const struct sharing *each = r->mpi->sharings; each; each = each->next)
    if (each->memory)
      bytes += (double)each->memory->part[place_of(each->memory, r->index)];
  return bytes;
}
