// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fakes for the functions that pin memory and make regions and dma-bufs: they always return the
 * same object (vt->umem, vt->mr), count how many exist, and note their arguments in @vt.
 */
#include "rename.h"
#include "fixture.h"

struct ib_umem *vt_umem_get(struct ib_device *ibdev, unsigned long addr, size_t size,
			    int access)
{
	if (vt_is_fault(FAULT_UMEM))
		return ERR_PTR(-EFAULT);
	vt->umems++;
	vt->umem_access = access;
	vt->umem_start = addr;
	vt->umem_length = size;
	vt->umem.length = size;
	return &vt->umem;
}

void vt_umem_release(struct ib_umem *umem)
{
	vt->umems--;
}

static struct kwarp_mr *new_mr(u32 stag)
{
	if (vt_is_fault(FAULT_MR))
		return ERR_PTR(-ENOMEM);
	vt->mrs++;
	vt->mr.stag = stag;
	return &vt->mr;
}

static void set_range(u64 iova, u64 length)
{
	vt->mr.va = iova;
	vt->mr.length = length;
	vt->mr.ibmr.iova = iova;
	vt->mr.ibmr.length = length;
}

struct kwarp_mr *kwarp_mr_create_user(struct kwarp_dev *kdev, struct ib_pd *pd,
				      struct ib_umem *umem, u64 iova, int access)
{
	set_range(iova, umem->length);
	vt->mr.access = access;
	return new_mr(VT_STAG);
}

/* The memory is vt->old_umem or, if this is NULL, a dma-buf: see kwarp_mr_umem() below. */
struct kwarp_mr *kwarp_mr_create_same(struct kwarp_dev *kdev, struct ib_pd *pd,
				      const struct kwarp_mr *old, int access)
{
	set_range(old->va, old->length);
	vt->mr.access = access;
	vt->same++;
	return new_mr(VT_STAG);
}

void kwarp_mr_open(struct kwarp_mr *mr)
{
	mr->valid = true;
}

const struct ib_umem *kwarp_mr_umem(const struct kwarp_mr *mr)
{
	return vt->old_umem;
}

bool kwarp_mr_is_writable(const struct kwarp_mr *mr)
{
	return vt->old_umem && vt->old_umem->writable;
}

struct kwarp_dmabuf *kwarp_dmabuf_get(int fd, u64 offset, u64 length, int access)
{
	if (vt_is_fault(FAULT_UMEM))
		return ERR_PTR(-EBADF);
	vt->dmabufs++;
	vt->dmabuf_fd = fd;
	return (void *)vt;
}

void kwarp_dmabuf_put(struct kwarp_dmabuf *d)
{
	vt->dmabufs--;
}

struct kwarp_mr *kwarp_mr_create_dmabuf(struct kwarp_dev *kdev, struct ib_pd *pd,
					struct kwarp_dmabuf *d,
					const struct kwarp_mr_place *place, int access)
{
	vt->place = *place;
	vt->mr.access = access;
	return new_mr(VT_STAG);
}

struct kwarp_mr *kwarp_mr_create_fast(struct kwarp_dev *kdev, struct ib_pd *pd,
				      u32 max_chunks, bool gaps)
{
	vt->mr_gaps = gaps;
	return new_mr(VT_STAG);
}

struct kwarp_mr *kwarp_mr_create_dma(struct kwarp_dev *kdev, struct ib_pd *pd, int access)
{
	vt->mr.access = access;
	return new_mr(VT_STAG);
}

struct kwarp_mr *kwarp_mr_create_window(struct kwarp_dev *kdev, struct ib_pd *pd,
					bool pd_wide)
{
	struct kwarp_mr *mr = new_mr(VT_STAG);

	if (!IS_ERR(mr))
		mr->pd_wide = pd_wide;
	return mr;
}

/* Fake: VT_STAG is the only STag with a region; a lookup takes a reference on it. */
struct kwarp_mr *kwarp_mr_lookup(struct kwarp_dev *kdev, u32 stag)
{
	if (stag != VT_STAG)
		return NULL;
	vt->mrs++;
	return &vt->mr;
}

void kwarp_mr_put(struct kwarp_mr *mr)
{
	vt->mrs--;
}

bool kwarp_mr_close(struct kwarp_mr *mr)
{
	if (!vt->busy)
		vt->closed = mr;
	return !vt->busy;
}

enum kwarp_mem_err kwarp_mem_check(const struct kwarp_mr *mr, u32 stag,
				   const struct kwarp_mem_stream *stream, u64 addr, u64 len,
				   int rights)
{
	if (!mr)
		return KWARP_MEM_STAG;
	if (stream->pd != &vt->pd.ibpd)
		return KWARP_MEM_STREAM;
	vt->mem_rights = rights;
	return vt->mem_err;
}

int kwarp_mr_map_sg(struct kwarp_mr *mr, struct scatterlist *sg, int nents,
		    unsigned int *offset)
{
	return nents;
}

int kwarp_mr_destroy(struct kwarp_dev *kdev, struct kwarp_mr *mr)
{
	vt->mrs--;
	return 0;
}
