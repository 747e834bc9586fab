// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 6.3 vm_flags of a mapping is changed by functions only. */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTCOPY);
}
