// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

/// Options of a workload: how it guards its arrays.
struct workload_options {
  /// True if each array lies between two bands of memory that show what is written out of bounds.
  bool guards = true;
  /// The least bytes of a band; where that is more, the band of an array of several axes is as long
  /// as one of its rows, though no longer than a megabyte.
  std::size_t guard_bytes = 4096;
};

/// One set of arrays for all configurations of a search, so that none of them has to allocate and
/// fill arrays of its own, which soon takes longer than to measure it:
///
///   tune::workload work(queue);
///   work.set("u", field);
///   session.tune(space, [&](const diffusion_tuning& tuning) {
///     auto step = diffusion_template(context, key, tuning).instantiate(queue, size, size);
///     return tune::make_measure(queue, std::move(step), work, answer);
///   });
///
/// Slots of one name share one piece of memory, as large as the strictest padding so far asks for,
/// whatever the operations. Before an operation is bound, arrays with contents are set to them, by
/// a copy on the device, and all others are filled with bytes of 0xFF, which are NaN to floats: a
/// kernel that writes nothing is not taken for right. Around each array lie guard bands
/// (guarded_memory). What the author has bound is left alone: it is neither set nor guarded, and so
/// no slot that has an answer may be bound to it (make_measure). A slot may be bound to an
/// array from here that has another name, as where a kernel works in place.
///
/// Since memory is shared, one operation of those that are bound may run at a time, best on this
/// queue: with another one each restore waits for both. A handle: copies mean the same arrays. Used
/// by one thread; it may be destroyed before the operations.
class workload {
 public:
  /// No arrays yet: bind makes them.
  /// @param queue    sets and checks the arrays, which belong to its context
  /// @param options  the guards of every array
  explicit workload(command_queue queue, const workload_options& options = {});

  /// The queue on which arrays are set and checked.
  const command_queue& queue() const noexcept { return queue_; }

  /// Sets the contents of the array in the slots of this name, whenever an operation is bound.
  /// @param slot      tune::optional_slot(name) where some of the operations have no such slot
  /// @param contents  of the type and shape of the slot; the padding may differ. It is kept; what
  ///                  wraps memory of the application is copied
  template <element T>
  workload& set(const slot_reference& slot, host_array<T> contents) {
    auto kept = std::make_shared<const host_array<T>>(detail::owned(std::move(contents)));
    set_upload(slot, [kept](command_queue& queue, const device_array& target) {
      target.set(queue, *kept);
    });
    return *this;
  }

  /// The same with a copy of the elements of a range, such as a vector.
  /// @param slot      as above
  /// @param elements  in C order, of the type of the slot
  /// @param size      the shape of the slot, which has as many
  template <detail::host_range Range>
  workload& set(const slot_reference& slot, const Range& elements, const shape& size) {
    return set(slot, host_array<detail::element_of<Range>>::copy_of(
                         {std::data(elements), std::size(elements)}, size));
  }

  /// The same with what an array holds whenever this is copied, on the device: elements of types
  /// that the host does not know.
  workload& set(const slot_reference& slot, const device_array& contents);

  /// Binds every slot of the operation that is not bound yet, and sets its contents.
  /// @throws argument_error or type_error if contents do not fit the slot, argument_error that
  ///         lists the slots if there are contents for one that the operation does not have, that
  ///         is part of another or that is an alias; device_error if there is no memory
  void bind(operation& operation);
  /// Sets the contents of all arrays that the operation has from here, as bind does, and moves
  /// those that have been replaced by larger ones: for measure::reset, where a kernel overwrites
  /// its inputs.
  /// @param operation  one that bind has bound
  /// @param poison     what arrays without contents are filled with; the guard bands get another
  ///                   pattern, which depends on it
  void restore(const operation& operation, std::byte poison = std::byte{0xFF});

  /// Binds an operation, runs it once on its contents, and waits for its end: its arrays then hold
  /// the results.
  /// @throws what bind and the device throw; error if it writes out of bounds
  void run(operation& operation, std::byte poison = std::byte{0xFF});

  /// Returns a description of the writes into the guard bands of the arrays that the operation has
  /// from here, since these were last set ("'output': element 1024, 1 past the end, was written");
  /// nothing if there are none. Waits for the queue.
  std::optional<std::string> find_stray_write(const operation& operation);

  /// True if a slot of the operation, which may be a hidden one, is bound to an array from here:
  /// one that restore sets and that find_stray_write looks after.
  /// @throws argument_error if there is no such slot
  bool provides(const operation& operation, std::string_view slot) const;

  /// The bytes of device memory that it holds now, the guard bands included.
  std::size_t held_bytes() const noexcept;

 private:
  struct shared_array;
  struct contents;
  using upload_function = std::function<void(command_queue&, const device_array&)>;

  void set_upload(const slot_reference& slot, upload_function upload);
  void check_contents(const operation& operation) const;
  void provide(shared_array& shared, const slot& slot);
  void follow(slot& slot) const;
  void fill(shared_array& source, const device_array& target, std::byte poison);
  shared_array* find(const named_slot& item) const;

  command_queue queue_;
  std::shared_ptr<contents> contents_;
};

}  // namespace tune
