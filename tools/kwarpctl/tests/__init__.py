# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl.  Run in tools/: python3 -m unittest discover -s kwarpctl/tests -t ."""
