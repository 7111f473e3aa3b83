// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>
#include <vector>

#include "libtune/base/end_of_program.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {

/// The threads of an object that may use a device: they end with the object, or at the end of the
/// program if it still exists then, before static objects are destroyed and drivers shut down. A
/// member of the object.
/// @tparam Owner  has end_threads() noexcept, which may be called twice, and befriends this class
template <class Owner>
class threads_of_program {
 public:
  /// Starts the threads. The end of the program waits until they have been started.
  /// @param start  if it throws, the owner ends those that it has started
  template <class Start>
  void start(Owner& owner, const Start& start) {
    const std::lock_guard lock(living().mutex);
    living().all.push_back(&owner);
    try {
      start();
    } catch (...) {
      living().all.pop_back();
      throw;
    }
  }

  /// For the owner's destructor, which ends its threads afterwards. Not in a forked process.
  void leave(Owner& owner) noexcept {
    const std::lock_guard lock(living().mutex);
    std::erase(living().all, &owner);
  }

  /// Lets the threads end before a driver. To be called once it is loaded; later calls do nothing.
  static void end_before_driver() {
    static const bool registered = (call_at_end(&end_all), true);
    static_cast<void>(registered);
  }

 private:
  struct owners {
    std::mutex mutex;
    std::vector<Owner*> all;
  };
  static owners& living() {
    static never_destroyed<owners> made;
    return *made;
  }
  static void end_all() noexcept {
    if (is_forked()) return;
    const std::lock_guard lock(living().mutex);
    for (Owner* const each : living().all) each->end_threads();
  }
};

}  // namespace tune::detail
