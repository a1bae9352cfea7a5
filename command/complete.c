/* recline --complete WORD...: prints completions of the last word for shells, one on each line. The
 * completion "/" stands for any file. Completions come from a command's table of options and its
 * line of help. */
#include "command/complete.h"

#include <stdio.h>
#include <string.h>

#include "base/glib/catalogue.h"
#include "command/main.h"
#include "protocols/protocol.h"
#include "world/scenario/keys.h"

struct typed {
  const char *before, *last; /* the last two words; completions begin like the last one */
  /* length of what stands in `last` before the value, such as "--set=" */
  size_t skipped;
  const char *const *commands;
};

static void offer(const struct typed *typed, const char *prefix, const char *word, const char *end)
{
  const char *last = typed->last + typed->skipped;
  g_autofree char *whole = g_strconcat(prefix, word, end, NULL);
  if (g_str_has_prefix(whole, last))
    printf("%.*s%s\n", (int)typed->skipped, typed->last, whole);
}

static void offer_all(const struct typed *typed, const char *prefix, const char *const *words)
{
  for (; *words; words++)
    offer(typed, prefix, *words, "");
}

static void offer_names(const struct typed *typed, unsigned kinds)
{
  g_auto(GStrv) names = catalogue_names(kinds);
  offer_all(typed, "", (const char *const *)names);
}

static void offer_protocols(const struct typed *typed, const char *prefix)
{
  for (size_t i = 0; rcl_protocol_at(i); i++)
    offer(typed, prefix, rcl_protocol_at(i)->name, "");
}

/* Offers the keys of a scenario and, after a key, its values. */
static void offer_keys(const struct typed *typed, const struct key *keys, const char *prefix)
{
  for (; keys->name; keys++) {
    g_autofree char *path = g_strconcat(prefix, keys->name, NULL);
    g_autofree char *below = g_strconcat(path, keys->kind == KEY_LIST ? ".0." : ".", NULL);
    g_autofree char *value = g_strconcat(path, "=", NULL);
    if (keys->keys)
      offer_keys(typed, keys->keys, below);
    else if (!g_str_has_prefix(typed->last + typed->skipped, value))
      offer(typed, path, "", "=");
    else if (keys->kind == KEY_CHOICE)
      offer_all(typed, value, keys->names);
    else if (!strcmp(path, "protocol.name"))
      offer_protocols(typed, value);
  }
}

static void offer_kinds(const struct typed *typed)
{
  for (size_t i = 0; list_kind(i); i++)
    offer(typed, "", list_kind(i), "");
}

/* Offers the words that a description in --help allows: "CLAIM|SCENARIO", "none|por", "DIR". */
static void offer_words(const struct typed *typed, const char *description)
{
  g_auto(GStrv) words = g_strsplit_set(description, "|[]", -1);
  for (char **word = words; *word; word++) {
    if (g_str_has_prefix(*word, "CLAIM"))
      offer_names(typed, CATALOGUE_CLAIMS | CATALOGUE_MUTANTS | CATALOGUE_LONG);
    else if (!strcmp(*word, "SCENARIO"))
      offer_names(typed, CATALOGUE_SCENARIOS);
    else if (!strcmp(*word, "PLATFORM"))
      offer_names(typed, CATALOGUE_PLATFORMS);
    else if (!strcmp(*word, "MACHINE"))
      offer_names(typed, CATALOGUE_MACHINES);
    else if (!strcmp(*word, "PROTOCOL"))
      offer_names(typed, CATALOGUE_PROTOCOLS);
    else if (g_str_has_prefix(*word, "WHAT"))
      offer_kinds(typed);
    else if (!strcmp(*word, "COMMAND"))
      offer_all(typed, "", typed->commands);
    else if (g_str_has_prefix(*word, "KEY="))
      offer_keys(typed, scenario_keys, "");
    else if (g_str_has_prefix(*word, "PARAMETER="))
      offer_keys(typed, parameter_keys, "");
    else if (g_ascii_islower(**word))
      offer(typed, "", *word, "");
    if (g_regex_match_simple("^(SCENARIO|TRACE|PLATFORM|PROTOCOL|FILE|DIR|FOLDER)", *word, 0, 0))
      puts("/");
  }
}

/* Returns the option of that name if it takes a value; otherwise NULL. */
static const GOptionEntry *option_of(const GOptionEntry *entries, const char *word, size_t length)
{
  for (; entries->long_name; entries++) {
    bool is_short = length == 2 && word[0] == '-' && word[1] == entries->short_name;
    bool is_long = length > 2 && !strncmp(word, "--", 2) &&
                   strlen(entries->long_name) == length - 2 &&
                   !strncmp(word + 2, entries->long_name, length - 2);
    if (entries->arg_description && (is_short || is_long))
      return entries;
  }
  return NULL;
}

static void offer_options(const struct typed *typed, const GOptionEntry *entries)
{
  for (; entries->long_name; entries++)
    if (*entries->long_name)
      offer(typed, "--", entries->long_name, "");
  offer(typed, "", "--help", "");
}

static void complete(const struct about *about, const GOptionEntry *entries, void *data)
{
  struct typed *typed = data;
  size_t name = strcspn(typed->last, "=");
  const GOptionEntry *option = option_of(entries, typed->before, strlen(typed->before));
  if (!option && typed->last[name] && (option = option_of(entries, typed->last, name)))
    typed->skipped = name + 1;
  if (option)
    offer_words(typed, option->arg_description);
  else if (*typed->last == '-')
    offer_options(typed, entries);
  else
    offer_words(typed, about->words);
}

void complete_command(int count, char **words, const char *const *commands)
{
  const struct typed typed = {"", count ? words[count - 1] : "", 0, commands};
  offer_all(&typed, "", commands);
  offer(&typed, "", "--version", "");
}

void complete_words(int count, char **words, const char *const *commands,
                    int (*command)(int argc, char **argv))
{
  struct typed typed = {words[count - 2], words[count - 1], 0, commands};
  char *name[] = {words[0], NULL};
  options_show(complete, &typed);
  command(1, name);
}
