#include "prove/fields.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Names the operands of LLVM's nodes, because LLVM's C interface has no names for them. */
enum { OPERAND_NAME = 2, OPERAND_BASE = 3, OPERAND_ELEMENTS = 4, OPERAND_TYPE = 4 };

struct field {
  char *name;
  uint32_t offset, bytes; /* for an enumerator: its value, and 0 */
};

/* Describes a struct or an enumeration. */
struct field_type {
  char *name;
  bool counts; /* the type is an enumeration */
  uint32_t bytes;
  GArray *fields; /* struct field */
};

/* Describes entries of one type that follow one another in a state. */
struct field_piece {
  const char *name; /* name of the piece, or NULL for the struct at the beginning */
  const struct field_type *type;
  uint32_t offset, room;
};

/* Holds the search through a module. */
struct finding {
  struct fields *f;
  LLVMContextRef context;
  GHashTable *seen;    /* set of the nodes that were visited: LLVMMetadataRef */
  GQueue *work;        /* LLVMValueRef of nodes that are yet to be visited */
  GHashTable *returns; /* name of a function -> name of the struct that it returns a pointer to */
};

/* ---- nodes ---- */

static LLVMMetadataKind kind_of(LLVMValueRef node)
{
  return LLVMGetMetadataKind(LLVMValueAsMetadata(node));
}

static bool is_node(LLVMValueRef v)
{
  LLVMMetadataKind kind = v ? kind_of(v) : LLVMMDStringMetadataKind;
  return kind == LLVMMDTupleMetadataKind ||
         (kind >= LLVMDILocationMetadataKind && kind != LLVMDIExpressionMetadataKind &&
          kind != LLVMDIArgListMetadataKind);
}

/* Returns the operands of a node. The caller frees them with g_free(). */
static LLVMValueRef *operands_of(LLVMValueRef node, unsigned *count)
{
  *count = LLVMGetMDNodeNumOperands(node);
  LLVMValueRef *all = g_new0(LLVMValueRef, *count + 1);
  LLVMGetMDNodeOperands(node, all);
  return all;
}

static LLVMValueRef operand(LLVMValueRef node, unsigned place)
{
  unsigned count;
  g_autofree LLVMValueRef *all = node && is_node(node) ? operands_of(node, &count) : NULL;
  return all && place < count ? all[place] : NULL;
}

/* Returns the name of a node, or NULL. The caller frees it with g_free(). */
static char *name_of(LLVMValueRef node)
{
  LLVMValueRef name = operand(node, OPERAND_NAME);
  unsigned length;
  if (!name || kind_of(name) != LLVMMDStringMetadataKind)
    return NULL;
  const char *text = LLVMGetMDString(name, &length);
  return g_strndup(text, length);
}

/* ---- types ---- */

/* Reads the value of an enumerator from its text, as LLVM's C interface has no function for it. */
static uint32_t value_of(LLVMValueRef enumerator)
{
  char *text = LLVMPrintValueToString(enumerator);
  const char *at = strstr(text, "value: ");
  uint32_t value = at ? (uint32_t)strtoul(at + strlen("value: "), NULL, 10) : 0;
  LLVMDisposeMessage(text);
  return value;
}

static struct field read_field(LLVMValueRef node, bool counts)
{
  struct field field = {.name = name_of(node)};
  if (counts) {
    unsigned length;
    LLVMValueRef name = operand(node, 0);
    g_free(field.name);
    field =
        (struct field){.name = g_strdup(LLVMGetMDString(name, &length)), .offset = value_of(node)};
  } else {
    LLVMMetadataRef type = LLVMValueAsMetadata(node);
    field.offset = (uint32_t)LLVMDITypeGetOffsetInBits(type) / 8;
    field.bytes = (uint32_t)LLVMDITypeGetSizeInBits(type) / 8;
  }
  return field;
}

