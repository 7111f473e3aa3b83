// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/fft/backend/vkfft_recorder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"

#include "vkfft_cuda.kernel.hpp"

namespace tune::operations::transforms {
namespace {

constexpr std::size_t most_groups_of_later_axes = 65535;  // limit of a CUDA grid

}  // namespace

std::string cuda_text(const std::string& text, std::size_t first_axis) {
  constexpr std::string_view attribute = "__attribute__((reqd_work_group_size(";
  // OpenCL's ids have 64 bits, which VkFFT uses only if its own indices have 64 bits.
  const bool is_wide = text.find("long") != std::string::npos;
  std::string made = fmt::format("#define LIBTUNE_FIRST_AXIS {}\n#define LIBTUNE_INDEX {}\n",
                                 first_axis, is_wide ? "size_t" : "uint") +
                     std::string(embedded::vkfft_cuda_kernel);
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = text.find(attribute, at);
    if (begin == std::string::npos) break;
    const std::size_t shape = begin + attribute.size();
    const std::size_t end = text.find(')', shape);
    made.append(text, at, begin - at);
    made += "REQD_WORK_GROUP_SIZE(" + text.substr(shape, end - shape) + ")";
    at = std::min(end + 3, text.size());  // skips its three parentheses
  }
  return made.append(text, at);
}

buffer& recorder::own_memory(recorded_memory& of) const {
  if (!of.memory) of.memory = context_.create_buffer(of.bytes);
  return *of.memory;
}

recorded_memory* recorder::create_memory(std::size_t bytes, const void* contents) {
  memory_.push_back(std::make_unique<recorded_memory>(recorded_memory{.bytes = bytes}));
  if (contents != nullptr) write(*memory_.back(), contents, bytes, 0);
  return memory_.back().get();
}

recorded_memory* recorder::slot(recorded_memory::purpose used_as, std::size_t bytes) {
  memory_.push_back(
      std::make_unique<recorded_memory>(recorded_memory{.bytes = bytes, .used_as = used_as}));
  return memory_.back().get();
}

void recorder::write(recorded_memory& to, const void* from, std::size_t bytes, std::size_t offset) {
  queue_.write(own_memory(to), from, bytes, offset);
}

program recorder::compiled(const std::string& text, std::size_t first_axis) const {
  return compile(context_, {"VkFFT.kernel", is_cuda() ? cuda_text(text, first_axis) : text});
}

void recorder::read(recorded_memory& from, void* to, std::size_t bytes, std::size_t offset) {
  queue_.read(own_memory(from), to, bytes, offset);
}

std::vector<std::string> recorder::texts() const {
  std::vector<std::string> found;
  for (const auto& item : programs_) found.push_back(item->text);
  return found;
}

recorded_program* recorder::create_program(std::string text) {
  programs_.push_back(std::make_unique<recorded_program>(recorded_program{this, std::move(text)}));
  return programs_.back().get();
}

recorded_kernel* recorder::create_kernel(const recorded_program& of, const char* name) {
  auto code = std::make_shared<kernel>(of.built->create_kernel(name));
  kernels_.push_back(
      std::make_unique<recorded_kernel>(recorded_kernel{this, &of, name, std::move(code)}));
  return kernels_.back().get();
}

// Memory and plain values arrive by the same call; a value is never the address of a live object.
void recorder::set_argument(recorded_kernel& target, std::size_t index, std::size_t bytes,
                            const void* value) const {
  if (target.arguments.size() <= index) target.arguments.resize(index + 1);
  recorded_kernel::argument& argument = target.arguments[index];
  argument = {};
  if (bytes == sizeof(void*)) {
    void* pointer = nullptr;
    std::memcpy(&pointer, value, sizeof pointer);
    for (const auto& item : memory_) {
      if (item.get() == pointer) argument.memory = item.get();
    }
    if (argument.memory != nullptr) return;
  }
  const auto* first = static_cast<const std::byte*>(value);
  argument.bytes.assign(first, first + bytes);
}

// An axis with more groups than the limit of a CUDA grid is exchanged with the first.
void recorder::fit_grid(std::shared_ptr<kernel>& code, std::array<std::size_t, 3>& groups,
                        const recorded_kernel& what) const {
  const std::size_t longest = groups[2] > groups[1] ? 2 : 1;
  if (groups.at(longest) <= most_groups_of_later_axes) return;
  if (std::min(groups[1], groups[2]) > most_groups_of_later_axes ||
      groups[0] > most_groups_of_later_axes) {
    throw device_error("VkFFT", device().name(),
                       fmt::format("a kernel has {} x {} x {} work groups; CUDA takes more than "
                                   "{} along one axis only",
                                   groups[0], groups[1], groups[2], most_groups_of_later_axes));
  }
  code = std::make_shared<kernel>(compiled(what.program->text, longest).create_kernel(what.name));
  std::swap(groups[0], groups.at(longest));
}

void recorder::launch(const recorded_kernel& what, const std::size_t* global,
                      const std::size_t* local) {
  std::array<std::size_t, 3> groups{global[0] / local[0], global[1] / local[1],
                                    global[2] / local[2]};
  std::shared_ptr<kernel> code = what.code;
  if (is_cuda()) fit_grid(code, groups, what);
  const nd_range range{{groups[0] * local[0], groups[1] * local[1], groups[2] * local[2]},
                       {local[0], local[1], local[2]},
                       0};
  if (!recording_) {
    for (std::size_t i = 0; i < what.arguments.size(); ++i) {
      const recorded_kernel::argument& argument = what.arguments[i];
      if (argument.memory != nullptr) {
        code->set_argument(i, own_memory(*argument.memory));
      } else {
        code->set_argument(i, std::span<const std::byte>(argument.bytes));
      }
    }
    queue_.enqueue(*code, range);
    return;
  }
  recorded_launch made{std::move(code), range, {}};
  for (const recorded_kernel::argument& argument : what.arguments) {
    recorded_argument& kept = made.arguments.emplace_back();
    kept.bytes = argument.bytes;
    if (argument.memory == nullptr) continue;
    kept.used_as = argument.memory->used_as;
    if (kept.used_as == recorded_memory::purpose::own) {
      // Memory without contents is the library's scratch.
      if (argument.memory->memory) {
        kept.memory = argument.memory->memory;
      } else {
        kept.used_as = recorded_memory::purpose::temporary;
        temporary_bytes_ = argument.memory->bytes;
      }
    }
  }
  launches_.push_back(std::move(made));
}

bool recorder::uses(recorded_memory::purpose wanted) const {
  return std::ranges::any_of(launches_, [&](const recorded_launch& launch) {
    return std::ranges::any_of(launch.arguments, [&](const recorded_argument& argument) {
      return argument.bytes.empty() && argument.used_as == wanted;
    });
  });
}

}  // namespace tune::operations::transforms
