# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of libtune. Their text is that of the C++ library: the request, the failure and the
remedy."""

from __future__ import annotations


class Error(Exception):
    """The base of all exceptions of libtune."""


class ArgumentError(Error, ValueError):
    """A call that cannot mean anything: a wrong name, size, shape or order."""


class ElementTypeError(ArgumentError, TypeError):
    """A value or an array is of another type than the one that is needed."""


class EnvironmentVariableError(Error):
    """An environment variable cannot be read."""


class NoDeviceError(Error):
    """No device fits."""


class DeviceError(Error):
    """The driver of a device refused a call."""


class OutOfMemoryError(DeviceError, MemoryError):
    """The device or the host has no memory left."""


class BuildError(Error):
    """A kernel does not compile; the text has the compiler's log."""


class DatabaseError(Error):
    """A tuning database cannot be opened, read or written."""


class NotTunedError(Error):
    """There is no result, and the mode or the lock forbids to tune."""


class TuningFailedError(Error):
    """No configuration could be measured, or the space is empty."""


class StoppedError(Error):
    """A function of the caller ended the tuning."""


class SkipConfiguration(Exception):
    """Raise it in a function that measures, to leave a configuration out: its text is the reason."""


# The errors in the order of libtune_status.
_TYPES = (
    Error,  # LIBTUNE_OK
    Error,  # LIBTUNE_NOT_FOUND
    Error,  # LIBTUNE_SKIPPED
    Error,
    ArgumentError,
    ElementTypeError,
    EnvironmentVariableError,
    NoDeviceError,
    DeviceError,
    OutOfMemoryError,
    BuildError,
    DatabaseError,
    NotTunedError,
    TuningFailedError,
    StoppedError,
)


def of_status(status: int, text: str) -> Error:
    """Makes the exception of a libtune_status."""
    kind = _TYPES[status] if 0 <= status < len(_TYPES) else Error
    return kind(text)