static void add_type(struct finding *s, LLVMValueRef node)
{
  unsigned count = 0;
  LLVMValueRef elements = operand(node, OPERAND_ELEMENTS);
  g_autofree char *name = name_of(node);
  g_autofree LLVMValueRef *all =
      elements && is_node(elements) ? operands_of(elements, &count) : NULL;
  if (!name || !all || !count || !all[0])
    return;
  struct field_type *type = g_new0(struct field_type, 1);
  type->name = g_steal_pointer(&name);
  type->counts = kind_of(all[0]) == LLVMDIEnumeratorMetadataKind;
  type->bytes = (uint32_t)LLVMDITypeGetSizeInBits(LLVMValueAsMetadata(node)) / 8;
  type->fields = g_array_new(FALSE, FALSE, sizeof(struct field));
  for (unsigned i = 0; i < count; i++) {
    LLVMMetadataKind kind = kind_of(all[i]);
    if (kind != LLVMDIEnumeratorMetadataKind && kind != LLVMDIDerivedTypeMetadataKind)
      continue;
    struct field field = read_field(all[i], type->counts);
    g_array_append_val(type->fields, field);
  }
  g_ptr_array_add(s->f->types, type);
}

/* Notes the struct to which a function returns a pointer. */
static void add_function(struct finding *s, LLVMValueRef node)
{
  LLVMValueRef types = operand(operand(node, OPERAND_TYPE), OPERAND_BASE),
               returned = operand(operand(types, 0), OPERAND_BASE);
  char *name = name_of(node), *type = returned && is_node(returned) ? name_of(returned) : NULL;
  if (name && type)
    g_hash_table_insert(s->returns, name, type);
}

static void add_node(struct finding *s, LLVMValueRef node)
{
  if (is_node(node) && g_hash_table_add(s->seen, LLVMValueAsMetadata(node)))
    g_queue_push_tail(s->work, node);
}

static void add_metadata(struct finding *s, LLVMMetadataRef node)
{
  if (node)
    add_node(s, LLVMMetadataAsValue(s->context, node));
}

/* Visits all nodes to which functions and their instructions lead. */
static void walk(struct finding *s, LLVMModuleRef module)
{
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    add_metadata(s, LLVMGetSubprogram(f));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
        add_metadata(s, LLVMInstructionGetDebugLoc(v));
  }
  for (LLVMValueRef node; (node = g_queue_pop_head(s->work));) {
    unsigned count;
    g_autofree LLVMValueRef *all = operands_of(node, &count);
    if (kind_of(node) == LLVMDICompositeTypeMetadataKind)
      add_type(s, node);
    else if (kind_of(node) == LLVMDISubprogramMetadataKind)
      add_function(s, node);
    for (unsigned i = 0; i < count; i++)
      if (all[i])
        add_node(s, all[i]);
  }
}

/* ---- a state ---- */

static const struct field_type *type_named(const struct fields *f, const char *name, bool counts)
{
  for (guint i = 0; name && i < f->types->len; i++) {
    const struct field_type *type = f->types->pdata[i];
    if (type->counts == counts && g_str_equal(type->name, name))
      return type;
  }
  return NULL;
}

static void add_piece(struct fields *f, const char *name, const struct field_type *type,
                      uint32_t offset, uint32_t room)
{
  const struct field_piece piece = {name, type, offset, room};
  if (type && type->bytes)
    g_array_append_val(f->pieces, piece);
}

/* Describes a search for the pieces of a state of zeroes. They have the same places in all
 * states. */
struct placing {
  struct finding *s;
  struct rank_world *w;
};

