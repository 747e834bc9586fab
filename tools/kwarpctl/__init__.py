# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The modules of the program kwarpctl."""

VERSION = "0.1.0"
