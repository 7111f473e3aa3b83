// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// libtune._libtune: the C interface as Python classes, one for each handle. The package libtune
// wraps it, and handles arrays, dtypes and names of other tuners. Long calls run without the
// interpreter's lock, which callbacks acquire again.
#include "libtune/bindings/python/capture.hpp"
#include "libtune/bindings/python/dlpack.hpp"
#include "libtune/bindings/python/handles.hpp"
#include "libtune/bindings/python/metrics.hpp"
#include "libtune/bindings/python/sequence.hpp"
#include "libtune/bindings/python/tuner.hpp"

namespace {

using namespace tune::python;

py::dict device_info(const device& of) {
  const libtune_named_value* properties = nullptr;
  std::size_t count = 0;
  check(libtune_device_info(of.get(), &properties, &count));
  return to_dict(properties, count);
}

py::dict best_of(const tuned& of) {
  const libtune_named_value* values = nullptr;
  std::size_t count = 0;
  check(libtune_tuned_best(of.get(), &values, &count));
  return to_dict(values, count);
}

py::dict slot_of(const operation& of, std::size_t place) {
  libtune_slot_info info{};
  check(libtune_operation_slot(of.get(), place, &info));
  py::tuple shape(info.rank);
  py::tuple padded(info.rank);
  for (std::size_t i = 0; i < info.rank; ++i) {
    shape[i] = py::int_(info.shape[i]);
    padded[i] = py::int_(info.padded[i]);
  }
  py::dict made;
  made["name"] = decoded(info.name);
  made["type"] = info.type;
  made["element_bytes"] = info.element_bytes;
  made["shape"] = shape;
  made["padded"] = padded;
  made["bytes"] = info.bytes;
  made["bound"] = info.bound != 0;
  return made;
}

}  // namespace

