/* Declares what the files of the document share. */
#ifndef RECLINE_DOCUMENT_INSIDE_H
#define RECLINE_DOCUMENT_INSIDE_H

#include <string.h>

#include "world/scenario/document.h"

/* Sets `error` to "file:line: path: text". If `set`, the message names --set. */
void document_fail(GError **error, const char *file, int line, bool set, const char *path,
                   const char *text);

/* These functions make nodes and put them together. They end the program if there is no memory.
 * Adding a node can move other nodes, so only numbers of nodes stay valid. */
void document_empty(yaml_document_t *);
int document_scalar(yaml_document_t *, const char *text, yaml_scalar_style_t);
int document_collection(yaml_document_t *, bool sequence, bool flow);
void document_append_item(yaml_document_t *, int sequence, int item);
void document_append_pair(yaml_document_t *, int mapping, int key, int value);

static inline int line_of(const yaml_node_t *node)
{
  return (int)node->start_mark.line + 1;
}

static inline const char *text_of(const yaml_node_t *node)
{
  return (const char *)node->data.scalar.value;
}

static inline unsigned pairs_of(const yaml_node_t *mapping)
{
  return (unsigned)(mapping->data.mapping.pairs.top - mapping->data.mapping.pairs.start);
}

static inline unsigned items_of(const yaml_node_t *sequence)
{
  return (unsigned)(sequence->data.sequence.items.top - sequence->data.sequence.items.start);
}

static inline bool is_key(yaml_document_t *yaml, const yaml_node_pair_t *pair, const char *key)
{
  yaml_node_t *node = yaml_document_get_node(yaml, pair->key);
  return node->type == YAML_SCALAR_NODE && !strcmp(text_of(node), key);
}

static inline yaml_node_pair_t *pair_named(yaml_document_t *yaml, yaml_node_t *mapping,
                                           const char *key)
{
  for (unsigned i = 0; i < pairs_of(mapping); i++)
    if (is_key(yaml, &mapping->data.mapping.pairs.start[i], key))
      return &mapping->data.mapping.pairs.start[i];
  return NULL;
}

#endif
