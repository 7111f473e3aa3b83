# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Operations that run one after the other, and share arrays and memory."""

from __future__ import annotations

from typing import Dict, Iterable, Mapping, Optional, Sequence, Tuple

from . import _libtune
from ._device import Queue
from ._errors import ArgumentError
from .operations import Operation

Shared = Mapping[str, Sequence[str]]


class OperationSequence(Operation):
    """Operations that run one after the other on one queue. It is an operation itself:

        pipeline = libtune.OperationSequence(
            queue,
            [("unpack", unpack), ("pfb", pfb)],
            compounds={"samples": ["unpack:out", "pfb:samples"]},
        )
        pipeline.bind("unpack:samples", packed)
        pipeline.run()
        spectra = pipeline.get("pfb:spectra")

    Its slots are those of the operations, as "operation:slot"; those that are shared have the common name instead.

    operations: names and operations, or a dict of them, in the order of running. They were made for this queue, are in
        no other sequence, and nothing is bound to slots that are to be shared.
    compounds: the slots that one array is bound to, by its name. The array gets the padding that all of them need.
    aliases: slots, or names of compounds, that use the same memory, because their contents are needed one after the
        other.
    """

    def __init__(
        self,
        queue: Queue,
        operations: "Iterable[Tuple[str, Operation]] | Mapping[str, Operation]",
        compounds: Optional[Shared] = None,
        aliases: Optional[Shared] = None,
    ) -> None:
        parts = list(operations.items() if isinstance(operations, Mapping) else operations)
        self.operations: Dict[str, Operation] = dict(parts)
        for name, part in parts:
            if not isinstance(part, Operation):
                raise ArgumentError(f"'{name}' of a sequence is {part!r}, no operation")
        core = _libtune.Operation.sequence(
            queue._core,
            [(name, part._core) for name, part in parts],
            *(
                [(name, list(slots)) for name, slots in (shared or {}).items()]
                for shared in (compounds, aliases)
            ),
        )
        super().__init__(core, queue, any(part._fills for _, part in parts))

    def __getitem__(self, name: str) -> Operation:
        """An operation of the sequence by its name."""
        if name not in self.operations:
            raise ArgumentError(f"the sequence has no operation '{name}'; it has {', '.join(self.operations)}")
        return self.operations[name]

    def run_range(self, first: str, last: str) -> None:
        """Enqueues the operations from the first to the last that are named."""
        self._core.run_range(first, last)
