// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/operation/operation.hpp"

namespace tune {

class input_set;
enum class input_kind : std::uint8_t;

/// Options of a workload: the guards of its arrays.
struct workload_options {
  /// True if each array lies between two guard bands, which detect writes out of bounds.
  bool guards = true;
  /// The minimum size of a guard band in bytes. For an array of several axes the band is at least
  /// one row long, but no longer than a megabyte.
  std::size_t guard_bytes = 4096;
};

/// One set of arrays for all configurations of a search. Without it, each configuration allocates
/// and fills its own arrays, which easily takes longer than measuring it:
///
///   tune::workload work(queue);
///   work.set("u", field);
///   session.tune(space, [&](const diffusion_tuning& tuning) {
///     auto step = diffusion_template(context, key, tuning).instantiate(queue, size, size);
///     return tune::make_measure(queue, std::move(step), work, answer);
///   });
///
/// Slots of the same name share one piece of memory, in whatever operations; its size follows the
/// largest padding so far. When an operation is bound, arrays with contents are set to them by a
/// copy on the device, and all others are filled with bytes of 0xFF, which are NaN as floats: a
/// kernel that writes nothing thus gives a wrong result. Guard bands surround each array
/// (guarded_memory). Slots that the author has bound are neither set nor guarded, so a slot with an
/// answer must not be bound by the author (make_measure). A slot may be bound to an array of the
/// workload that has another name, for kernels that work in place.
///
/// A kernel's time, and its errors, may depend on its inputs. So a workload may have several sets
/// of inputs: the author's, defined by set, and others (input_set.hpp), such as recorded frames and
/// those that vary makes. A check runs a configuration on each; its time is the mean over the sets
/// by their weights, by default that of the author's.
///
/// Because memory is shared, only one of the bound operations may run at a time, best on this
/// queue: with another queue, each restore waits for both queues. A handle: copies refer to the
/// same arrays. Used by one thread; it may be destroyed before the operations.
class workload {
 public:
  /// Makes no arrays yet; bind does.
  /// @param queue    sets and checks the arrays; its context owns them
  /// @param options  the guards of every array
  explicit workload(command_queue queue, const workload_options& options = {});

  /// The queue that sets and checks the arrays.
  const command_queue& queue() const noexcept { return queue_; }

  /// Defines the contents of the slots of this name, set whenever an operation is bound.
  /// @param slot      tune::optional_slot(name) if some of the operations lack the slot
  /// @param contents  with the type and shape of the slot; the padding may differ. It is kept; if
  /// it wraps memory of the application, it is copied
  template <element T>
  workload& set(const slot_reference& slot, host_array<T> contents) {
    auto kept = std::make_shared<const host_array<T>>(detail::owned(std::move(contents)));
    set_upload(slot, [kept](command_queue& queue, const device_array& target) {
      target.set(queue, *kept);
    });
    return *this;
  }

  /// Defines contents by a copy of the elements of a range, such as a vector.
  /// @param slot      as above
  /// @param elements  in C order, of the type of the slot
  /// @param size      the shape of the slot; its number of elements is that of the range
  template <detail::host_range Range>
  workload& set(const slot_reference& slot, const Range& elements, const shape& size) {
    return set(slot, host_array<detail::element_of<Range>>::copy_of(
                         {std::data(elements), std::size(elements)}, size));
  }

  /// Defines contents by a device array, which is copied on the device at each use: for element
  /// types that the host does not know.
  workload& set(const slot_reference& slot, const device_array& contents);

