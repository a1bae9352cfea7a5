/* Synchronizes files at collective calls of the members that have them open. */
#include "sim/mpi/files/file.h"

/* Returns whether a call makes all members of its communicator wait for each other. All members get
 * the same result. */
static bool is_meeting(const struct call_site *call)
{
  return call->flow == RCL_FLOW_BARRIER || (call->flow == RCL_FLOW_ALL && call->largest > 0);
}

static bool has_member(const struct comm *comm, int rank)
{
  for (int i = 0; i < comm->size; i++)
    if (comm->member[i] == rank)
      return true;
  return false;
}

static bool has_members_of(const struct comm *comm, const struct comm *other)
{
  if (comm->size == layer.ranks || comm == other)
    return true;
  for (int i = 0; i < other->size; i++)
    if (!has_member(comm, other->member[i]))
      return false;
  return true;
}

/* Synchronizes each file whose members all make the call. Either all members of a file have it open
 * or none has, because opening and closing a file are collective calls, too. */
static void synchronize_files(struct rank *r, const struct call_site *call, bool met)
{
  if (r->mpi->files_open == 0 || !is_meeting(call))
    return;
  for (struct file *file = r->mpi->files; file; file = file->next) {
    if (file->closed || !has_members_of(call->comm, file->comm))
      continue;
    if (met)
      store_advance(&file->standing);
    else
      store_settle(&file->standing);
  }
}

void files_before_call(struct rank *r, const struct call_site *call)
{
  synchronize_files(r, call, false);
}

void files_after_call(struct rank *r, const struct call_site *call)
{
  synchronize_files(r, call, true);
}
