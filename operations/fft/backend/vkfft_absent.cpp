// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces VkFFT in a build without VkFFT's header.
#include "libtune/base/error.hpp"
#include "operations/fft/backend/plan.hpp"

namespace tune::operations::transforms {

std::string vkfft_absence() {
  return "VkFFT was not there when libtune was built; install libvkfft-dev, and build libtune "
         "again";
}

std::vector<std::string> vkfft_cuda_texts(const command_queue&, const fft_geometry&,
                                          const fft_tuning&) {
  return {};
}

std::shared_ptr<fft_plan> make_vkfft_plan(const command_queue& queue, const fft_geometry& geometry,
                                          const fft_tuning&) {
  throw device_error("an FFT, " + to_string(geometry), queue.device().name(), vkfft_absence());
}

}  // namespace tune::operations::transforms
