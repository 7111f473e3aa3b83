// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the fake driver captures, and how long it goes on.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/device/cuda/fake_driver.hpp"

namespace fake_cuda {

/// A command that runs when its graph does.
struct graph_node {
  std::string kind;
  std::function<void()> run;
};
using graph_object = std::vector<graph_node>;

/// True if one may be updated to the other: commands of the same kinds in the same order.
bool same_kinds(const graph_object& a, const graph_object& b);

/// The capture of one stream. What cannot be captured spoils it until its end, as in CUDA.
class stream_capture {
 public:
  bool is_active() const noexcept { return nodes_ != nullptr; }
  CUresult begin();
  CUresult add(std::string kind, std::function<void()> run);
  /// @return the error of a call that cannot be captured
  CUresult invalidate() noexcept;
  /// Returns the captured graph; null if something spoiled it.
  std::unique_ptr<graph_object> end() noexcept;

 private:
  std::unique_ptr<graph_object> nodes_;
  bool valid_ = true;
};

/// The arguments of a launch, kept for later.
class copied_arguments {
 public:
  copied_arguments(const std::string& kernel, void** arguments);
  copied_arguments(const copied_arguments&) = delete;
  copied_arguments& operator=(const copied_arguments&) = delete;

  void** pointers() noexcept { return pointers_.data(); }

 private:
  std::vector<std::vector<std::byte>> values_;
  std::vector<void*> pointers_;
};

}  // namespace fake_cuda
