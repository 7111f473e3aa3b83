// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/by_name/telescope_by_name.hpp"

#include "operations/telescope/by_name/makers/makers.hpp"

namespace tune::operations {

void register_telescope_operations() {
  static const bool done = [] {
    for (auto* const each :
         {makers::unpack, makers::pfb, makers::ddc, makers::quantise, makers::correlate,
          makers::correlate_reduce, makers::beamform, makers::rfi, makers::rfi2d}) {
      register_operation(each());
    }
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace tune::operations
