// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/folder_lock.hpp"

namespace tune::detail {

folder_lock::folder_lock(const private_folder& folder, std::chrono::milliseconds wait)
    : lock_(folder.open_lock_file(file_name)),
      held_(keep_trying(wait, [&] { return lock_.try_take() != lock_attempt::busy; })) {}

}  // namespace tune::detail
