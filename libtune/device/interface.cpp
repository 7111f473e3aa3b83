// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/interface.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::detail {
namespace {

// A door for actions on a device.
template <class... Arguments>
void check_device_door(sealed_action action, const device_info& device, const char* format,
                       const Arguments&... arguments) {
  const auto what = [&] {
    return fmt::format(fmt::runtime(format), arguments...) + " on device '" + device.identity.name +
           "'";
  };
  refuse_if_forked(what);
  check_seal(action, what);
}

void note_release(std::size_t bytes, const char* what, const device_info& device) noexcept {
  note_seal(sealed_action::release, [&] {
    return fmt::format("release {} bytes of {} on device '{}'", bytes, what, device.identity.name);
  });
}

}  // namespace

std::shared_ptr<context_interface> device_interface::create_context(context_options options) const {
  check_device_door(sealed_action::allocate, info(), "create a context");
  return do_create_context(options);
}

device_interface::device_interface(part_origin origin, std::size_t compute_units)
    : info_(origin.whole->info()), part_(std::move(origin)) {
  info_.whole_compute_units = info_.limits.compute_units;
  info_.limits.compute_units = compute_units;
  info_.identity.performance.compute_units = static_cast<std::int64_t>(compute_units);
}

std::vector<std::shared_ptr<const device_interface>> device_interface::divide(
    const std::vector<std::size_t>& compute_units) const {
  const std::string asked = fmt::format("divide device '{}' into parts of {} compute units",
                                        info_.identity.name, fmt::join(compute_units, ", "));
  const auto refuse = [&](const std::string& reason) {
    throw argument_error(fmt::format("cannot {}: {}", asked, reason));
  };
  if (part_) refuse("it is a part itself; divide the whole device into all parts at once");
  if (compute_units.empty()) refuse("no part is given");
  std::size_t left = info_.limits.compute_units;
  for (const std::size_t count : compute_units) {
    if (count == 0) refuse("a part needs at least one");
    if (count > left) refuse(fmt::format("it has {}", info_.limits.compute_units));
    left -= count;
  }
  check_device_door(sealed_action::allocate, info(), "make parts");
  return do_divide(compute_units);
}

std::vector<std::shared_ptr<const device_interface>> device_interface::do_divide(
    const std::vector<std::size_t>&) const {
  throw device_error("dividing the compute units", info_.identity.name,
                     fmt::format("a device of {} cannot be divided", info_.backend));
}

std::unique_ptr<kernel_interface> program_interface::create_kernel(const std::string& name) const {
  check_device_door(sealed_action::load, context_->info(), "create kernel '{}'", name);
  auto made = do_create_kernel(name);
  const std::lock_guard lock(records_mutex_);
  if (!records_) return made;
  const auto known = std::ranges::find(launch_records_, name, &launch_record::kernel);
  if (known == launch_records_.end()) {
    made->record_ = launch_records_.emplace_back(std::make_shared<launch_record>(name));
  } else {
    made->record_ = *known;
  }
  return made;
}

void program_interface::record_launches() const {
  const std::lock_guard lock(records_mutex_);
  records_ = true;
}

std::vector<std::shared_ptr<const launch_record>> program_interface::launch_records() const {
  const std::lock_guard lock(records_mutex_);
  return {launch_records_.begin(), launch_records_.end()};
}

void launch_record::note(const nd_range& range) {
  constexpr std::size_t most = 16;
  const std::lock_guard lock(mutex_);
  const auto same = [&](const nd_range& known) {
    return known.local == range.local && known.local_memory_bytes == range.local_memory_bytes;
  };
  if (launches_.size() < most && std::ranges::none_of(launches_, same)) launches_.push_back(range);
}

std::vector<nd_range> launch_record::launches() const {
  const std::lock_guard lock(mutex_);
  return launches_;
}

void kernel_interface::refuse_argument(std::size_t index, const std::string& reason) const {
  throw device_error(fmt::format("setting argument {} of kernel '{}'", index, info_.name),
                     context_->info().identity.name, reason, device_failure::invalid_launch);
}

void kernel_interface::throw_no_argument(std::size_t index, std::size_t count) const {
  refuse_argument(index, fmt::format("the kernel takes {} argument{}, counted from 0", count,
                                     count == 1 ? "" : "s"));
}

