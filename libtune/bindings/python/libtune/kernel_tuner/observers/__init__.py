# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""Observers of scripts for Kernel Tuner."""

from .observer import BenchmarkObserver, ContinuousObserver, IterationObserver, OutputObserver, PrologueObserver
from .register import RegisterObserver

__all__ = ["BenchmarkObserver", "ContinuousObserver", "IterationObserver", "OutputObserver", "PrologueObserver",
           "RegisterObserver"]
