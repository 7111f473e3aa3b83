// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The built-in operations by their names, and slots of any operation.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "libtune/base/error.hpp"
#include "libtune/bindings/c/handles.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"
#include "operations/telescope/by_name/telescope_by_name.hpp"

using tune::c_api::give;
using tune::c_api::giving;
using tune::c_api::guarded;
using tune::c_api::required;
using tune::c_api::text_of;

namespace {

/// Replaces a value with one of several sizes, which the compiler must know.
template <std::size_t... Bytes>
void set_value(tune::bare_operation& of, std::size_t argument, const void* bytes, std::size_t count,
               std::index_sequence<Bytes...>) {
  const auto set = [&]<std::size_t Size>(std::integral_constant<std::size_t, Size>) {
    std::array<std::byte, Size> copy{};
    std::memcpy(copy.data(), bytes, Size);
    of.set_value(argument, copy);
    return true;
  };
  const bool done =
      ((count == Bytes + 1 && set(std::integral_constant<std::size_t, Bytes + 1>{})) || ...);
  if (!done)
    throw tune::argument_error("a value has 1 to " + std::to_string(sizeof...(Bytes)) +
                               " bytes, not " + std::to_string(count));
}

const tune::device_array& bound_array(libtune_operation& of, const char* slot) {
  auto& operation = *of.operation;
  const std::string name = text_of(slot);
  if (!operation.slot(name).is_bound()) operation.ensure_bound(name);
  return operation.buffer(name);
}

}  // namespace

libtune_status libtune_operation_list(libtune_table** table) {
  return giving(table, [&] {
    tune::operations::register_telescope_operations();
    tune::c_api::table_builder made;
    for (const auto& each : tune::operations::describe_parameters()) {
      made.begin_row();
      made.set("operation", each.operation);
      made.set("stage", std::string(parameter_stage_name(each.stage)));
      made.set("parameter", each.name);
      made.set("default_value", each.default_value);
      made.set("meaning", each.meaning);
    }
    std::move(made).give(table);
  });
}

libtune_status libtune_template_create(const libtune_context* context, const char* name,
                                       const libtune_named_value* key, size_t key_count,
                                       libtune_template** made) {
  return giving(made, [&] {
    const tune::detail::stop_scope stops(tune::c_api::is_stop_wanted);
    tune::operations::register_telescope_operations();
    give(made, tune::operations::make_template(
                   required(context, "the context").context, text_of(name),
                   tune::configuration(tune::c_api::to_values(key, key_count))));
  });
}

libtune_status libtune_template_tuning(const libtune_template* made,
                                       const libtune_named_value** values, size_t* count) {
  return guarded([&] { required(made, "the template").tuning.give(values, count); });
}

libtune_status libtune_template_instantiate(const libtune_template* made,
                                            const libtune_queue* queue,
                                            const libtune_named_value* sizes, size_t count,
                                            libtune_operation** operation) {
  return giving(operation, [&] {
    auto of = required(made, "the template")
                  .made->instantiate(required(queue, "the queue").queue,
                                     tune::configuration(tune::c_api::to_values(sizes, count)));
    const auto set = std::make_shared<decltype(of.set)>(std::move(of.set));
    give(operation, std::move(of.operation), nullptr,
         [set](std::string_view name, const tune::value& v) { (*set)(name, v); });
  });
}

libtune_status libtune_template_destroy(libtune_template* made) {
  return tune::c_api::destroy(made);
}

libtune_status libtune_operation_slot_count(const libtune_operation* operation, size_t* count) {
  return guarded([&] {
    required(count, "the place for the number") =
        required(operation, "the operation").operation->slots().size();
  });
}

