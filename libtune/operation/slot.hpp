// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/array/allocator.hpp"
#include "libtune/device/buffer.hpp"
#include "libtune/device/context.hpp"
#include "libtune/operation/dimension.hpp"

namespace tune {

/// A place in an operation for memory: an io_slot takes an array, a compound_slot one array for
/// several slots, an alias_slot one piece of memory in which several slots have an array each. The
/// last two own what they are made of, so slots form trees; only the root of a tree may be bound,
/// allocated or unbound, and it takes the whole tree along. A slot whose owner is destroyed is a
/// root again, with what is bound to it. Not thread-safe.
class slot {
 public:
  virtual ~slot();
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;

  /// The name given at construction, without the "child:" that a sequence puts before it.
  const std::string& name() const noexcept { return name_; }

  /// The compound or alias that this slot is part of; null for a root.
  const slot* owner() const noexcept { return owner_; }
  /// The slot at the top of the tree: this one if it has no owner.
  slot& root() noexcept;
  /// What a compound or alias is made of.
  std::span<const std::shared_ptr<slot>> children() const noexcept { return children_; }

  /// Whether something is bound to this slot, or by its root to the whole tree.
  bool is_bound() const noexcept { return bound_; }
  /// A number that changes with what is bound; see operation::version.
  std::uint64_t version() const noexcept { return version_; }

  /// The least number of bytes of memory that can be bound.
  std::size_t required_bytes() const { return do_required_bytes(); }

  /// Binds memory, which is then laid out as the slot requires. On failure what was bound stays
  /// bound. @throws argument_error if it is too small, belongs to another context than the
  /// operation, or this is not a root slot
  void bind(const buffer& memory);
  /// Makes memory that fits, and binds it. On failure what was bound stays bound.
  /// @param memory  gives the memory, of the context of the operation
  /// @param bind    whether to bind it: without, it is spare memory to bind later
  /// @throws device_error if there is no memory, argument_error as for bind
  buffer allocate_buffer(allocator& memory, bool bind = true);
  /// The same in a new buffer of a context.
  buffer allocate_buffer(const context& context, bool bind = true);
  /// @throws argument_error if this is not a root slot
  void unbind();

  /// Refuses memory of other contexts from now on. An operation does it to the slots it adds.
  void restrict_to(const context& context) { context_ = context; }

  /// All dimensions in the tree below this slot.
  std::vector<dimension> all_dimensions() const;

 protected:
  /// A root to which nothing is bound.
  explicit slot(std::string name);

  /// Takes children over, which then have this owner. Call it last in a constructor.
  void adopt(std::vector<std::shared_ptr<slot>> children) noexcept;
  /// @throws argument_error unless each child exists, is an unbound root of one context and comes
  /// once
  static void check_children(const std::string& owner,
                             std::span<const std::shared_ptr<slot>> children);

  /// @throws argument_error that names the root, if this is not one
  void check_root() const;
  /// @throws argument_error if it is not the context that restrict_to named
  void check_context(const detail::context_interface& context) const;
  /// Sets is_bound() and gives the slot a new version().
  void mark_changed(bool bound) noexcept;

  /// Binds memory to a child, without the checks of bind.
  static void assign(slot& target, const buffer& memory) { target.do_assign(memory); }
  /// Unbinds a child, which need not be a root.
  static void release(slot& target) noexcept { target.do_release(); }

 private:
  virtual std::size_t do_required_bytes() const = 0;
  virtual void do_assign(const buffer& memory) = 0;
  virtual void do_release() noexcept = 0;
  virtual void do_collect(std::vector<dimension>& dimensions) const = 0;

  std::string name_;
  const slot* owner_ = nullptr;
  std::vector<std::shared_ptr<slot>> children_;
  std::optional<tune::context> context_;
  std::uint64_t version_;
  bool bound_ = false;
};

}  // namespace tune
