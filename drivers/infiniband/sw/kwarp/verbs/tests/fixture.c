// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The stand-ins for other layers and for the RDMA core, and set-up and end of a test case.
 *
 * Numbers such as 5042-3-1 name requirements of RFCs, see Documentation/conformance.
 */
#include "fixture.h"

#include <linux/mman.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <rdma/siw-abi.h>

#include "../../queue/siw_ring.h"

struct vt *vt;

static void log_word(const char *word)
{
	if (vt->log[0])
		strlcat(vt->log, " ", VT_LOG);
	strlcat(vt->log, word, VT_LOG);
}

/* Expect that the stand-ins have logged the words @want since the last call; clear the log. */
void vt_expect_log(struct kunit *test, const char *want)
{
	KUNIT_EXPECT_STREQ(test, vt->log, want);
	vt->log[0] = 0;
}

/* Is this call of the stand-in @what the one that has to fail (the vt->nth call)? */
static bool is_fault(enum vt_fault what)
{
	return vt->fault == what && !--vt->nth;
}

/* --------------------------------------------------------------------- memory */

/* Count a ring that was made (@ret 0), as paid for by a process (@user) or not.  Returns @ret. */
static int note_ring(int ret, bool user)
{
	if (ret)
		return ret;
	vt->rings++;
	if (user)
		vt->paid++;
	else
		vt->unpaid++;
	return 0;
}

int vt_ring_init(struct kwarp_ring *ring, u32 entries, u32 stride, bool user)
{
	return note_ring(is_fault(FAULT_RING) ? -ENOMEM :
			 kwarp_ring_init(ring, entries, stride, user), user);
}

void vt_ring_fini(struct kwarp_ring *ring)
{
	vt->rings -= !!ring->hdr;
	kwarp_ring_fini(ring);
}

int vt_sq_init(struct kwarp_sq *sq, u32 entries, u32 stride)
{
	return note_ring(is_fault(FAULT_RING) ? -ENOMEM :
			 kwarp_sq_init(sq, entries, stride), sq->user);
}

int vt_rq_init(struct kwarp_rq *rq, u32 entries, u32 stride)
{
	return note_ring(is_fault(FAULT_RING) ? -ENOMEM :
			 kwarp_rq_init(rq, entries, stride), rq->user);
}

/* Count a ring of libsiw; @ring may be NULL. */
static void *new_siw(void *ring)
{
	if (!ring)
		return NULL;
	vt->siw_rings++;
	note_ring(0, true);
	return ring;
}

struct kwarp_siw_wq *vt_siw_new_sq(u32 entries)
{
	return new_siw(is_fault(FAULT_SIW) ? NULL : kwarp_siw_new_sq(entries));
}

struct kwarp_siw_wq *vt_siw_new_rq(u32 entries)
{
	return new_siw(is_fault(FAULT_SIW) ? NULL : kwarp_siw_new_rq(entries));
}

struct kwarp_siw_cq *vt_siw_new_cq(u32 entries)
{
	return new_siw(is_fault(FAULT_SIW) ? NULL : kwarp_siw_new_cq(entries));
}

void vt_siw_free_wq(struct kwarp_siw_wq *wq)
{
	if (!wq)
		return;
	vt->siw_rings--;
	vt->rings -= !!wq->mem;
	kwarp_siw_free_wq(wq);
}

void vt_siw_free_cq(struct kwarp_siw_cq *cq)
{
	if (!cq)
		return;
	vt->siw_rings--;
	vt->rings -= !!cq->mem;
	kwarp_siw_free_cq(cq);
}

/* vfree() in kwarp_mmap_free(): the memory of a ring whose mmap entry is gone. */
void vt_vfree(const void *addr)
{
	vt->rings -= !!addr;
	vfree(addr);
}

