// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune::detail {

/// Registers a function to be called when the program ends by exit or by the end of main, before
/// the static objects are destroyed that libtune's threads use. A driver's compiler makes such
/// objects on its first use; std::atexit alone would call the function after their destruction,
/// because it calls in the reverse order. If the main thread has called this and ends the program,
/// the functions are called before all others; else before the destruction of the objects that
/// existed at the last renew_calls_at_end().
/// @param function  may be called several times, also in a forked process; must not throw
void call_at_end(void (*function)());

/// Call this after new static objects were made, for example when a driver has compiled its first
/// program: the registered functions are then called before these objects are destroyed.
void renew_calls_at_end();

}  // namespace tune::detail
