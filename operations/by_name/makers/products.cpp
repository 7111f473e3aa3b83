// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/by_name/makers/makers.hpp"
#include "operations/fft/fft.hpp"
#include "operations/gemm/gemm.hpp"

namespace tune::operations::makers {
namespace {

element_type fft_type_of(const std::string& name) {
  if (name == "complex_half") return element_type::of<complex_half>();
  return dtype_from_name(name);
}

fft_description fft_description_of(const given_parameters& key) {
  fft_description made{.size = key.extents("size"), .axes = key.count("axes")};
  made.src = fft_type_of(key.text("src"));
  made.dest = fft_type_of(key.text("dest"));
  if (!key.text("direction").empty()) made.direction = key.as<fft_direction>("direction");
  return made;
}

/// The products for a range of sizes; the first tuning stands for all.
struct gemm_for_range {
  gemm_template made;
  std::vector<named_value> tuning_values() const { return to_values(made.tunings().front()); }
};

operation_by_name instantiate_gemm(const gemm_for_range& of, const command_queue& queue,
                                   const given_parameters& size) {
  auto set = [alpha = 1.0F, beta = 0.0F](operations::gemm& made, std::string_view name,
                                         const value& v) mutable {
    (name == "alpha" ? alpha : beta) = static_cast<float>(real_of(name, v));
    made.set_factors(alpha, beta);
  };
  return with_settings(
      of.made.instantiate(queue, size.count("m"), size.count("n"), size.count("k")), set);
}

}  // namespace

operation_maker fft() {
  using stage = parameter_stage;
  const std::string any;  // an empty default
  return operation_maker("fft")
      .add(stage::key, "size", {}, "the extents of the real side's array, the batch first")
      .add(stage::key, "axes", std::int64_t{1}, "how many axes are transformed, the last ones")
      .add(stage::key, "src", "complex64", "the type of the elements before")
      .add(stage::key, "dest", "complex64", "the type of the elements after")
      .add(stage::key, "direction", any, "'forward' or 'inverse'; empty: by the types")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return fft_template(in, fft_description_of(key));
          },
          [](const fft_template& made, const command_queue& queue, const given_parameters&) {
            return without_settings(made.instantiate(queue));
          });
}

operation_maker gemm() {
  using stage = parameter_stage;
  return operation_maker("gemm")
      .add_fields<gemm_key>(stage::key, {{"input", "the type of A and B"},
                                         {"output", "the type of C"},
                                         {"a", "the layout of A, m x k; or column_major"},
                                         {"b", "the layout of B, k x n"},
                                         {"c", "the layout of C, m x n"},
                                         {"m", "the range that is tuned for"},
                                         {"n", "the range that is tuned for"},
                                         {"k", "the range that is tuned for"},
                                         {"precision", "of products; or tf32x3, tf32"}})
      .add(stage::size, "m", {}, "rows of A and C")
      .add(stage::size, "n", {}, "columns of B and C")
      .add(stage::size, "k", {}, "columns of A, rows of B")
      .add(stage::setting, "alpha", 1.0, "the factor of A B")
      .add(stage::setting, "beta", 0.0, "the factor of C before")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return gemm_for_range{gemm_template(in, key.all<gemm_key>())};
          },
          instantiate_gemm);
}

}  // namespace tune::operations::makers
