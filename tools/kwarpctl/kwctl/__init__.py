# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What kwarpctl is made of."""
