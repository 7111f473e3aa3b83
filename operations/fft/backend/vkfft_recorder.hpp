// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The objects behind the OpenCL handles that VkFFT receives: tune::compile compiles its programs,
// buffers hold its tables, and its launches are recorded. On CUDA the words of OpenCL in its text
// are replaced by CUDA's.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations::transforms {

/// The memory behind a cl_mem.
struct recorded_memory {
  enum class purpose { own, src, dest, scratch, temporary };

  std::size_t bytes = 0;
  purpose used_as = purpose::own;
  std::optional<buffer> memory{};  // own memory is allocated on first use
};

/// An argument of a launch: bytes, or memory.
struct recorded_argument {
  std::vector<std::byte> bytes{};
  recorded_memory::purpose used_as = recorded_memory::purpose::own;
  std::optional<buffer> memory{};  // empty for a slot's memory
};

struct recorded_launch {
  std::shared_ptr<kernel> code;
  nd_range range;
  std::vector<recorded_argument> arguments;
};

class recorder;

/// The object behind a cl_program.
struct recorded_program {
  recorder* owner;
  std::string text;
  std::optional<program> built{};
};

/// The object behind a cl_kernel.
struct recorded_kernel {
  struct argument {
    std::vector<std::byte> bytes{};
    recorded_memory* memory = nullptr;
  };
  recorder* owner;
  const recorded_program* program;
  std::string name;
  std::shared_ptr<kernel> code;
  std::vector<argument> arguments{};
};

/// Converts an OpenCL text of VkFFT to CUDA.
/// @param first_axis  the axis of the work groups that is first in the grid
std::string cuda_text(const std::string& text, std::size_t first_axis);

/// The object behind a cl_device_id, cl_context and cl_command_queue: the construction of one plan.
/// No exception passes through VkFFT; the first one is kept for later.
class recorder {
 public:
  /// Tables are filled on a queue of its own.
  recorder(const tune::context& context, std::size_t max_work_group, std::size_t local_memory)
      : context_(context),
        queue_(context.create_command_queue()),
        max_work_group_(max_work_group),
        local_memory_(local_memory) {}

  /// Returns 0, or an OpenCL error code if this or an earlier action threw.
  template <class Action>
  int guard(Action&& action) noexcept {
    constexpr int out_of_resources = -5;
    if (failure_) return out_of_resources;
    try {
      action();
      return 0;
    } catch (...) {
      failure_ = std::current_exception();
      return out_of_resources;
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Starts recording: later launches are recorded, and not run.
  void start() noexcept { recording_ = true; }
  std::vector<recorded_launch> take_launches() noexcept { return std::move(launches_); }
  /// The texts of the programs made so far.
  std::vector<std::string> texts() const;
  bool uses(recorded_memory::purpose wanted) const;

  /// The bytes of memory that launches use in addition, and that nothing was written to before.
  std::size_t temporary_bytes() const noexcept { return temporary_bytes_; }

  recorded_memory* create_memory(std::size_t bytes, const void* contents);
  recorded_memory* slot(recorded_memory::purpose used_as, std::size_t bytes);
  void write(recorded_memory& to, const void* from, std::size_t bytes, std::size_t offset);
  void read(recorded_memory& from, void* to, std::size_t bytes, std::size_t offset);
  void finish() { queue_.finish(); }

  recorded_program* create_program(std::string text);
  void build(recorded_program& of) const { of.built = compiled(of.text, 0); }
  recorded_kernel* create_kernel(const recorded_program& of, const char* name);
  void set_argument(recorded_kernel& target, std::size_t index, std::size_t bytes,
                    const void* value) const;
  void launch(const recorded_kernel& what, const std::size_t* global, const std::size_t* local);

  tune::device device() const { return context_.device(); }
  /// The limits of work groups for VkFFT.
  std::size_t max_work_group() const noexcept { return max_work_group_; }
  std::size_t local_memory() const noexcept { return local_memory_; }

 private:
  buffer& own_memory(recorded_memory& of) const;
  bool is_cuda() const { return context_.device().info().backend == "CUDA"; }
  program compiled(const std::string& text, std::size_t first_axis) const;
  void fit_grid(std::shared_ptr<kernel>& code, std::array<std::size_t, 3>& groups,
                const recorded_kernel& what) const;

  context context_;
  command_queue queue_;
  std::size_t max_work_group_;
  std::size_t local_memory_;
  std::exception_ptr failure_;
  bool recording_ = false;
  std::size_t temporary_bytes_ = 0;
  std::vector<std::unique_ptr<recorded_memory>> memory_;
  std::vector<std::unique_ptr<recorded_program>> programs_;
  std::vector<std::unique_ptr<recorded_kernel>> kernels_;
  std::vector<recorded_launch> launches_;
};

}  // namespace tune::operations::transforms