static void place(void *ctx, struct path *p)
{
  const struct placing *g = ctx;
  struct fields *f = g->s->f;
  if (f->pieces->len)
    return; /* this write belongs to another path */
  const struct field_type *state = type_named(f, "state", false),
                          *offsets = type_named(f, "offsets", false);
  add_piece(f, NULL, state, 0, state ? state->bytes : 0);
  for (uint32_t k = 1; offsets && !*p->fault && k < p->result.bits && k <= offsets->fields->len;
       k++) {
    uint32_t at = k * (uint32_t)sizeof(struct rcl_piece);
    const char *name = g_array_index(offsets->fields, struct field, k - 1).name;
    struct value offset = path_peek(&g->w->x, p, g->w->pieces, at, 4),
                 room = path_peek(&g->w->x, p, g->w->pieces,
                                  at + (uint32_t)offsetof(struct rcl_piece, room), 4);
    add_piece(f, name, type_named(f, g_hash_table_lookup(g->s->returns, name), false),
              (uint32_t)offset.bits, (uint32_t)room.bits);
  }
}

void fields_init(struct fields *f, struct rank_world *w)
{
  *f = (struct fields){g_ptr_array_new(), g_array_new(FALSE, FALSE, sizeof(struct field_piece))};
  struct finding s = {f, LLVMGetModuleContext(w->x.module), g_hash_table_new(NULL, NULL),
                      g_queue_new(),
                      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
  walk(&s, w->x.module);
  const struct value args[] = {w->protocol, value_pointer(w->config, 0), value_pointer(w->state, 0),
                               value_pointer(w->pieces, 0)};
  struct placing g = {&s, w};
  executor_run(&w->x, rank_path(w, "prove_in_use", args, 4), place, &g);
  g_hash_table_destroy(s.seen);
  g_hash_table_destroy(s.returns);
  g_queue_free(s.work);
}

void fields_clear(struct fields *f)
{
  for (guint i = 0; i < f->types->len; i++) {
    struct field_type *type = f->types->pdata[i];
    for (guint k = 0; k < type->fields->len; k++)
      g_free(g_array_index(type->fields, struct field, k).name);
    g_array_free(type->fields, TRUE);
    g_free(type->name);
    g_free(type);
  }
  g_ptr_array_free(f->types, TRUE);
  g_array_free(f->pieces, TRUE);
}

/* ---- printing ---- */

static void print_value(const struct fields *f, const char *name, uint32_t value, GString *out)
{
  const struct field_type *words = type_named(f, name, true);
  for (guint i = 0; words && i < words->fields->len; i++) {
    const struct field *word = &g_array_index(words->fields, struct field, i);
    if (word->offset == value) {
      g_string_append_printf(out, "=%s", word->name);
      return;
    }
  }
  g_string_append_printf(out, "=%u", value);
}

static uint32_t cut(uint32_t word, uint32_t at, uint32_t bytes)
{
  return bytes < 4 ? word >> 8 * at & ((1u << 8 * bytes) - 1) : word;
}

static void print_entry(const struct fields *f, const struct field_piece *piece, uint32_t at,
                        uint32_t word, const uint32_t *was, GString *out)
{
  uint32_t entry = (at - piece->offset) / piece->type->bytes,
           from = (at - piece->offset) % piece->type->bytes;
  for (guint i = 0; i < piece->type->fields->len; i++) {
    const struct field *field = &g_array_index(piece->type->fields, struct field, i);
    if (field->offset < from || field->offset >= from + 4)
      continue;
    uint32_t value = cut(word, field->offset - from, field->bytes),
             old = was ? cut(*was, field->offset - from, field->bytes) : 0;
    if (value == old)
      continue;
    if (piece->name)
      g_string_append_printf(out, " %s[%u].%s", piece->name, entry, field->name);
    else
      g_string_append_printf(out, " %s", field->name);
    print_value(f, field->name, value, out);
  }
}

void fields_print(const struct fields *f, uint32_t at, uint32_t word, const uint32_t *was,
                  GString *out)
{
  for (guint i = 0; i < f->pieces->len; i++) {
    const struct field_piece *piece = &g_array_index(f->pieces, struct field_piece, i);
    if (at < piece->offset || at >= piece->offset + piece->room)
      continue;
    print_entry(f, piece, at, word, was, out);
    return;
  }
  if (word != (was ? *was : 0))
    g_string_append_printf(out, " @%u=%u", at, word);
}
