/* Moves particles between the cells of a ring, in the manner of CoMD and miniMD. Messages have
 * unknown lengths, found by Probe and Get_count, and come into memory that is allocated and freed
 * all the time. Every particle knows where it began and how fast it is, so its expected position
 * can be computed. `particles [STEPS]` uses a struct as datatype, rand() on each rank, setjmp,
 * realloc and MPI_Sendrecv of sizes. */
#include "suite.h"

#include <mpi.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>

enum { WIDTH = 1000, EACH = 60, LEFT = 1, RIGHT = 2 };

struct particle {
  double weight;
  int id, start, speed, place;
};

struct list {
  struct particle *item;
  int count, room;
};

static int me, ranks, left, right;
static MPI_Datatype particle_type;
static jmp_buf full;

static void make_type(void)
{
  int lengths[2] = {1, 4};
  MPI_Aint offsets[2] = {offsetof(struct particle, weight), offsetof(struct particle, id)};
  MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT}, type;
  MPI_Type_create_struct(2, lengths, offsets, parts, &type);
  MPI_Type_create_resized(type, 0, sizeof(struct particle), &particle_type);
  MPI_Type_commit(&particle_type);
  MPI_Type_free(&type);
}

/* Leaves by longjmp when there is no room. The caller then makes room and tries again. */
static void add(struct list *list, const struct particle *p)
{
  if (list->count == list->room)
    longjmp(full, 1);
  list->item[list->count++] = *p;
}

static void add_with_room(struct list *volatile list, const struct particle *volatile p)
{
  if (setjmp(full)) {
    list->room = list->room ? 2 * list->room : 4;
    list->item = realloc(list->item, (size_t)list->room * sizeof *list->item);
  }
  add(list, p);
}

static struct particle drawn(int id)
{
  struct particle p = {.id = id};
  p.start = p.place = me * WIDTH + rand() % WIDTH;
  p.speed = rand() % (2 * WIDTH - 1) - (WIDTH - 1);
  p.weight = rand() % 1000 / 8.0;
  return p;
}

static void receive(struct list *all, int from, int tag)
{
  MPI_Status status;
  int count;
  MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, particle_type, &count);
  struct particle *some = malloc((size_t)(count ? count : 1) * sizeof *some);
  MPI_Recv(some, count, particle_type, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; i++)
    add_with_room(all, &some[i]);
  free(some);
}

static void step(struct list *all)
{
  struct list out[2] = {{0}, {0}};
  MPI_Request request[2];
  int kept = 0, whole = ranks * WIDTH;
  for (int i = 0; i < all->count; i++) {
    struct particle *p = &all->item[i];
    int cell = (p->place + p->speed + whole) / WIDTH - ranks;
    p->place = (p->place + p->speed + whole) % whole;
    if (cell == me)
      all->item[kept++] = *p;
    else
      add_with_room(&out[cell > me], p);
  }
  all->count = kept;
  MPI_Isend(out[0].item, out[0].count, particle_type, left, LEFT, MPI_COMM_WORLD, &request[0]);
  MPI_Isend(out[1].item, out[1].count, particle_type, right, RIGHT, MPI_COMM_WORLD, &request[1]);
  receive(all, right, LEFT);
  receive(all, left, RIGHT);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  free(out[0].item);
  free(out[1].item);
}

/* Returns the number of errors. Each particle must be at its expected position, and none may be
 * lost or doubled. */
static long check(const struct list *all, int steps)
{
  long wrong = 0, whole = (long)ranks * WIDTH;
  struct {
    double weight;
    long ids, count;
  } now = {0}, then = {0};
  for (int i = 0; i < all->count; i++) {
    const struct particle *p = &all->item[i];
    long place = ((p->start + (long)steps * p->speed) % whole + whole) % whole;
    wrong += p->place != place || p->place / WIDTH != me;
    now.weight += p->weight;
    now.ids += (long)(suite_hash((uint64_t)p->id) >> 20);
    now.count++;
  }
  srand(me + 1u);
  for (int i = 0; i < EACH; i++) {
    struct particle p = drawn(me * EACH + i);
    then.weight += p.weight;
    then.ids += (long)(suite_hash((uint64_t)p.id) >> 20);
    then.count++;
  }
  MPI_Allreduce(MPI_IN_PLACE, &now.weight, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &then.weight, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &now.ids, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &then.ids, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  /* weights are multiples of an eighth, so their sums are exact */
  return wrong + (now.weight != then.weight) + (now.ids != then.ids) + (now.count != then.count);
}

int main(int argc, char **argv)
{
  struct list all = {0};
  MPI_Init(&argc, &argv);
  int steps = argc > 1 ? atoi(argv[1]) : 40, most = 0, here, there;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = (me + ranks - 1) % ranks;
  right = (me + 1) % ranks;
  make_type();
  srand(me + 1u);
  for (int i = 0; i < EACH; i++) {
    struct particle p = drawn(me * EACH + i);
    add_with_room(&all, &p);
    if (i % 16 == 0)
      MPI_Barrier(MPI_COMM_WORLD); /* the other ranks also draw random numbers */
  }
  for (int s = 0; s < steps; s++) {
    step(&all);
    here = all.count;
    MPI_Sendrecv(&here, 1, MPI_INT, right, 3, &there, 1, MPI_INT, left, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    most = there > most ? there : most;
  }
  long wrong = check(&all, steps) + (most < 1);
  free(all.item);
  MPI_Type_free(&particle_type);
  int status = suite_verdict("particles", wrong);
  MPI_Finalize();
  return status;
}
