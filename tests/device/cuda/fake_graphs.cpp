// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/device/cuda/fake_graphs.hpp"

#include <algorithm>

#include "tests/device/cuda/fake_kernels.hpp"

namespace fake_cuda {

bool same_kinds(const graph_object& a, const graph_object& b) {
  return std::ranges::equal(a, b, {}, &graph_node::kind, &graph_node::kind);
}

CUresult stream_capture::begin() {
  if (is_active()) return CUDA_ERROR_ILLEGAL_STATE;
  nodes_ = std::make_unique<graph_object>();
  valid_ = true;
  return CUDA_SUCCESS;
}

CUresult stream_capture::add(std::string kind, std::function<void()> run) {
  if (!valid_) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  nodes_->push_back({std::move(kind), std::move(run)});
  return CUDA_SUCCESS;
}

CUresult stream_capture::invalidate() noexcept {
  valid_ = false;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

std::unique_ptr<graph_object> stream_capture::end() noexcept {
  auto captured = std::move(nodes_);
  return valid_ ? std::move(captured) : nullptr;
}

copied_arguments::copied_arguments(const std::string& kernel, void** arguments) {
  std::size_t offset = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; find_parameter(kernel, i, offset, size); ++i) {
    const auto* first = static_cast<const std::byte*>(arguments[i]);
    pointers_.push_back(values_.emplace_back(first, first + size).data());
  }
}

}  // namespace fake_cuda
