// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tune::detail {

/// Has a function called when the program ends by exit or the end of its main, before the static
/// objects of what the threads of libtune work with are destroyed. A driver's compiler makes such
/// objects when it is used first, which std::atexit cannot know: it calls in the reverse order.
/// If the main thread has called this and ends the program, the functions come before all others;
/// else before what had been made at the last renew_calls_at_end().
/// @param function  may be called several times, also in a forked process; throws nothing
void call_at_end(void (*function)());

/// For what has made static objects, such as the first program that a driver has compiled: they are
/// destroyed after the functions have been called.
void renew_calls_at_end();

}  // namespace tune::detail
