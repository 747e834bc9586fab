// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmpi: an MPI program that checks all of its data: messages from small to large in a ring of
 * ranks, sums over all ranks, a window in which each rank puts and gets data, and a window with
 * words to which all ranks add.
 *
 *	mpirun -n N kwmpi [rounds [messages]]
 *
 * The program does all of this so many times (rounds: 2 if not given). With the second argument
 * there are no windows.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEN	(1 << 20)
#define WORDS	1000
#define DRAWS	20

static int rank, ranks;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "kwmpi rank %d: FAILED: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint8_t octet(int from, int round, int i)
{
	return from * 31 + round * 7 + i * 13 + (i >> 8);
}

static void fill(uint8_t *buf, int len, int from, int round)
{
	for (int i = 0; i < len; i++)
		buf[i] = octet(from, round, i);
}

static int good(const uint8_t *buf, int len, int from, int round)
{
	for (int i = 0; i < len; i++)
		if (buf[i] != octet(from, round, i))
			return 0;
	return 1;
}

/*
 * Send messages of 1, 4, 16, ... octets to the next rank, and receive the same number from the
 * previous rank.
 */
static void ring(uint8_t *out, uint8_t *in, int round)
{
	int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
	MPI_Status status;
	int n;

	for (int len = 1; len <= MAX_LEN; len *= 4) {
		fill(out, len, rank, round);
		memset(in, 0, len);
		MPI_Sendrecv(out, len, MPI_BYTE, right, len, in, len, MPI_BYTE, left, len,
			     MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &n);
		must(n == len && good(in, len, left, round), "a message to the right");
	}
}

static void sums(int round)
{
	static int64_t mine[4096], all[4096];

	for (int i = 0; i < 4096; i++)
		mine[i] = (int64_t)(rank + 1) * (i + round);
	MPI_Allreduce(mine, all, 4096, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < 4096; i++)
		must(all[i] == (int64_t)ranks * (ranks + 1) / 2 * (i + round), "a sum");
}

/*
 * Put data into this rank's part of each rank's window, check what all ranks have put into this
 * rank's window, and get this rank's data back from the next rank's window. On one machine Open MPI
 * uses shared memory for windows, not the network.
 */
static void window(uint8_t *out, uint8_t *in, int round)
{
	const int len = MAX_LEN / 4;
	uint8_t *mem;
	MPI_Win win;

	MPI_Win_allocate((MPI_Aint)len * ranks, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_fence(0, win);
	fill(out, len, rank, round);
	for (int to = 0; to < ranks; to++)
		MPI_Put(out, len, MPI_BYTE, to, (MPI_Aint)len * rank, len, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	for (int from = 0; from < ranks; from++)
		must(good(mem + (size_t)len * from, len, from, round), "what was put");
	MPI_Get(in, len, MPI_BYTE, (rank + 1) % ranks, (MPI_Aint)len * rank, len, MPI_BYTE, win);
	MPI_Win_fence(0, win);
	must(good(in, len, rank, round), "what was got");
	MPI_Win_free(&win);
}

/*
 * Draw tickets from a counter at rank 0: each number may be drawn only once. Return: sum of the
 * numbers that this rank has drawn.
 */
static int64_t draw(MPI_Win win)
{
	int64_t one = 1, ticket, last = -1, sum = 0;

	for (int i = 0; i < DRAWS; i++) {
		MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, WORDS, MPI_SUM, win);
		MPI_Win_flush(0, win);
		must(ticket > last && ticket < (int64_t)ranks * DRAWS, "a ticket");
		last = ticket;
		sum += ticket;
	}
	return sum;
}

/*
 * All ranks add to the same words in the window of each rank, and draw tickets. All try to store
 * their rank in the last word, but only one may succeed.
 */
static void words(int round)
{
	int64_t *mem, add[WORDS], none = -1, me = rank, was, drawn, all = (int64_t)ranks * DRAWS;
	MPI_Win win;

	MPI_Win_allocate((WORDS + 2) * sizeof(*mem), sizeof(*mem), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &mem, &win);
	MPI_Win_lock_all(0, win);
	memset(mem, 0, (WORDS + 2) * sizeof(*mem));
	mem[WORDS + 1] = -1;
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < WORDS; i++)
		add[i] = (int64_t)(rank + 1) * (i + round) << 20;
	for (int to = 0; to < ranks; to++)
		MPI_Accumulate(add, WORDS, MPI_INT64_T, to, 0, WORDS, MPI_INT64_T, MPI_SUM, win);
	drawn = draw(win);
	MPI_Compare_and_swap(&me, &none, &was, MPI_INT64_T, 0, WORDS + 1, win);
	MPI_Win_flush_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
	for (int i = 0; i < WORDS; i++)
		must(mem[i] == (int64_t)ranks * (ranks + 1) / 2 * (i + round) << 20, "the sums");
	must(rank || mem[WORDS] == all, "how many tickets were drawn");
	must(rank || (mem[WORDS + 1] >= 0 && mem[WORDS + 1] < ranks), "whose the last word is");
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Allreduce(MPI_IN_PLACE, &drawn, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	must(drawn == all * (all - 1) / 2, "the sum of all tickets");
	was = was == -1;
	MPI_Allreduce(MPI_IN_PLACE, &was, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	must(was == 1, "how many have taken the word");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2;
	uint8_t *out, *in;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	out = malloc(MAX_LEN);
	in = malloc(MAX_LEN);
	must(out && in, "memory");
	for (int round = 0; round < rounds; round++) {
		ring(out, in, round);
		sums(round);
		if (argc > 2)
			continue;
		window(out, in, round);
		words(round);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("kwmpi: ok: %d ranks, %d rounds\n", ranks, rounds);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
