# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Sphinx: how `make docs` makes a book of this folder."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent

project = "kwarp"
author = "kwarp's authors"
version = re.search(r"^VERSION := (\S+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
release = version

# Literal blocks are commands, logs and tables: no language.
highlight_language = "none"
# "--option" is no dash.
smartquotes = False

html_theme = "alabaster"
html_theme_options = {
    "description": "a software iWARP RNIC for Linux",
    "page_width": "72em",
    "sidebar_width": "16em",
    "fixed_sidebar": True,
}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_copy_source = False
html_show_copyright = False