PYBIND11_MODULE(_libtune, m) {
  m.doc() = "The C interface of libtune, one class for each handle; use the package libtune.";
  if (libtune_abi() != LIBTUNE_C_ABI) {
    throw py::import_error("libtune_c has the interface " + std::to_string(libtune_abi()) +
                           ", and this module needs " + std::to_string(LIBTUNE_C_ABI));
  }
  m.attr("__version__") = libtune_version();

  m.def("devices", [] {
    std::size_t count = 0;
    check(unlocked([&] { return libtune_device_count(&count); }));
    py::list all;
    for (std::size_t i = 0; i < count; ++i) {
      all.append(py::cast(make<device>([&](auto** made) { return libtune_device_get(i, made); })));
    }
    return all;
  });
  m.def("select_device",
        [] { return make<device>([&](auto** made) { return libtune_device_select(made); }); });
  m.def("tune_in_children", [] { check(libtune_tune_in_children()); });
  m.def("operations", [] {
    libtune_table* table = nullptr;
    check(libtune_operation_list(&table));
    return to_columns(table);
  });
  m.def("status_name",
        [](int status) { return libtune_status_name(static_cast<libtune_status>(status)); });
  m.def("export_dlpack", export_array);
  py::module_::import("atexit").attr("register")(py::cpp_function(end_calls));

  py::class_<device>(m, "Device").def_property_readonly("info", device_info);

  py::class_<context>(m, "Context")
      .def(py::init([](const device& on) {
        return make<context>([&](auto** made) { return libtune_context_create(on.get(), made); });
      }))
      .def_property_readonly("device",
                             [](const context& of) {
                               return make<device>([&](auto** made) {
                                 return libtune_context_get_device(of.get(), made);
                               });
                             })
      .def("set_option",
           [](const context& of, const c_text& name, const std::optional<c_text>& text) {
             check(libtune_context_set_option(of.get(), name.c_str(),
                                              text ? text->c_str() : nullptr));
           })
      .def_property_readonly("native", [](const context& of) {
        std::uintptr_t handle = 0;
        check(libtune_context_native(of.get(), &handle));
        return handle;
      });

  py::class_<queue>(m, "Queue")
      .def(py::init([](const context& in) {
        return make<queue>([&](auto** made) { return libtune_queue_create(in.get(), made); });
      }))
      .def_static("wrap",
                  [](const context& in, std::uintptr_t handle) {
                    return make<queue>(
                        [&](auto** made) { return libtune_queue_wrap(in.get(), handle, made); });
                  })
      .def_property_readonly("native",
                             [](const queue& of) {
                               std::uintptr_t handle = 0;
                               check(libtune_queue_native(of.get(), &handle));
                               return handle;
                             })
      .def("finish",
           [](const queue& of) { check(unlocked([&] { return libtune_queue_finish(of.get()); })); })
      .def("write",
           [](const queue& of, const buffer& to, std::size_t offset, const py::object& from) {
             const bytes_view view(from, false);
             check(unlocked([&] {
               return libtune_queue_write(of.get(), to.get(), offset, view.data(), view.size());
             }));
           })
      .def("read",
           [](const queue& of, const buffer& from, std::size_t offset, const py::object& to) {
             const bytes_view view(to, true);
             check(unlocked([&] {
               return libtune_queue_read(of.get(), from.get(), offset, view.data(), view.size());
             }));
           })
      .def("write_address",
           [](const queue& of, const buffer& to, std::size_t offset, std::uintptr_t from,
              std::size_t bytes) {
             const void* const source =
                 reinterpret_cast<const void*>(from);  // NOLINT(performance-no-int-to-ptr)
             check(unlocked(
                 [&] { return libtune_queue_write(of.get(), to.get(), offset, source, bytes); }));
           })
      .def("copy",
           [](const queue& of, const buffer& to, std::size_t to_offset, const buffer& from,
              std::size_t from_offset, std::size_t bytes) {
             check(
                 libtune_queue_copy(of.get(), to.get(), to_offset, from.get(), from_offset, bytes));
           })
      .def("zero", [](const queue& of, const buffer& to, std::size_t offset, std::size_t bytes) {
        check(libtune_queue_zero(of.get(), to.get(), offset, bytes));
      });

  py::class_<buffer>(m, "Buffer")
      .def(py::init([](const context& in, std::size_t bytes) {
        return make<buffer>(
            [&](auto** made) { return libtune_buffer_create(in.get(), bytes, made); });
      }))
      .def_static("wrap",
                  [](const context& in, std::uintptr_t handle, std::size_t bytes) {
                    return make<buffer>([&](auto** made) {
                      return libtune_buffer_wrap(in.get(), handle, bytes, made);
                    });
                  })
      .def_property_readonly("native",
                             [](const buffer& of) {
                               std::uintptr_t handle = 0;
                               check(libtune_buffer_native(of.get(), &handle));
                               return handle;
                             })
      .def_property_readonly("size", [](const buffer& of) {
        std::size_t bytes = 0;
        check(libtune_buffer_size(of.get(), &bytes));
        return bytes;
      });

  py::class_<database>(m, "Database")
      .def(py::init([](const std::optional<c_text>& path) {
        return make<database>([&](auto** made) {
          return libtune_database_open(path ? path->c_str() : nullptr, made);
        });
      }))
      .def_property_readonly(
          "path",
          [](const database& of) {
            const char* path = nullptr;
            check(libtune_database_path(of.get(), &path));
            return py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(path));
          })
      .def("find",
           [](const database& of, const c_text& name, int version, const py::dict& key,
              const device& on, bool nearest) -> py::object {
             const named_values values(key);
             libtune_result* made = nullptr;
             const libtune_status status = unlocked([&] {
               return libtune_database_find(of.get(), name.c_str(), version, values.data(),
                                            values.size(), on.get(),
                                            nearest ? LIBTUNE_NEAREST : LIBTUNE_EXACT, &made);
             });
             if (status == LIBTUNE_NOT_FOUND) return py::none();
             check(status);
             const owner<libtune_result, libtune_result_destroy> owned(made);
             const libtune_named_value* list = nullptr;
             std::size_t count = 0;
             check(libtune_result_values(made, &list, &count));
             py::dict found = to_dict(list, count);
             check(libtune_result_info(made, &list, &count));
             return py::make_tuple(std::move(found), to_dict(list, count));
           })
      .def("functions",
           [](const database& of) {
             libtune_table* table = nullptr;
             check(unlocked([&] { return libtune_database_functions(of.get(), &table); }));
             return to_columns(table);
           })
      .def("table",
           [](const database& of, const c_text& name, int version, bool trials) -> py::object {
             libtune_table* table = nullptr;
             const libtune_status status = unlocked([&] {
               return trials ? libtune_database_trials(of.get(), name.c_str(), version, &table)
                             : libtune_database_results(of.get(), name.c_str(), version, &table);
             });
             if (status == LIBTUNE_NOT_FOUND) return py::none();
             check(status);
             return to_columns(table);
           });

  py::class_<tuner>(m, "Tuner")
      .def(py::init<const c_text&>())
      .def(py::init<const c_text&, const c_text&, const std::vector<c_text>&>())
      .def("parameter", &tuner::parameter)
      .def("restrict", &tuner::restrict_to)
      .def("restrict_by", &tuner::restrict_by)
      .def("restrict_reading", &tuner::restrict_reading)
      .def("metric", &tuner::metric)
      .def("metric_by", &tuner::metric_by)
      .def("set_option", &tuner::set_option)
      .def("remember", &tuner::remember)
      .def("measure_by", &tuner::measure_by)
      .def("on_trial", &tuner::on_trial)
      .def("source_by", &tuner::source_by)
      .def("header", &tuner::header)
      .def("flag", &tuner::flag)
      .def("define", &tuner::define)
      .def("work_group", &tuner::work_group)
      .def("divide_grid", &tuner::divide_grid)
      .def("local_memory", &tuner::local_memory)
      .def("launch_by", &tuner::launch_by)
      .def("observe_by", &tuner::observe_by)
      .def("limit", &tuner::limit)
      .def("work", &tuner::work)
      .def("array", &tuner::array)
      .def("device_array", &tuner::device_array)
      .def("scalar", &tuner::scalar)
      .def("constant", &tuner::constant)
      .def("answer", &tuner::answer)
      .def("reference", &tuner::reference)
      .def("vary", &tuner::vary)
      .def("report_accuracy", &tuner::report_accuracy)
      .def("report_bits", &tuner::report_bits)
      .def("verify_by", &tuner::verify_by)
      .def("begin_with", &tuner::begin_with)
      .def("size", &tuner::size)
      .def("space", &tuner::space)
      .def("run", &tuner::run, py::keep_alive<0, 1>())
      .def("tune", &tuner::tune, py::keep_alive<0, 1>());  // its callbacks

  py::class_<results>(m, "Results")
      .def("read", [](const results& of, std::size_t argument, const py::object& to) {
        const bytes_view view(to, true);
        check(unlocked(
            [&] { return libtune_results_read(of.get(), argument, view.data(), view.size()); }));
      });

  py::class_<tuned>(m, "Tuned")
      .def_property_readonly("best", best_of)
      .def_property_readonly("time_ns",
                             [](const tuned& of) -> std::optional<double> {
                               double time = 0;
                               const libtune_status status = libtune_tuned_time(of.get(), &time);
                               if (status == LIBTUNE_NOT_FOUND) return std::nullopt;
                               check(status);
                               return time;
                             })
      .def("trials",
           [](const tuned& of) {
             libtune_table* table = nullptr;
             check(libtune_tuned_trials(of.get(), &table));
             return to_columns(table);
           })
      .def("instantiate",
           [](const tuned& of, const queue& on) {
             return make<operation>(
                 [&](auto** made) { return libtune_tuned_instantiate(of.get(), on.get(), made); });
           })
      .def("run", [](const tuned& of, const context& in) {
        return make<results>(
            [&](auto** made) { return libtune_tuned_run(of.get(), in.get(), made); });
      });

  py::class_<operation_template>(m, "Template")
      .def(py::init([](const context& in, const c_text& name, const py::dict& key) {
        const named_values values(key);
        interruption signals;
        libtune_template* made = nullptr;
        const libtune_status status = unlocked([&] {
          return libtune_template_create(in.get(), name.c_str(), values.data(), values.size(),
                                         &made);
        });
        auto owned = made == nullptr ? nullptr : std::make_unique<operation_template>(made);
        if (auto raised = signals.take()) throw std::move(*raised);
        check(status);
        return owned;
      }))
      .def_property_readonly("tuning",
                             [](const operation_template& of) {
                               const libtune_named_value* values = nullptr;
                               std::size_t count = 0;
                               check(libtune_template_tuning(of.get(), &values, &count));
                               return to_dict(values, count);
                             })
      .def("instantiate", [](const operation_template& of, const queue& on, const py::dict& sizes) {
        const named_values values(sizes);
        return make<operation>([&](auto** made) {
          return libtune_template_instantiate(of.get(), on.get(), values.data(), values.size(),
                                              made);
        });
      });

  with_sequences(py::class_<operation>(m, "Operation"))
      .def("slots",
           [](const operation& of) {
             std::size_t count = 0;
             check(libtune_operation_slot_count(of.get(), &count));
             py::list made;
             for (std::size_t i = 0; i < count; ++i) made.append(slot_of(of, i));
             return made;
           })
      .def("bind",
           [](const operation& of, const c_text& slot, const buffer& memory,
              const std::optional<std::vector<std::size_t>>& padded) {
             check(libtune_operation_bind(of.get(), slot.c_str(), memory.get(),
                                          padded ? padded->data() : nullptr));
           })
      .def("buffer",
           [](const operation& of, const c_text& slot) {
             libtune_buffer* made = nullptr;
             check(libtune_operation_get_buffer(of.get(), slot.c_str(), &made));
             return std::make_unique<buffer>(made);
           })
      .def("ensure_bound",
           [](const operation& of) { check(libtune_operation_ensure_bound(of.get())); })
      .def("write",
           [](const operation& of, const c_text& slot, const py::object& from) {
             const bytes_view view(from, false);
             check(unlocked([&] {
               return libtune_operation_write(of.get(), slot.c_str(), view.data(), view.size());
             }));
           })
      .def("read",
           [](const operation& of, const c_text& slot, const py::object& to) {
             const bytes_view view(to, true);
             check(unlocked([&] {
               return libtune_operation_read(of.get(), slot.c_str(), view.data(), view.size());
             }));
           })
      .def("set",
           [](const operation& of, const c_text& name, const py::object& given) {
             const libtune_value v = to_value(given);
             check(libtune_operation_set(of.get(), name.c_str(), &v));
           })
      .def("set_argument",
           [](const operation& of, std::size_t argument, const py::object& bytes) {
             const bytes_view view(bytes, false);
             check(libtune_operation_set_argument(of.get(), argument, view.data(), view.size()));
           })
      .def("run", [](const operation& of) {
        check(unlocked([&] { return libtune_operation_run(of.get()); }));
      });

  define_captures(m);
  define_metrics(m);

  py::class_<imported_array>(m, "ImportedArray")
      .def(py::init<const py::object&>())
      .def_property_readonly("device",
                             [](const imported_array& of) {
                               return py::make_tuple(of.tensor().device_type,
                                                     of.tensor().device_id);
                             })
      .def_property_readonly("type",
                             [](const imported_array& of) {
                               return py::make_tuple(of.tensor().type_code, of.tensor().type_bits,
                                                     of.tensor().type_lanes);
                             })
      .def_property_readonly("shape", &imported_array::shape)
      .def_property_readonly("strides", &imported_array::strides)
      .def_property_readonly("address", &imported_array::address)
      .def_property_readonly("byte_offset",
                             [](const imported_array& of) { return of.tensor().byte_offset; });
}