struct ib_umem *vt_umem_get(struct ib_device *ibdev, unsigned long addr, size_t size,
			    int access)
{
	if (is_fault(FAULT_UMEM))
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

/* ------------------------------------------------------- the RDMA core's mappings */

int rdma_user_mmap_entry_insert_range(struct ib_ucontext *ibuc, struct rdma_user_mmap_entry *entry,
				      size_t length, u32 min, u32 max)
{
	if (is_fault(FAULT_MAP) || vt->maps == VT_MAPS)
		return -ENOMEM;
	/* libsiw takes a key in this page for "nothing to map". */
	if (min <= SIW_INVAL_UOBJ_KEY >> PAGE_SHIFT || max < min)
		return -EINVAL;
	kref_init(&entry->ref);
	entry->ucontext = ibuc;
	entry->start_pgoff = min + 16 * vt->maps++;
	entry->npages = PAGE_ALIGN(length) >> PAGE_SHIFT;
	vt->map[vt->maps - 1] = entry;
	return 0;
}

static void entry_gone(struct kref *kref)
{
	kwarp_mmap_free(container_of(kref, struct rdma_user_mmap_entry, ref));
}

void rdma_user_mmap_entry_put(struct rdma_user_mmap_entry *entry)
{
	kref_put(&entry->ref, entry_gone);
}

void rdma_user_mmap_entry_remove(struct rdma_user_mmap_entry *entry)
{
	u32 i = 0;

	while (vt->map[i] != entry)
		i++;
	vt->map[i] = NULL;
	rdma_user_mmap_entry_put(entry);
}

/* Find the entry for the offset and length of @vma; it has to belong to @ibuc. */
struct rdma_user_mmap_entry *rdma_user_mmap_entry_get(struct ib_ucontext *ibuc,
						      struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int i;

	for (i = 0; i < VT_MAPS; i++) {
		entry = vt->map[i];
		if (!entry || entry->ucontext != ibuc || entry->start_pgoff != vma->vm_pgoff ||
		    entry->npages != vma_pages(vma))
			continue;
		kref_get(&entry->ref);
		return entry;
	}
	return NULL;
}

int vt_remap(struct vm_area_struct *vma, void *addr, unsigned long pgoff)
{
	vt->mapped = pgoff ? NULL : addr;
	return 0;
}

int vt_mmap(struct kwarp_ucontext *uc, u64 offset, size_t len)
{
	struct vm_area_struct vma = {
		.vm_start = 0x10000,
		.vm_end = 0x10000 + PAGE_ALIGN(len),
		.vm_pgoff = offset >> PAGE_SHIFT,
	};

	vt->mapped = NULL;
	return kwarp_mmap(&uc->ibuc, &vma);
}

/* Expect that only the process itself can map the ring, and only with its exact length. */
void vt_expect_map(struct kunit *test, u64 offset, u32 len)
{
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, offset, len), 0);
	KUNIT_EXPECT_NOT_NULL(test, vt->mapped);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, offset, len + PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, offset, len - PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->uc, offset + PAGE_SIZE, len), -EINVAL);
	/* 5042-3-1: another process cannot map it. */
	KUNIT_EXPECT_EQ(test, vt_mmap(&vt->other, offset, len), -EINVAL);
	KUNIT_EXPECT_NULL(test, vt->mapped);
}

/* -------------------------------------------------------------------- regions */

static struct kwarp_mr *new_mr(u32 stag)
{
	if (is_fault(FAULT_MR))
		return ERR_PTR(-ENOMEM);
	vt->mrs++;
	vt->mr.stag = stag;
	return &vt->mr;
}

/* Set the range of the region, and as the real functions do the range in the core's object. */
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

/* Stand-in: the memory of @old is vt->old_umem or, if that is NULL, a dma-buf. */
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
	if (is_fault(FAULT_UMEM))
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

/* Stand-in: VT_STAG is the only STag with a region; a lookup takes a reference on it. */
struct kwarp_mr *vt_mr_lookup(struct kwarp_dev *kdev, u32 stag)
{
	if (stag != VT_STAG)
		return NULL;
	vt->mrs++;
	return &vt->mr;
}

void vt_mr_put(struct kwarp_mr *mr)
{
	vt->mrs--;
}

bool vt_mr_close(struct kwarp_mr *mr)
{
	if (!vt->busy)
		vt->closed = mr;
	return !vt->busy;
}

enum kwarp_mem_err vt_mem_check(const struct kwarp_mr *mr, u32 stag,
				const struct kwarp_mem_stream *stream, u64 addr, u64 len,
				int rights)
{
	if (!mr)
		return KWARP_MEM_STAG;
	if (stream->pd != &vt->pd)
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

/* ---------------------------------------------------------------- queue pairs */

void vt_qp_init(struct kwarp_qp *qp)
{
}

int vt_qp_reserve(struct kwarp_qp *qp)
{
	if (is_fault(FAULT_RESERVE))
		return -ENOMEM;
	qp->ibqp.qp_num = VT_QPN;
	vt->reserved++;
	return 0;
}

void vt_qp_unreserve(struct kwarp_qp *qp)
{
	vt->reserved--;
}

struct kwarp_stats_stream *vt_engine_stats(struct kwarp_engine *e)
{
	return &e->stats;
}

void vt_stats_add(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	vt->counted++;
}

void vt_stats_remove(struct kwarp_dev *kdev, struct kwarp_stats_stream *stream)
{
	vt->counted--;
}

void vt_qp_publish(struct kwarp_qp *qp)
{
	log_word("publish");
}

void vt_qp_retire(struct kwarp_qp *qp)
{
	vt->reserved--;
	log_word("retire");
}

bool vt_qp_gone(struct kwarp_qp *qp)
{
	return !vt->users--;
}

struct kwarp_qp *vt_qp_lookup(struct kwarp_dev *kdev, u32 qpn)
{
	if (kdev != vt->kdev || qpn != VT_QPN || !vt->found)
		return NULL;
	log_word("find");
	if (vt->on_find)
		vt->on_find();
	return vt->found;
}

void vt_qp_put(struct kwarp_qp *qp)
{
	log_word(qp == vt->found ? "put" : "?");
}

void vt_cm_drop_qp(struct kwarp_qp *qp)
{
	vt->drops++;
	vt->dropped = qp;
}

bool vt_cm_is_stand_in(const struct ib_qp *ibqp)
{
	return ibqp->qp_type == IB_QPT_RESERVED1;
}

int vt_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful)
{
	log_word(graceful ? "cm-close" : "cm-abort");
	return vt->event;
}

