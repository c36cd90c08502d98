# SPDX-License-Identifier: MIT
"""The one exception of the generator."""


class Bad(Exception):
    """A fault in the text: what, and where."""

    def __init__(self, where, what):
        super().__init__('%s:%d: error: %s' % (where[0], where[1], what))
