#include "sim/net/wire.h"

#include "sim/net/machine.h"

#include <glib.h>
#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <simgrid/version.h>
#include <stdlib.h>

enum { ENVELOPE_BYTES = 16 }; /* SMPI adds this number of bytes to every message */

/* ---- ends and lanes ---- */

struct lane {
  sg_mailbox_t mailbox;
  /* The host of the sender, if the transfer begins when the receiver takes it. NULL if the sender
   * has put it. */
  sg_host_t from;
  uint64_t bytes;    /* number of bytes of that transfer */
  struct lane *next; /* the next lane in the list of free lanes */
};

static struct lane *free_lanes;

static char *end_name(int number)
{
  return g_strdup_printf("recline-%d", number);
}

sg_mailbox_t wire_end(int number)
{
  g_autofree char *name = end_name(number);
  return sg_mailbox_by_name(name);
}

void wire_own_end(int number)
{
  g_autofree char *name = end_name(number);
  sg_mailbox_set_receiver(name);
}

struct lane *wire_lane(void)
{
  static unsigned lanes;
  struct lane *lane = free_lanes;
  if (lane) {
    free_lanes = lane->next;
    return lane;
  }
  g_autofree char *name = g_strdup_printf("recline-lane-%u", lanes++);
  lane = g_new0(struct lane, 1);
  lane->mailbox = sg_mailbox_by_name(name);
  return lane;
}

void wire_lane_free(struct lane *lane)
{
  lane->from = NULL;
  lane->next = free_lanes;
  free_lanes = lane;
}

/* ---- transfers ---- */

static long wire_bytes(uint64_t bytes)
{
  return (long)bytes + ENVELOPE_BYTES;
}

/* Puts an item without waiting. In a process of SMPI, SMPI copies the bytes that are put to the
 * receiver. Here, they are the bytes of one pointer. After a detached put, SMPI also frees these
 * bytes as if it had allocated them. So the pointer lies in memory that is allocated for it. */
static void put_detached(sg_mailbox_t mailbox, void *item, uint64_t bytes)
{
  void **parcel = malloc(sizeof *parcel);
  if (!parcel)
    abort();
  *parcel = item;
  sg_comm_detach(sg_mailbox_put_init(mailbox, parcel, wire_bytes(bytes)), NULL);
}

void wire_put(sg_mailbox_t end, void *item, uint64_t bytes)
{
  put_detached(end, item, bytes);
}

sg_comm_t wire_put_waitable(sg_mailbox_t end, void **item, uint64_t bytes)
{
  return sg_mailbox_put_async(end, item, wire_bytes(bytes));
}

static void *anything = &anything; /* the item of every lane */

/* Notes a transfer that begins when the receiver takes it. It is no put of this actor, because a
 * put would stay in a list that is searched at the end of each of the actor's transfers. That list
 * grows while receivers are far behind. Yields, so that other actors run as they do at a put. */
void wire_lane_put(struct lane *lane, uint64_t bytes)
{
  lane->from = sg_host_self();
  lane->bytes = bytes;
  sg_actor_yield();
}

sg_comm_t wire_lane_put_waitable(struct lane *lane, uint64_t bytes)
{
  return wire_put_waitable(lane->mailbox, &anything, bytes);
}

sg_comm_t wire_take(sg_mailbox_t end, void **item)
{
  return sg_mailbox_get_async(end, item);
}

sg_comm_t wire_lane_take(struct lane *lane, void **item)
{
  return lane->from ? wire_transfer(lane->from, sg_host_self(), wire_bytes(lane->bytes))
                    : wire_take(lane->mailbox, item);
}

bool wire_taken(sg_comm_t transfer, void *item)
{
  if (item)
    sg_comm_wait(transfer);
  return item != NULL;
}

bool wire_lane_taken(const struct lane *lane, sg_comm_t transfer, void *item)
{
  if (lane->from && wire_is_over(transfer))
    item = anything;
  return wire_taken(transfer, item);
}