libtune_status libtune_operation_slot(const libtune_operation* operation, size_t place,
                                      libtune_slot_info* slot) {
  return guarded([&] {
    const auto all = required(operation, "the operation").operation->slots();
    if (place >= all.size()) {
      throw tune::argument_error("the operation has no slot " + std::to_string(place) + ", only " +
                                 std::to_string(all.size()));
    }
    const auto* array = dynamic_cast<const tune::io_slot*>(all[place].slot.get());
    libtune_slot_info made{};
    made.name = all[place].name.c_str();
    made.bound = all[place].slot->is_bound() ? 1 : 0;
    made.bytes = all[place].slot->required_bytes();
    if (array == nullptr) {  // memory that several slots share
      made.type = "uint8";
      made.element_bytes = 1;
      made.rank = 1;
      made.shape[0] = made.padded[0] = made.bytes;
    } else {
      const tune::array_layout layout =
          array->is_bound() ? array->buffer().layout() : array->required_layout();
      made.type = array->type().name().data();
      made.element_bytes = array->type().bytes();
      made.rank = layout.size().rank();
      std::ranges::copy(layout.size(), made.shape);
      std::ranges::copy(layout.padded(), made.padded);
      made.bytes = layout.bytes();
    }
    required(slot, "the place for the slot") = made;
  });
}

libtune_status libtune_operation_bind(libtune_operation* operation, const char* slot,
                                      const libtune_buffer* memory, const size_t* padded) {
  return guarded([&] {
    auto& of = *required(operation, "the operation").operation;
    const tune::buffer& with = required(memory, "the buffer").buffer;
    const std::string name = text_of(slot);
    if (padded == nullptr) return of.bind(name, with);
    const auto& at = of.slot(name);
    const tune::shape size = at.required_layout().size();
    const tune::shape outer(std::span<const std::size_t>(padded, size.rank()));
    of.bind(name, tune::device_array(with, {at.type(), size, outer}));
  });
}

libtune_status libtune_operation_get_buffer(const libtune_operation* operation, const char* slot,
                                            libtune_buffer** memory) {
  return giving(memory, [&] {
    give(memory, required(operation, "the operation").operation->buffer(text_of(slot)).buffer());
  });
}

libtune_status libtune_operation_ensure_bound(libtune_operation* operation) {
  return guarded([&] { required(operation, "the operation").operation->ensure_all_bound(); });
}

libtune_status libtune_operation_write(libtune_operation* operation, const char* slot,
                                       const void* contents, size_t bytes) {
  return guarded([&] {
    auto& of = required(operation, "the operation");
    const tune::device_array& array = bound_array(of, slot);
    tune::c_api::require_bytes(array.type(), array.size(), bytes);
    if (bytes == 0) return;
    tune::c_api::visit_element(array.type(), [&]<class T>() {
      const T& first = required(static_cast<const T*>(contents), "the contents");
      array.set(of.operation->queue(),
                tune::host_array<T>::wrap_const({&first, array.size().elements()}, array.size()));
    });
  });
}

libtune_status libtune_operation_read(libtune_operation* operation, const char* slot,
                                      void* contents, size_t bytes) {
  return guarded([&] {
    auto& of = required(operation, "the operation");
    const tune::device_array array = of.operation->buffer(text_of(slot));
    tune::c_api::require_bytes(array.type(), array.size(), bytes);
    if (bytes == 0) return;
    tune::c_api::visit_element(array.type(), [&]<class T>() {
      T& first = required(static_cast<T*>(contents), "the place for the contents");
      auto to = tune::host_array<T>::wrap({&first, array.size().elements()}, array.size());
      array.get(of.operation->queue(), to);
    });
  });
}

libtune_status libtune_operation_set(libtune_operation* operation, const char* name,
                                     const libtune_value* value) {
  return guarded([&] {
    required(operation, "the operation")
        .set(text_of(name), tune::c_api::to_value(required(value, "the value")));
  });
}

libtune_status libtune_operation_set_argument(libtune_operation* operation, size_t argument,
                                              const void* bytes, size_t count) {
  return guarded([&] {
    auto& of = required(operation, "the operation");
    if (of.bare == nullptr) {
      throw tune::argument_error(
          "only operations of tuned kernels have arguments; this one has "
          "settings");
    }
    static_cast<void>(required(static_cast<const char*>(bytes), "the value"));
    set_value(*of.bare, argument, bytes, count, std::make_index_sequence<64>{});
  });
}

libtune_status libtune_operation_run(libtune_operation* operation) {
  return guarded([&] { required(operation, "the operation").operation->run(); });
}

libtune_status libtune_operation_destroy(libtune_operation* operation) {
  return tune::c_api::destroy(operation);
}
