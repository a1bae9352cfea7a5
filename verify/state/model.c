#include "verify/state/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/breach.h"
#include "base/memory.h"
#include "world/rules/properties.h"

/* ---- components ---- */

static void make_components(struct model *m)
{
  const struct world *world = m->world;
  m->components = world_components(world);
  m->component = memory_table(m->components, sizeof *m->component);
  m->first = memory_grow(NULL, m->components * sizeof *m->first);
  m->component_of = memory_grow(NULL, m->rules_cache.count * sizeof *m->component_of);
  m->place_of = memory_grow(NULL, m->rules_cache.count * sizeof *m->place_of);
  for (uint32_t part = 0; part < m->rules_cache.count; part++) {
    struct component *c = &m->component[world_component(world, part)];
    m->component_of[part] = (uint32_t)(c - m->component);
    m->place_of[part] = c->count;
    c->parts = memory_grow(c->parts, (c->count + 1) * sizeof *c->parts);
    c->parts[c->count++] = part;
  }
}

static void load_component(struct model *m, const struct component *c, uint32_t number)
{
  REQUIRE(number < c->values.count, "a component has a value with that number");
  const uint32_t *values = c->values.item[number + 1].bytes;
  for (uint32_t i = 0; i < c->count; i++)
    m->rules_cache.values[c->parts[i]] = values[i];
}

void model_load_numbers(struct model *m, const uint32_t *numbers)
{
  m->loaded = NULL;
  for (uint32_t i = 0; i < m->components; i++)
    load_component(m, &m->component[i], numbers[i]);
}

void model_load(struct model *m, const struct position *at)
{
  if (m->loaded == at && m->loaded_serial == at->serial)
    return;
  model_load_numbers(m, at->numbers);
  m->loaded = at;
  m->loaded_serial = at->serial;
}

void model_show(struct model *m, const struct position *at)
{
  model_load(m, at);
  transition_cache_forget_reads(&m->rules_cache);
}

uint64_t model_digest(struct model *m, uint32_t component, uint32_t number)
{
  const struct component *c = &m->component[component];
  uint64_t digest = 0;
  m->loaded = NULL;
  load_component(m, c, number);
  for (uint32_t i = 0; i < c->count; i++)
    digest += world_digest_part(m->world, c->parts[i]);
  transition_cache_forget_reads(&m->rules_cache);
  return digest;
}

uint64_t model_digest_value(struct model *m, uint32_t part, uint32_t value)
{
  m->loaded = NULL;
  m->rules_cache.values[part] = value;
  uint64_t digest = world_digest_part(m->world, part);
  transition_cache_forget_reads(&m->rules_cache);
  return digest;
}

void model_store_numbers(struct model *m, uint32_t *numbers)
{
  for (uint32_t i = 0; i < m->components; i++) {
    struct component *c = &m->component[i];
    uint32_t values[c->count];
    for (uint32_t j = 0; j < c->count; j++)
      values[j] = m->rules_cache.values[c->parts[j]];
    numbers[i] = intern(&c->values, values, c->count * (uint32_t)sizeof *values) - 1;
  }
}

/* ---- packing ---- */

static uint8_t bits_for(uint32_t values)
{
  uint8_t bits = 0;
  while (bits < 32 && (values - 1) >> bits)
    bits++;
  return bits;
}

/* Makes a packing in which all values fit. A field that must grow gets one bit to spare, because
 * more values are likely to come. */
void model_make_packing(struct model *m)
{
  uint8_t bits[m->components];
  for (uint32_t i = 0; i < m->components; i++) {
    struct component *c = &m->component[i];
    uint8_t need = bits_for(c->values.count);
    if (need > c->bits)
      c->bits = (uint8_t)(need + (need < 32));
    bits[i] = c->bits;
  }
  m->packing = packing_new(bits, m->components);
  if (!m->packing)
    breach("a state does not fit into the largest layout");
  m->packings = memory_grow(m->packings, (m->packings_count + 1) * sizeof *m->packings);
  m->packings[m->packings_count++] = m->packing;
}

bool model_outgrown(const struct model *m)
{
  for (uint32_t i = 0; i < m->components; i++)
    if (bits_for(m->component[i].values.count) > m->component[i].bits)
      return true;
  return false;
}

/* ---- properties ---- */

bool model_checks(const struct model *m, const char *property)
{
  const char *const *names = m->options->properties ? m->options->properties : properties_default;
  return properties_judge(names, property);
}

bool model_needs_cycles(const struct model *m)
{
  return model_checks(m, "progress") && !m->options->max_cycles;
}

bool model_violates(const struct model *m, struct verdict *verdict)
{
  if (verdict->kind == VERDICT_GAVE_UP) {
    verdict->kind = VERDICT_VIOLATION;
    verdict->property = "recovers";
    char why[sizeof verdict->text];
    memcpy(why, verdict->text, sizeof why);
    snprintf(verdict->text, sizeof verdict->text, "the protocol gives up: %.160s", why);
  }
  return verdict->kind == VERDICT_VIOLATION &&
         (verdict->refused || model_checks(m, verdict->property));
}

/* ---- beginning and end ---- */

void model_init(struct model *m, struct world *world, const struct explorer_options *options,
                unsigned crashes, unsigned timers)
{
  *m = (struct model){.world = world, .options = options};
  /* Only the chosen properties are judged. Otherwise a violation of another property could hide a
   * violation of a chosen property in the same step. */
  world->properties = options->properties ? options->properties : properties_default;
  world->merges = options->audit ? world_merges_new() : NULL;
  world->blind = options->blind;
  m->judges_end = world_judges_end(world);
  m->judges_line = world->protocol->line && model_checks(m, "line-invariant");
  m->rules = platform_lock_new();
  world_guard(world, options->audit);
  transition_cache_init(&m->rules_cache, world, crashes, timers);
  m->rules_cache.audit = options->audit;
  for (unsigned i = 0; i < options->from_count; i++) {
    uint32_t move = intern(&m->rules_cache.moves, &options->from[i], sizeof *options->from);
    transition_cache_apply(&m->rules_cache, transition_cache_step(&m->rules_cache, move));
  }
  make_components(m);
  model_store_numbers(m, m->first); /* the moves taken after world_begin() */
}

void model_clear(struct model *m)
{
  for (uint32_t i = 0; i < m->components; i++) {
    free(m->component[i].parts);
    intern_clear(&m->component[i].values);
  }
  for (uint32_t i = 0; i < m->packings_count; i++)
    free(m->packings[i]);
  free(m->packings);
  free(m->component);
  free(m->component_of);
  free(m->place_of);
  free(m->first);
  transition_cache_clear(&m->rules_cache);
  world_merges_free(m->world->merges);
  m->world->merges = NULL;
  world_unguard(m->world);
  platform_lock_free(m->rules);
}

uint64_t model_bytes(const struct model *m)
{
  uint64_t bytes = transition_cache_bytes(&m->rules_cache);
  for (uint32_t i = 0; i < m->components; i++)
    bytes += intern_bytes(&m->component[i].values);
  return bytes;
}