  /// Returns the set of inputs of this name, and makes it on first use. Define all sets before the
  /// answers (take_answer) and the first configuration.
  /// @param name  of letters, digits, spaces and "_-.", for messages and reports
  /// @throws argument_error for another name
  input_set inputs(const std::string& name);
  /// Adds a set of inputs for each kind, which has its name: contents that are made from the
  /// author's in these slots, to find kernels that are right for the author's alone.
  ///   work.vary({"samples"}, {tune::input_kind::zeros, tune::input_kind::extremes});
  workload& vary(std::initializer_list<std::string> slots, std::initializer_list<input_kind> kinds);
  /// Adds a set of inputs with the contents of the author, in which each array begins at an odd
  /// multiple of this many bytes: the alignment that callers promise, such as 16 if kernels read
  /// words of 16 bytes. It finds kernels that rely on more. Memory of libtune always begins at
  /// multiples of device_limits::buffer_alignment_bytes; on CUDA an application may wrap memory of
  /// any address. On OpenCL every buffer has that alignment, so fewer bytes stand for it. Elements
  /// stay aligned. A second call replaces the number.
  ///
  /// On CUDA a misaligned access is a fault of the device: search in a child process.
  /// @throws argument_error unless it is a power of two
  workload& vary_alignment(std::size_t bytes);
  /// Sets the part of the author's inputs in the time of a configuration; 1 by default, where other
  /// sets have 0 (input_set::weight). @throws argument_error unless it is finite and at least 0
  workload& weight(double part);

  /// A set of inputs.
  struct inputs_description {
    std::string name;   ///< empty: the author's
    double weight = 0;  ///< its part in the time of a configuration
    /// True for the contents of the author in arrays that begin elsewhere (vary_alignment).
    bool is_shifted = false;
  };
  /// All sets, the author's first.
  const std::vector<inputs_description>& all_inputs() const noexcept;
  /// Chooses the set of inputs for later calls of restore and run. bind chooses the author's.
  /// @param number  its index in all_inputs @throws argument_error if it is too large
  void use_inputs(std::size_t number);

  /// Binds every unbound slot of the operation, and sets its contents.
  /// @throws argument_error or type_error if contents do not fit the slot; argument_error that
  ///         lists the slots if contents belong to a slot that the operation lacks, that is part of
  ///         another, or that is an alias; device_error if there is no memory
  void bind(operation& operation);
  /// Sets the contents of all arrays of the workload in the operation again, as bind does, and
  /// rebinds slots whose array was replaced by a larger one: for measure::reset, if a kernel
  /// overwrites its inputs.
  /// @param operation  has been bound by bind
  /// @param poison     the fill value of arrays without contents; the guard bands get another
  /// pattern, which depends on it
  void restore(const operation& operation, std::byte poison = std::byte{0xFF});

  /// Binds an operation, runs it once on its contents, and waits for its end. Its arrays then hold
  /// the results.
  /// @throws exceptions of bind and the device; error if it writes out of bounds
  void run(operation& operation, std::byte poison = std::byte{0xFF});

  /// Returns a description of the writes into the guard bands of the operation's workload arrays,
  /// since these were last set ("'output': element 1024, 1 past the end, was written"); empty
  /// without writes. Waits for the queue.
  std::optional<std::string> find_stray_write(const operation& operation);

  /// True if a slot of the operation, possibly a hidden one, is bound to an array of the workload,
  /// which restore sets and find_stray_write checks.
  /// @throws argument_error if there is no such slot
  bool provides(const operation& operation, std::string_view slot) const;

  /// The slots of a bound operation whose arrays belong to the workload and have no contents: those
  /// that it writes.
  std::vector<std::string> outputs(const operation& operation) const;

  /// The bytes of device memory that it holds now, including the guard bands.
  std::size_t held_bytes() const noexcept;

 private:
  friend class input_set;
  struct source;
  struct shared_array;
  struct contents;
  using upload_function = std::function<void(command_queue&, const device_array&)>;

  void set_upload(const slot_reference& slot, upload_function upload);
  void set_in(std::size_t number, const std::string& slot, upload_function upload);
  void derive_in(std::size_t number, const std::string& slot, input_kind kind);
  void weigh(std::size_t number, double part);
  source& source_of(std::size_t number, const std::string& slot);
  void check_contents(const operation& operation) const;
  void provide(shared_array& shared, const slot& slot);
  std::size_t shift_of(const slot& slot) const;
  const buffer& present_memory(const shared_array& shared) const;
  void follow(slot& slot) const;
  void fill(shared_array& shared, const device_array& target, std::byte poison);
  void produce(shared_array& shared, const source& from, const device_array& target);
  const device_array& original_of(shared_array& shared, source& from, const array_layout& layout);
  shared_array* find(const named_slot& item) const;

  command_queue queue_;
  std::shared_ptr<contents> contents_;
};

}  // namespace tune