void kernel_interface::throw_wrong_argument(std::size_t index, const std::string& given,
                                            const std::string& taken) const {
  refuse_argument(index, fmt::format("{} given, the parameter takes {}", given, taken));
}

void kernel_interface::throw_unset_argument(std::size_t index, std::size_t count) const {
  throw device_error(
      fmt::format("launch of kernel '{}'", info_.name), context_->info().identity.name,
      fmt::format("argument {} is not set; the kernel takes {}, counted from 0", index, count),
      device_failure::invalid_launch);
}

void kernel_interface::check_context(std::size_t index, const buffer_interface& given,
                                     const char* what) const {
  if (given.context() == context_) return;
  throw argument_error(
      fmt::format("argument {} of kernel '{}' is {} of another context", index, info_.name, what));
}

void kernel_interface::do_set_sampler(std::size_t index, const std::shared_ptr<buffer_interface>&) {
  refuse_argument(index, "images of this device have their sampling with them; pass the image");
}

std::shared_ptr<buffer_interface> program_interface::do_variable(const std::string& name) const {
  throw device_error(fmt::format("finding the variable '{}' of a program", name),
                     context_->info().identity.name,
                     "its API has no variables that the host can write; give the kernel a CONSTANT "
                     "pointer and set it to a buffer");
}

pinned_memory_interface::~pinned_memory_interface() {
  if (device_ != nullptr) note_release(bytes_, "pinned memory", device_->info());
}

buffer_interface::~buffer_interface() {
  if (!allocated_) return;
  note_release(bytes_, "memory", context_->info());
  context_->device()->whole().held_bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
  if (quota_ != nullptr) quota_->give(bytes_);
}

buffer_interface::buffer_interface(std::shared_ptr<const buffer_interface> parent,
                                   std::size_t offset_bytes, std::size_t bytes)
    : context_(parent->context_),
      parent_(std::move(parent)),
      bytes_(bytes),
      host_data_(parent_->host_data_ != nullptr
                     ? static_cast<std::byte*>(parent_->host_data_) + offset_bytes
                     : nullptr) {}

std::shared_ptr<buffer_interface> context_interface::create_buffer(std::size_t bytes) {
  check_device_door(sealed_action::allocate, info(), "allocate {} bytes", bytes);
  return allocate(bytes, [&] { return do_create_buffer(bytes); });
}

// A search continues without memory that it cannot have; for the application, searches give up
// theirs.
std::shared_ptr<buffer_interface> context_interface::allocate(
    std::size_t bytes, const std::function<std::shared_ptr<buffer_interface>()>& make) {
  const device_limits& limits = info().limits;
  const bool may_fit = bytes <= limits.max_allocation_bytes && bytes <= limits.global_memory_bytes;
  std::shared_ptr<buffer_interface> made;
  std::exception_ptr refusal;
  // Returns false if there is no room now.
  const auto try_to_make = [&] {
    try {
      made = make();
      return true;
    } catch (const device_error& failure) {
      if (failure.failure() != device_failure::out_of_memory || !may_fit) throw;
      refusal = std::current_exception();
      return false;
    }
  };
  const std::shared_ptr<memory_quota> counts = quota();
  if (counts != nullptr) {
    made = counts->allocate(bytes, *this, make);
  } else if (!make_reclaiming(*device_, bytes, try_to_make)) {
    std::rethrow_exception(refusal);
  }
  made->allocated_ = true;
  made->quota_ = counts;
  device_->whole().held_bytes_.fetch_add(made->bytes(), std::memory_order_relaxed);
  return made;
}

memory_figures context_interface::memory() const {
  const std::size_t held = device_->held_bytes();
  if (auto told = do_memory()) {
    told->held_bytes = held;
    told->is_measured = true;
    return *told;
  }
  const std::size_t total = info().limits.global_memory_bytes;
  return {.total_bytes = total, .free_bytes = total - std::min(total, held), .held_bytes = held};
}

void context_interface::set_quota(std::shared_ptr<memory_quota> quota) {
  const std::lock_guard lock(quota_mutex_);
  quota_.swap(quota);
}

