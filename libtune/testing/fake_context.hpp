// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The fake device's implementation of libtune/device/interface.hpp, except kernels
// (fake_kernel_object.hpp) and queues (fake_queue.hpp).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/device/queue_interface.hpp"
#include "libtune/testing/fake_state.hpp"

namespace tune::testing {

class fake_device_impl final : public detail::device_interface {
 public:
  explicit fake_device_impl(std::shared_ptr<fake_state> state)
      : device_interface(state->info()), state_(std::move(state)) {}
  /// A part, with the memory, the clock and the kernels of the whole device.
  fake_device_impl(detail::part_origin origin, std::size_t compute_units,
                   std::shared_ptr<fake_state> state)
      : device_interface(std::move(origin), compute_units), state_(std::move(state)) {}

 private:
  std::shared_ptr<detail::context_interface> do_create_context(
      context_options options) const override;
  std::vector<std::shared_ptr<const device_interface>> do_divide(
      const std::vector<std::size_t>& compute_units) const override;

  std::shared_ptr<fake_state> state_;
};

class fake_context final : public detail::context_interface {
 public:
  fake_context(std::shared_ptr<const detail::device_interface> device,
               std::shared_ptr<fake_state> state)
      : context_interface(std::move(device)), state_(std::move(state)) {}

  std::size_t least_alignment() const override { return 1; }

 private:
  std::shared_ptr<detail::buffer_interface> do_create_buffer(std::size_t bytes) override;
  std::shared_ptr<detail::buffer_interface> do_create_managed_buffer(std::size_t bytes) override;
  /// A kernel sees its pixels as a buffer.
  std::shared_ptr<detail::buffer_interface> do_create_image(const image_layout& layout) override {
    return do_create_buffer(layout.size_bytes());
  }
  std::shared_ptr<detail::buffer_interface> do_create_sub_buffer(
      const std::shared_ptr<detail::buffer_interface>& parent, std::size_t offset_bytes,
      std::size_t bytes) override;
  std::shared_ptr<detail::pinned_memory_interface> do_create_pinned_memory(
      std::size_t bytes) override;
  std::shared_ptr<detail::queue_interface> do_create_queue(
      detail::queue_settings settings) override;
  std::shared_ptr<detail::program_interface> do_create_program(
      const program_source& source) override;
  std::shared_ptr<detail::program_interface> do_create_program_from_binary(
      const std::string& name, std::span<const std::byte> binary) override;
  std::string do_compiler_identity() const override;
  std::optional<memory_figures> do_memory() const override;
  std::string do_find_capture() const override;

  std::shared_ptr<fake_state> state_;
};

/// Memory counted against the device's, filled with poison.
class fake_allocation {
 public:
  fake_allocation(std::shared_ptr<fake_state> state, std::size_t bytes);
  fake_allocation(fake_allocation&&) = default;
  ~fake_allocation();

  std::vector<std::byte>& bytes() noexcept { return bytes_; }

 private:
  std::shared_ptr<fake_state> state_;
  std::vector<std::byte> bytes_;
};

/// A whole buffer or a part of one. Mapped memory is a copy for the host with the device's
/// contents, written back when the mapping ends: accesses at the wrong time have visible effects.
class fake_buffer final : public detail::buffer_interface, public fake_memory {
 public:
  fake_buffer(std::shared_ptr<detail::context_interface> context,
              const std::shared_ptr<fake_allocation>& memory, managed_memory_kind access)
      : buffer_interface(std::move(context), memory->bytes().size(),
                         access == managed_memory_kind::direct ? memory->bytes().data() : nullptr),
        memory_(memory),
        contents_(memory->bytes()),
        access_(access) {}
  fake_buffer(const std::shared_ptr<const fake_buffer>& parent, std::size_t offset_bytes,
              std::size_t bytes)
      : buffer_interface(parent, offset_bytes, bytes),
        memory_(parent->memory_),
        contents_(parent->contents_.subspan(offset_bytes, bytes)),
        access_(parent->access_) {}

  std::span<std::byte> contents() noexcept override { return contents_; }

 private:
  void* do_map(detail::queue_interface& queue, bool blocking) override;
  void do_unmap(detail::queue_interface& queue, void* data) override;

  std::shared_ptr<fake_allocation> memory_;  // shared with its parts
  std::span<std::byte> contents_;
  managed_memory_kind access_;
};

class fake_pinned_memory final : public detail::pinned_memory_interface {
 public:
  explicit fake_pinned_memory(std::vector<std::byte> memory)
      : pinned_memory_interface(memory.data(), memory.size()), memory_(std::move(memory)) {}

 private:
  std::vector<std::byte> memory_;
};

/// Its binary is a magic line and the program's text.
class fake_program final : public detail::program_interface {
 public:
  static constexpr std::string_view magic = "fake program\n";

  fake_program(std::shared_ptr<detail::context_interface> context, std::string text,
               std::shared_ptr<const fake_macros> macros, std::shared_ptr<fake_state> state)
      : program_interface(std::move(context)),
        text_(std::move(text)),
        macros_(std::move(macros)),
        state_(std::move(state)) {}

 private:
  std::unique_ptr<detail::kernel_interface> do_create_kernel(
      const std::string& name) const override;
  std::vector<std::byte> do_binary() const override;

  std::string text_;
  std::shared_ptr<const fake_macros> macros_;
  std::shared_ptr<fake_state> state_;
};

}  // namespace tune::testing