int vt_qp_note(struct kwarp_qp *qp, enum kwarp_qp_event event)
{
	log_word(event == KWARP_QPE_CLOSE ? "close" : event == KWARP_QPE_ABORT ? "abort" : "?");
	return vt->event;
}

void vt_qp_run(struct kwarp_qp *qp)
{
	log_word("run");
}

int vt_qp_reset(struct kwarp_qp *qp)
{
	log_word("reset");
	return vt->event;
}

void vt_qp_set_access(struct kwarp_qp *qp, int access, bool set_up)
{
	qp->attr.qp_access_flags = access;
	log_word(set_up ? "access-of-setup" : "access");
}

enum kwarp_qp_state vt_qp_state(struct kwarp_qp *qp)
{
	return vt->state;
}

void vt_engine_wire(struct kwarp_engine *e, const struct kwarp_engine_parts *parts)
{
	vt->parts = *parts;
	vt->wired = e;
}

void vt_engine_unwire(struct kwarp_engine *e)
{
	log_word(e == vt->wired ? "unwire" : "?");
}

void vt_engine_posted_send(struct kwarp_engine *e, bool user)
{
	log_word(user ? "doorbell" : "kick");
}

void vt_engine_posted_recv(struct kwarp_engine *e, bool user)
{
	log_word(user ? "recv-doorbell" : "recv-kick");
}

/* ---------------------------------------------------------------- the process */

struct ib_udata *vt_udata(struct kunit *test, size_t inlen, size_t outlen)
{
	struct ib_udata *udata = &vt->attrs->driver_udata;

	KUNIT_ASSERT_EQ(test, clear_user(vt->page, PAGE_SIZE / 2), 0);
	udata->inbuf = vt->page;
	udata->inlen = inlen;
	udata->outbuf = vt->fault == FAULT_ANSWER ? NULL : vt->answer;
	udata->outlen = outlen;
	return udata;
}

void vt_unknown(struct kunit *test, size_t at)
{
	KUNIT_ASSERT_EQ(test, put_user((u8)1, vt->page + at), 0);
}

void vt_get_answer(struct kunit *test, void *answer, size_t len)
{
	KUNIT_ASSERT_EQ(test, copy_from_user(answer, vt->answer, len), 0);
}

void vt_make_cq(struct kunit *test, struct kwarp_cq **cq, int cqe)
{
	const struct ib_cq_init_attr attr = { .cqe = cqe };

	*cq = kunit_kzalloc(test, sizeof(**cq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *cq);
	(*cq)->ibcq.device = &vt->kdev->ibdev;
	KUNIT_ASSERT_EQ(test, kwarp_create_cq(&(*cq)->ibcq, &attr, NULL), 0);
}

static int make_process(struct kunit *test)
{
	unsigned long page = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	if (!page || IS_ERR_VALUE(page))
		return -ENOMEM;
	vt->page = (u8 __user *)page;
	vt->answer = vt->page + PAGE_SIZE / 2;
	vt->attrs = kunit_kzalloc(test, sizeof(*vt->attrs), GFP_KERNEL);
	if (!vt->attrs)
		return -ENOMEM;
	vt->attrs->context = &vt->uc.ibuc;
	vt->uc.ibuc.device = &vt->kdev->ibdev;
	vt->other.ibuc.device = &vt->kdev->ibdev;
	return 0;
}

int vt_init(struct kunit *test)
{
	vt = kunit_kzalloc(test, sizeof(*vt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vt);
	vt->kdev = kunit_kzalloc(test, sizeof(*vt->kdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vt->kdev);
	vt->netdev = kunit_kzalloc(test, sizeof(*vt->netdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vt->netdev);
	INIT_LIST_HEAD(&vt->netdev->adj_list.upper);
	vt->kdev->netdev = vt->netdev;
	vt->pd.device = &vt->kdev->ibdev;
	return make_process(test);
}

void vt_exit(struct kunit *test)
{
	struct kwarp_dev *kdev = vt->kdev;
	int i;

	if (vt->scq)
		kwarp_destroy_cq(&vt->scq->ibcq, NULL);
	if (vt->rcq)
		kwarp_destroy_cq(&vt->rcq->ibcq, NULL);
	for (i = 0; i < VT_MAPS; i++)
		KUNIT_EXPECT_NULL_MSG(test, vt->map[i], "mapping %d", i);
	KUNIT_EXPECT_EQ(test, vt->rings, 0);
	KUNIT_EXPECT_EQ(test, vt->siw_rings, 0);
	KUNIT_EXPECT_EQ(test, vt->reserved, 0);
	KUNIT_EXPECT_EQ(test, vt->counted, 0);
	KUNIT_EXPECT_EQ(test, vt->mrs, 0);
	KUNIT_EXPECT_EQ(test, vt->umems, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kdev->num_qp), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kdev->num_cq), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kdev->num_srq), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&kdev->num_pd), 0);
}
