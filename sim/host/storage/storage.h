/* Keeps the checkpoints of a rank: images in memory, parts on simulated disks, payloads in slots.
 */
#ifndef RECLINE_STORAGE_H
#define RECLINE_STORAGE_H

#include "sim/host/rank/rank.h"

void storage_begin(struct rank *);

/* The next functions fill, empty and find slots. */
void storage_keep(struct rank *, uint32_t slot, const struct message *, bool waiting, bool sent);
void storage_forget(struct rank *, uint32_t slot);
/* notes that a receive has the payload, so that the slot waits no longer */
void storage_delivered(struct rank *, struct slot *);
struct slot *storage_slot(const struct rank *, uint32_t slot);
/* Returns the slot that was filled first among the slots that wait for a receive with this
 * envelope, or NULL if there is none. */
const struct slot *storage_waiting(const struct rank *, int peer, int tag, int comm);

/* Keeps a captured image, and takes ownership of it. The image is one of memory or, at the
 * application level, one of protected data; the other argument is NULL. */
void storage_captured(struct rank *, uint32_t checkpoint, struct image *, struct saved *);
const struct capture *storage_capture(const struct rank *, uint32_t checkpoint);

/* Returns the size in bytes for which the image of the rank counts. The scenario gives it, or the
 * program gave it before the capture (recline_image_bytes), or it was measured. */
double storage_image_bytes(const struct rank *, uint32_t checkpoint);

/* Returns the same for an image that is about to be captured. Its size is not measured yet, so the
 * size of the last image is taken. */
double storage_next_bytes(const struct rank *);

/* Returns the number of bytes that the next capture copies in memory. At the beginning of an
 * iteration these are the bytes that an iteration changes, if the program has given them
 * (storage_copies_iteration()); the rest is copied when the image is stored. */
double storage_next_copy(const struct rank *);
bool storage_copies_iteration(const struct rank *);
double storage_rest(const struct rank *, uint32_t checkpoint);

/* Carries out an action STORE. Writes in the background, one part after the other, and tells the
 * dispatcher when a write ends. The log of an independent protocol is written at the same time as
 * images, to the event logger on the service host. */
void storage_store(struct rank *, const struct rcl_action *);

/* Returns whether the program has to wait for a write: checkpoint.writes says that programs wait
 * for writes, and the rank has not heard yet that all its parts are stored. No rank waits for logs
 * of independent protocols. */
bool storage_is_awaited(const struct rank *);

/* Returns whether that part of `rank` is being written, or waits for its turn. */
bool storage_has_begun(int rank, uint32_t checkpoint, enum rcl_part);

/* Returns whether a part of any rank, or a commit, is being written. */
bool storage_is_writing(void);

void storage_commit(uint32_t checkpoint);
void storage_durable(struct rank *, uint32_t checkpoint, enum rcl_part);
void storage_erase(struct rank *, uint32_t checkpoint);

/* Calls `visit`, for another run, for each payload that the rank's protocol holds in that stored
 * checkpoint, in the order in which payloads were kept. `visit` also gets the part with which the
 * payload was stored. */
void storage_each_payload(const struct rank *, uint32_t checkpoint,
                          void (*visit)(void *data, enum rcl_part, uint32_t number,
                                        const struct slot *),
                          void *data);

/* In a run that goes on from the checkpoint, storage_adopt() adds a part and its image, and takes
 * ownership of the image. storage_adopt_payload() adds a payload of that part; payloads come in the
 * order in which they were kept. */
void storage_adopt(struct rank *, uint32_t checkpoint, enum rcl_part, struct saved *);
void storage_adopt_payload(struct rank *, uint32_t number, const struct slot *);

/* Ends all writes under way for good. What the world counts as stored stays on storage. */
void storage_cut(struct rank *);

/* Puts slots, records and unexpected messages back to what belongs to `checkpoint`. The caller
 * handles its image. */
void storage_return_to(struct rank *, uint32_t checkpoint);

/* Does the same for independent protocols. Slots stay as they are unless the rank has `died`,
 * because a living rank still has its slots in memory. */
void storage_set_back(struct rank *, uint32_t checkpoint, bool died);

/* Makes the rank read its image of a checkpoint. Returns false if the wait was interrupted. */
bool storage_read(struct rank *, uint32_t checkpoint);

/* Does the same for `bytes` bytes of images of other ranks. */
bool storage_read_bytes(struct rank *, uint32_t checkpoint, double bytes);
void storage_interrupt_read(struct rank *);

/* Notes that the server has lost its data, so that event logs must be written from their beginning
 * again. */
void storage_lose_server(void);

/* Begins the server's transfers under way anew, because the server has failed. */
void storage_begin_anew(void);

#endif
