// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// A kind of request that a program serves when it is started as a child, besides tuning and
/// compiling. A neighbour adds its own before main, by a static object; serve_if_worker serves it.
struct child_service {
  /// The environment variable that requests it; its value is the process id of the parent.
  const char* variable;
  /// Serves the parent at the other end of the socket. The child ends when it returns.
  void (*serve)(int socket);
};

/// Adds a service. @param service  is kept as a copy; the variable must stay valid
void add_child_service(const child_service& service);

/// Serves the parent, if one has started this process for one of the services; then it does not
/// return.
void serve_if_asked(int socket);

}  // namespace tune::detail
