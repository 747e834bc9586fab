// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: strict mode: contexts, from their opening to the end of the program.
 */
#define _GNU_SOURCE
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strict.h"

/* Octets of sinks that a context keeps, at most. */
#define POISON_MOST	(256UL << 20)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(contexts);
static pid_t opener;	/* the last process that has opened a device */

/* A program with more rights than its user does not obey the environment. */
static void read_environment(void)
{
	const char *value = secure_getenv("KWARP_STRICT_ABORT");

	kwarp_strict_parse(&kwarp_strict_set, secure_getenv("KWARP_STRICT"));
	if (value && *value && *value != '0')
		kwarp_strict_set.abort = true;
}

struct kwarp_strict *kwarp_strict_open(struct kwarp_context *ctx)
{
	const struct kwarp_strict_set *set = &kwarp_strict_set;
	struct kwarp_strict *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ctx = ctx;
	s->rules = set->given ? set->rules : STRICT_ALL;
	if ((kwarp_strict_on(s, STRICT_MEMORY_CHANGED) || kwarp_strict_on(s, STRICT_POISON)) &&
	    !kwarp_strict_reaches_memory())
		fprintf(stderr, "kwarp: %s: strict mode cannot read memory (process_vm_readv: %s): poison is off, and memory-changed only finds regions that are deregistered\n",
			ctx->ibv_ctx.context.device->name, strerror(errno));
	s->seed = set->seed;
	s->poison_left = POISON_MOST;
	pthread_mutex_init(&s->lock, NULL);
	list_head_init(&s->queues);
	list_head_init(&s->regions);
	pthread_mutex_lock(&contexts_lock);
	list_add_tail(&contexts, &s->node);
	opener = getpid();
	pthread_mutex_unlock(&contexts_lock);
	ctx->strict = s;
	return s;
}

/**
 * kwarp_strict_init() - give a new context the operations of strict mode, if it is on
 * @ctx: context, which has its ordinary operations
 *
 * The environment wins over the link's knob: a program may ask for some rules, or for none.
 */
void kwarp_strict_init(struct kwarp_context *ctx)
{
	const struct kwarp_strict_set *set = &kwarp_strict_set;

	pthread_once(&once, read_environment);
	if (set->given ? !set->rules : !(ctx->features & KWARP_FEATURE_STRICT))
		return;
	if (kwarp_strict_open(ctx))
		verbs_set_ops(&ctx->ibv_ctx, &kwarp_strict_ops);
	else
		fprintf(stderr, "kwarp: %s: no memory for strict mode\n",
			ctx->ibv_ctx.context.device->name);
}

void kwarp_strict_close(struct kwarp_context *ctx)
{
	struct kwarp_strict_region *region, *next;
	struct kwarp_strict *s = ctx->strict;

	if (!s)
		return;
	pthread_mutex_lock(&contexts_lock);
	list_del_from(&contexts, &s->node);
	pthread_mutex_unlock(&contexts_lock);
	list_for_each_safe(&s->regions, region, next, node)
		free(region);
	pthread_mutex_destroy(&s->lock);
	free(s);
	ctx->strict = NULL;
}

/* What is only known at the end.  A thread that still holds a lock is not waited for. */
static void say_last(struct kwarp_strict *s)
{
	struct kwarp_strict_queue *q;

	if (pthread_mutex_trylock(&s->lock))
		return;
	list_for_each(&s->queues, q, node)
		kwarp_strict_say_refused(q, "exit");
	pthread_mutex_unlock(&s->lock);
}

/* The program ends.  A child that fork() has made has nothing to say. */
static void __attribute__((destructor)) say_at_end(void)
{
	struct kwarp_strict *s;

	if (opener != getpid())
		return;
	if (!pthread_mutex_trylock(&contexts_lock)) {
		list_for_each(&contexts, s, node)
			say_last(s);
		pthread_mutex_unlock(&contexts_lock);
	}
	kwarp_strict_say_sum();
}