/* ---- routes ---- */

struct route wire_route(const char *to)
{
  sg_host_t here = sg_host_self(), there = sg_host_by_name(to);
  struct route route = {.from = sg_host_get_name(here), .to = to};
  if (here != there) {
    route.latency = sg_host_get_route_latency(here, there);
    route.bandwidth = sg_host_get_route_bandwidth(here, there);
  }
  return route;
}

double wire_seconds(const struct route *route, uint64_t bytes)
{
  return (double)wire_bytes(bytes) / route->bandwidth;
}

/* ---- overheads ---- */

/* Says that a message of more than `from` bytes costs base + bytes * each seconds. Before SimGrid
 * 4, the first section also holds for smaller messages. */
struct section {
  double from, base, each;
};

/* Holds the costs of one host. */
struct costs {
  GArray *sections[WIRE_OVERHEADS]; /* struct section */
};

/* Parses "FROM:BASE:EACH;FROM:BASE:EACH;...". An omitted number is 0. */
static GArray *parse_sections(const char *text)
{
  GArray *sections = g_array_new(FALSE, FALSE, sizeof(struct section));
  g_auto(GStrv) words = g_strsplit(text, ";", -1);
  for (char **word = words; *word; word++) {
    g_auto(GStrv) numbers = g_strsplit(*word, ":", -1);
    guint count = g_strv_length(numbers);
    struct section section = {.from = count > 0 ? g_ascii_strtod(numbers[0], NULL) : 0.0,
                              .base = count > 1 ? g_ascii_strtod(numbers[1], NULL) : 0.0,
                              .each = count > 2 ? g_ascii_strtod(numbers[2], NULL) : 0.0};
    g_array_append_val(sections, section);
  }
  return sections;
}

const char *const wire_overhead_names[] = {"smpi/os", "smpi/ois", "smpi/or"};
static char *common[WIRE_OVERHEADS]; /* for hosts without overheads of their own */

void wire_begin(const char *const overhead[WIRE_OVERHEADS])
{
  for (int kind = 0; kind < WIRE_OVERHEADS; kind++)
    common[kind] = g_strdup(overhead[kind] ? overhead[kind] : "");
}

static GArray *sections_of(sg_host_t host, enum wire_overhead kind)
{
  const char *own = sg_host_get_property_value(host, wire_overhead_names[kind]);
  if (!own && !*common[kind])
    machine_assume(wire_overhead_names[kind], "0", false);
  return parse_sections(own ? own : common[kind]);
}

static struct costs *costs_of(sg_host_t host)
{
  static GHashTable *known;
  if (!known)
    known = g_hash_table_new(NULL, NULL);
  struct costs *costs = g_hash_table_lookup(known, host);
  if (!costs) {
    costs = g_new0(struct costs, 1);
    for (int i = 0; i < WIRE_OVERHEADS; i++)
      costs->sections[i] = sections_of(host, (enum wire_overhead)i);
    g_hash_table_insert(known, host, costs);
  }
  return costs;
}

/* Returns the costs of this host. Keeps the costs, because a rank that sends to all other ranks
 * needs them for each message. */
static const struct costs *costs_here(void)
{
  static sg_host_t last;
  static const struct costs *costs; /* the costs of that host */
  sg_host_t host = sg_host_self();
  if (host != last) {
    costs = costs_of(host);
    last = host;
  }
  return costs;
}

void wire_charge(enum wire_overhead kind, uint64_t bytes)
{
  const GArray *sections = costs_here()->sections[kind];
  const struct section *found = NULL;
  for (guint i = 0; i < sections->len; i++) {
    const struct section *section = &g_array_index(sections, struct section, i);
    if ((found || SIMGRID_VERSION_MAJOR >= 4) && (double)bytes <= section->from)
      break;
    found = section;
  }
  if (found)
    machine_sleep(found->base + found->each * (double)bytes);
}
