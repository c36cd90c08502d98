# SPDX-License-Identifier: MIT
"""The generator's exception."""


class Bad(Exception):
    """An error in the input, with its position."""

    def __init__(self, where, what):
        super().__init__('%s:%d: error: %s' % (where[0], where[1], what))
