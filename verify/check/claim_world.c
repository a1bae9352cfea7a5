/* Sets up the world of a claim. */
#include "verify/check/claim.h"
#include "verify/check/claim_read.h"
#include "world/rules/properties.h"
#include "world/trace/world_of.h"

_Static_assert(1 << LIE_DROP == FAULT_DROP && 1 << LIE_DUPLICATE == FAULT_DUPLICATE &&
                   1 << LIE_EARLY_DURABLE == FAULT_EARLY_DURABLE &&
                   1 << LIE_WINDOWS_LOST == FAULT_WINDOWS_LOST &&
                   1 << LIE_LOCKS_LOST == FAULT_LOCKS_LOST,
               "the lies of a claim are the faults of the world");

void claim_world(const struct scenario *claim, const struct script *script, struct world *world)
{
  world_init(world, rcl_protocol_named(claim->protocol.name), claim->program.ranks,
             claim->protocol.capacity);
  world_of_protocol(world, claim);
  world->fifo = claim->check.order == ORDER_FIFO;
  world->closes = claim->check.connections == CONNECTIONS_CLOSE;
  world->overtaking = claim->check.order == ORDER_NONE;
  world->hazards = claim->check.hazards;
  world->per_node = claim->check.per_node;
  world->places_anywhere = claim->checkpoint.places == PLACES_ANYWHERE;
  world->check = true;
  world->bounded = true;
  world->faults = claim->check.lies;
  world->exceeds = claim->check.exceeds;
  world_of_levels(world, claim);
  world->script = script;
  struct reached least;
  claim_reach(claim, &least, NULL);
  world->line_stamps = least.most[REACH_LATE] || least.most[REACH_EARLY] ||
                       properties_need_stamps((const char *const *)claim->check.properties);
}
