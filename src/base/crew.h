/*
 * Threads that do numbered jobs while their owner goes on with something else. The owner puts jobs, and later asks for
 * each to be over: what nobody has begun by then it does itself, and while another thread is at it, it does other jobs.
 */
#ifndef TW_BASE_CREW_H
#define TW_BASE_CREW_H

#include "base/error.h"

#include <stdint.h>

enum { TW_CREW_JOBS = 64 /* numbers of jobs: 0 .. 63 */, TW_CREW_MAX = 64 /* threads, the owner included */ };

struct tw_crew;

/* Does a job. It must not call any of these functions. */
typedef void tw_crew_job(void *arg, unsigned number);

/*
 * threads counts the owner, 2 .. TW_CREW_MAX. Fails with TW_E_LIMIT for others, and TW_E_MEMORY when they cannot be
 * had. The owner may be another thread later, but never two at once.
 */
int tw_crew_create(unsigned threads, tw_crew_job *job, void *arg, struct tw_crew **crew, struct tw_error *err);
/* All jobs that were put must be over. NULL is nothing. */
void tw_crew_destroy(struct tw_crew *crew);
/* Puts a job, which must be new or over; those that are due first are begun first. */
void tw_crew_put(struct tw_crew *crew, unsigned number, uint64_t due);
/* Whether a job that was put is over; its owner then sees all that it did. */
int tw_crew_is_over(const struct tw_crew *crew, unsigned number);
/* Returns when a job that was put is over. */
void tw_crew_finish(struct tw_crew *crew, unsigned number);

#endif
