# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of the scripts that are Python."""
