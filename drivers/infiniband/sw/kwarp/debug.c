// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * /sys/kernel/debug/kwarp/INDEX-NAME: counts of a link for which there are too few counters, see
 * stats.c.  INDEX is the index of the RDMA device, NAME its first name: the folder keeps its name
 * when the device is renamed.
 *
 *   terminates    Terminates by layer, type and code
 *   cm            events of connection management by the state in which they happened
 *
 * The files are for people to read; their format may change.
 */
#include "debug.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/seq_file.h>

#include "kwarp.h"
#include "proto/cm_fsm.h"
#include "proto/perr.h"
#include "proto/term.h"

static struct dentry *root;

/* ----------------------------------------------------------------------- files */

static void terminates_of(struct seq_file *m, const struct kwarp_stats *stats, u32 err,
			  const char *code, const char *name)
{
	const long sent = atomic_long_read(&stats->term_sent[err]);
	const long received = atomic_long_read(&stats->term_received[err]);

	if (sent || received)
		seq_printf(m, "%-8s %-20s %10ld %10ld\n", code, name, sent, received);
}

static int terminates_show(struct seq_file *m, void *v)
{
	const struct kwarp_stats *stats = &((struct kwarp_dev *)m->private)->stats;
	char code[8];
	u32 err;

	seq_printf(m, "%-8s %-20s %10s %10s\n", "code", "name", "sent", "received");
	for (err = KWARP_PERR_NONE + 1; err < KWARP_PERR_COUNT; err++) {
		snprintf(code, sizeof(code), "0x%04x", kwarp_perr_short(err));
		terminates_of(m, stats, err, code, kwarp_perr_name(err));
	}
	terminates_of(m, stats, KWARP_PERR_NONE, "other", "of no RFC");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(terminates);

static int cm_show(struct seq_file *m, void *v)
{
	struct kwarp_stats *stats = &((struct kwarp_dev *)m->private)->stats;
	u32 state, event;
	long n;

	seq_printf(m, "%-12s %-12s %10s\n", "state", "event", "times");
	for (state = 0; state < KWARP_CMS_COUNT; state++)
		for (event = 0; event < KWARP_CME_COUNT; event++) {
			n = atomic_long_read(&stats->cm[state][event]);
			if (n)
				seq_printf(m, "%-12s %-12s %10ld\n", kwarp_cm_state_name(state),
					   kwarp_cm_event_name(event), n);
		}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cm);

/* ------------------------------------------------------------------- folders */

/* Context: process; the core keeps the device from going away. */
void kwarp_debug_enable(struct ib_device *ibdev)
{
	struct kwarp_dev *kdev = to_kdev(ibdev);
	char name[IB_DEVICE_NAME_MAX + 12];

	if (!IS_ERR_OR_NULL(kdev->debug))
		return;
	snprintf(name, sizeof(name), "%u-%s", ibdev->index, dev_name(&ibdev->dev));
	kdev->debug = debugfs_create_dir(name, root);
	debugfs_create_file("terminates", 0400, kdev->debug, kdev, &terminates_fops);
	debugfs_create_file("cm", 0400, kdev->debug, kdev, &cm_fops);
}

/* Remove a device's folder, and wait for readers of its files.  Context: process. */
void kwarp_debug_remove(struct kwarp_dev *kdev)
{
	debugfs_remove_recursive(kdev->debug);
}

void kwarp_debug_init(void)
{
	root = debugfs_create_dir("kwarp", NULL);
}

void kwarp_debug_exit(void)
{
	debugfs_remove_recursive(root);
}