std::shared_ptr<memory_quota> context_interface::quota() const {
  if (auto own = memory_quota_scope::find(*device_)) return own;
  const std::lock_guard lock(quota_mutex_);
  return quota_;
}

std::string context_interface::find_capture() const {
  if (is_capturing_on_this_thread()) return "a command_queue::capture of this thread";
  return do_find_capture();
}

std::shared_ptr<buffer_interface> context_interface::create_managed_buffer(std::size_t bytes) {
  check_device_door(sealed_action::allocate, info(), "allocate {} bytes of managed memory", bytes);
  return allocate(bytes, [&] { return do_create_managed_buffer(bytes); });
}

std::shared_ptr<buffer_interface> context_interface::create_image(const image_layout& layout) {
  check_device_door(sealed_action::allocate, info(), "allocate an image of {} bytes",
                    layout.size_bytes());
  return allocate(layout.size_bytes(), [&] { return do_create_image(layout); });
}

std::shared_ptr<buffer_interface> context_interface::do_create_image(const image_layout&) {
  throw device_error("making an image", info().identity.name, "the device has no images");
}

std::shared_ptr<pinned_memory_interface> context_interface::create_pinned_memory(
    std::size_t bytes) {
  check_device_door(sealed_action::allocate, info(), "allocate {} bytes of pinned memory", bytes);
  auto made = do_create_pinned_memory(bytes);
  made->device_ = device_;
  return made;
}

std::shared_ptr<queue_interface> context_interface::create_queue(queue_settings settings) {
  check_device_door(sealed_action::allocate, info(), "create a command queue");
  return do_create_queue(settings);
}

std::shared_ptr<program_interface> context_interface::create_program(const program_source& source) {
  check_device_door(sealed_action::compile, info(), "compile '{}'", source.name);
  return do_create_program(source);
}

std::shared_ptr<program_interface> context_interface::create_program_from_binary(
    const std::string& name, std::span<const std::byte> binary) {
  check_device_door(sealed_action::load, info(), "load program '{}'", name);
  auto made = do_create_program_from_binary(name, binary);
  made->set_binary_bytes(binary.size());
  return made;
}

std::shared_ptr<buffer_interface> context_interface::create_sub_buffer(
    const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes, std::size_t bytes) {
  return create_aligned_part(parent, offset_bytes, bytes, info().limits.buffer_alignment_bytes);
}

std::shared_ptr<buffer_interface> context_interface::create_part(
    const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes, std::size_t bytes) {
  return create_aligned_part(parent, offset_bytes, bytes, least_alignment());
}

std::shared_ptr<buffer_interface> context_interface::create_aligned_part(
    const std::shared_ptr<buffer_interface>& parent, std::size_t offset_bytes, std::size_t bytes,
    std::size_t alignment) {
  const std::string& name = info().identity.name;
  if (parent->context().get() != this) {
    throw argument_error(
        fmt::format("the parent of a sub-buffer belongs to another context on device '{}'", name));
  }
  if (bytes == 0) throw argument_error("a buffer needs at least one byte");
  if (offset_bytes > parent->bytes() || bytes > parent->bytes() - offset_bytes) {
    throw argument_error(fmt::format("a sub-buffer of {} bytes at {} leaves its buffer of {} bytes",
                                     bytes, offset_bytes, parent->bytes()));
  }
  if (offset_bytes % alignment != 0) {
    throw argument_error(
        fmt::format("a sub-buffer at {} is not aligned to the {} bytes of device '{}' "
                    "(device_limits::buffer_alignment_bytes)",
                    offset_bytes, alignment, name));
  }
  return do_create_sub_buffer(parent, offset_bytes, bytes);
}

void context_interface::attach(const void* key, std::shared_ptr<const void> value) {
  const std::lock_guard lock(attachments_mutex_);
  for (auto& [known, attached] : attachments_) {
    if (known == key) {
      attached.swap(value);  // the old one is destroyed after the lock, because its destructor may
                             // do anything
      return;
    }
  }
  attachments_.emplace_back(key, std::move(value));
}

std::shared_ptr<const void> context_interface::attachment(const void* key) const {
  const std::lock_guard lock(attachments_mutex_);
  for (const auto& [known, attached] : attachments_) {
    if (known == key) return attached;
  }
  return nullptr;
}

}  // namespace tune::detail
