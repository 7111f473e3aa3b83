// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/buffer.hpp"

#include <exception>
#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune {

std::size_t buffer::size_bytes() const noexcept { return impl_->bytes(); }

void* buffer::host_data() const noexcept { return impl_->host_data(); }

mapped_memory::mapped_memory(std::shared_ptr<detail::queue_interface> queue,
                             std::shared_ptr<detail::buffer_interface> buffer, bool blocking)
    : queue_(std::move(queue)),
      buffer_(std::move(buffer)),
      data_(queue_->map(*buffer_, blocking)) {}

mapped_memory::mapped_memory(mapped_memory&& other) noexcept
    : queue_(std::move(other.queue_)),
      buffer_(std::move(other.buffer_)),
      data_(std::exchange(other.data_, nullptr)) {}

mapped_memory& mapped_memory::operator=(mapped_memory&& other) noexcept {
  if (this == &other) return *this;
  end_or_log();
  queue_ = std::move(other.queue_);
  buffer_ = std::move(other.buffer_);
  data_ = std::exchange(other.data_, nullptr);
  return *this;
}

mapped_memory::~mapped_memory() { end_or_log(); }

std::size_t mapped_memory::size_bytes() const noexcept {
  return buffer_ != nullptr ? buffer_->bytes() : 0;
}

void mapped_memory::unmap() {
  if (data_ != nullptr) queue_->unmap(*buffer_, std::exchange(data_, nullptr));
}

void mapped_memory::end_or_log() noexcept {
  if (detail::is_forked()) return;
  try {
    unmap();
  } catch (const std::exception& failure) {
    log(log_level::error, failure.what());
  }
}

void* pinned_memory::data() const noexcept { return impl_->data(); }

std::size_t pinned_memory::size_bytes() const noexcept { return impl_->bytes(); }

}  // namespace tune
