# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Classes for the checks of kwarpctl doctor: Finding, a result; Case, the input of a check."""
from dataclasses import dataclass, field
from typing import NamedTuple

from .text import printable

OK, WARNING, PROBLEM = "ok", "warning", "problem"
# From the most severe on: the level, and its colour in a terminal (red, yellow, green).
LEVELS = {PROBLEM: "31", WARNING: "33", OK: "32"}


class Finding(NamedTuple):
    """A line of output: level, what was checked, what was found, and what to do."""
    level: str
    subject: str
    text: str
    action: str = ""

    def line(self, colours=False):
        level = "%-8s" % self.level
        if colours:
            level = "\033[%sm%s\033[0m" % (LEVELS[self.level], level)
        return level + printable(" %s: %s%s" % (self.subject, self.text,
                                                "; " + self.action if self.action else ""))


def ok(subject, text):
    return Finding(OK, subject, text)


def warning(subject, text, action):
    return Finding(WARNING, subject, text, action)


def problem(subject, text, action):
    return Finding(PROBLEM, subject, text, action)


@dataclass
class Case:
    """Input of the checks in a run of doctor: the host, its links, and the arguments."""
    host: object
    links: list = field(default_factory=list)
    all_links: list = field(default_factory=list)
    peer: str | None = None
    port: int | None = None
    all_counts: bool = False
    blind: bool = False             # links cannot be seen, because a program fails
    interfaces: dict = field(default_factory=dict)

    def local_links(self):
        return [link for link in self.links if link.here]
