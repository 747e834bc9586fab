# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a check of the doctor's says."""
from dataclasses import dataclass, field
from typing import NamedTuple

OK, WARNING, PROBLEM = "ok", "warning", "problem"


class Finding(NamedTuple):
    """One line: a level, what was looked at, what was found, and what to do about it."""
    level: str
    subject: str
    text: str
    action: str = ""

    def line(self):
        return "%-8s %s: %s%s" % (self.level, self.subject, self.text,
                                  "; " + self.action if self.action else "")


def ok(subject, text):
    return Finding(OK, subject, text)


def warning(subject, text, action):
    return Finding(WARNING, subject, text, action)


def problem(subject, text, action):
    return Finding(PROBLEM, subject, text, action)


@dataclass
class Case:
    """What a run of the doctor is about."""
    host: object
    links: list = field(default_factory=list)
    all_links: list = field(default_factory=list)
    peer: str | None = None
    port: int | None = None
    interfaces: dict = field(default_factory=dict)

    def local_links(self):
        return [link for link in self.links if link.here]
