// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/device/cuda/tensor_map.hpp"
#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/libtune.hpp"

namespace tune::operations {

/// The multiplying instruction. Sums are floats in each case.
enum class gemm_instruction : std::uint8_t {
  plain,   ///< products and sums of floats, one at a time, on any device
  mma,     ///< tensor cores, 16 x 8 x 16 products of halves at once: CUDA from compute capability
           ///< 8.0 on, inputs of float16
  wgmma,   ///< tensor cores, 64 x part_n x 16 products of halves at once, by four warps: CUDA 9.0,
           ///< inputs of float16
  tf32x3,  ///< tensor cores, 16 x 8 x 8 products of floats, of about 21 bits, by three
           ///< instructions: CUDA from compute capability 8.0 on, inputs of float32, if the key
           ///< permits it
  tf32,    ///< the same with products of floats rounded to 11 bits, by one instruction
};

/// The least precision of the products that a tuning may have. Inputs of float16 have exact
/// products with any instruction.
enum class gemm_precision : std::uint8_t {
  exact,   ///< products are not rounded before they are summed
  tf32x3,  ///< inputs of float32 may be taken as two numbers of 11 significant bits each
           ///< (gemm_instruction::tf32x3); infinite inputs then give NaN
  tf32,    ///< inputs of float32 may be rounded to 11 significant bits (gemm_instruction::tf32)
};

/// The order of a matrix in memory.
enum class gemm_layout : std::uint8_t {
  row_major,     ///< rows are contiguous: the slot's array is the matrix
  column_major,  ///< columns are contiguous: the slot's array is the matrix transposed
};

/// Tuning key: the types, layouts and ranges of sizes of a product of matrices. The types are
/// float32 for both; float16 for both; or float16 for the input and float32 for the output.
struct gemm_key {
  dtype input = dtype::float32;            ///< the elements of A and B
  dtype output = dtype::float32;           ///< the elements of C
  gemm_layout a = gemm_layout::row_major;  ///< the layout of A, m x k
  gemm_layout b = gemm_layout::row_major;  ///< the layout of B, k x n
  gemm_layout c = gemm_layout::row_major;  ///< the layout of C, m x n
  size_range m{16, 8192};                  ///< rows of A and C
  size_range n{16, 8192};                  ///< columns of B and C
  size_range k{16, 8192};                  ///< columns of A, rows of B
  /// The least precision of the products. The fastest tuning may have it, unless a goal bounds the
  /// error: "min time, snr >= 100 dB".
  gemm_precision precision = gemm_precision::exact;
};

/// The division of a product among work groups, and within one of them. m and n are the extents of
/// C's array: of C transposed if C is column_major. All are powers of two, except stages, resident
/// and price, and with wgmma the extents of tiles and parts, which are multiples of 64.
struct gemm_tuning {
  gemm_instruction instruction = gemm_instruction::plain;  ///< the multiplying instruction
  std::size_t tile_m = 32;                                 ///< the rows of C for each work group
  std::size_t tile_n = 32;                                 ///< the columns of C for each work group
  std::size_t part_m = 4;    ///< the rows for each work item with plain, for each warp with mma and
                             ///< tf32, and for four warps with wgmma
  std::size_t part_n = 4;    ///< the columns, as for part_m
  std::size_t depth = 16;    ///< the part of k moved to local memory at a time
  std::size_t stages = 4;    ///< parts of local memory, one of them in use
  std::size_t resident = 8;  ///< groups for which a compute unit has registers and local memory
                             ///< (CUDA)
  std::size_t price = 600;   ///< k is divided, for all tiles or for tiles of the last wave,
                             ///< if the waves and the addition of partial sums then take the least
                             ///< time. The addition is assumed to take as long as this many
                             ///< thousand products of a compute unit; 0: never divided
  std::size_t band = 8;      ///< rows of tiles that groups traverse column by column
};

}  // namespace tune::operations

LIBTUNE_ENUM(tune::operations::gemm_instruction, plain, mma, wgmma, tf32x3, tf32)
LIBTUNE_ENUM(tune::operations::gemm_precision, exact, tf32x3, tf32)
LIBTUNE_ENUM(tune::operations::gemm_layout, row_major, column_major)
LIBTUNE_FIELDS(tune::operations::gemm_key, input, output, a, b, c, m, n, k, precision)
LIBTUNE_FIELDS(tune::operations::gemm_tuning, instruction, tile_m, tile_n, part_m, part_n, depth,
               stages, resident, price, band)

namespace tune::operations {

/// C = alpha A B + beta C, where A has m x k elements, B k x n and C m x n. Made by gemm_template.
///
/// Slots, with any padding of rows, which is the leading dimension. It is fastest if all padded
/// rows are multiples of 16 bytes, as in arrays that it allocates itself:
///  - a: m x k, or k x m if A is column_major
///  - b: k x n, or n x k if B is column_major
///  - c: m x n, or n x m if C is column_major; added to, unless beta is 0: then it is not read, and
///    may hold anything
///  - partial_sums: only if k is divided among groups (parts), scratch of float32, unpadded
///
/// Sums are floats of exact products, unless the key permits less (gemm_precision), in an order
/// that is the same in each run with one tuning, on one device; tensor cores round sums towards
/// zero. Results of float16 are rounded once.
class gemm final : public operation {
 public:
  /// For gemm_template, which compiled the program for this tuning and key.
  gemm(const command_queue& queue, const program& program, const gemm_tuning& tuning,
       const gemm_key& key, std::size_t m, std::size_t n, std::size_t k);

  /// Sets alpha and beta of the next runs; 1 and 0 to begin with. Allocates nothing.
  void set_factors(float alpha, float beta);

  /// The number of parts that k is divided into, for all tiles or the last ones; 1 where whole
  /// tiles keep the device busy.
  std::size_t parts() const noexcept { return parts_; }
  /// The number of groups of a cluster that share k of a tile (wgmma).
  std::size_t cluster() const noexcept { return cluster_; }
  /// The number of tiles that a cluster makes: two where groups that read the same at the same time
  /// can so be neighbours, else one (wgmma).
  std::size_t tiles_of_cluster() const noexcept { return tiles_of_cluster_; }
  /// The number of tiles that k is divided for.
  std::size_t divided_tiles() const noexcept { return divided_; }

 private:
  /// A matrix of wgmma as the engine that copies it sees it, until other memory is bound.
  template <std::size_t Maps>
  struct mapped_matrix {
    std::uintptr_t address = 0;
    std::uint64_t stride = 0;
    bool is_possible = false;
    std::array<cuda::tensor_map, Maps> maps{};  // the kernel's arguments
  };
  /// Its maps are for boxes of 64 rows, or columns, and 64 of k; for boxes at the last rows; for
  /// boxes at the end of k; and for boxes at both.
  using mapped_operand = mapped_matrix<4>;

  void do_run() override;
  std::vector<named_value> do_parameters() const override;
  template <std::size_t Maps>
  static bool needs_maps(mapped_matrix<Maps>& matrix, const io_slot& slot);
  void map_operand(mapped_operand& operand, const io_slot& slot, std::size_t extent,
                   bool along_k) const;
  void map_result();

  kernel kernel_;
  std::optional<kernel> add_parts_;
  gemm_tuning tuning_;
  gemm_key key_;
  std::uint32_t m_;
  std::uint32_t n_;
  std::uint32_t k_;
  std::uint32_t works_ = 0;      // tiles and parts of k of them
  std::uint32_t whole_ = 0;      // tiles, a group each
  std::uint32_t divided_ = 0;    // tiles, as many groups each as k has parts
  std::uint32_t part_of_k_ = 0;  // the part of k of a divided tile's group
  std::uint32_t parts_ = 1;
  std::uint32_t cluster_ = 1;           // groups that share k of a tile
  std::uint32_t tiles_of_cluster_ = 1;  // one after the other
  std::uint32_t sharers_ = 1;           // items that add the parts of one element
  float alpha_ = 1;
  float beta_ = 0;
  slot_ref<> a_;
  slot_ref<> b_;
  slot_ref<> c_;
  std::optional<slot_ref<float>> partial_sums_;
  nd_range range_;
  nd_range adding_range_;
  mapped_operand first_maps_;
  mapped_operand second_maps_;
  mapped_matrix<1> c_map_;
};

/// The kernels that multiply matrices of given types and layouts: a program for each tuning of a
/// portfolio, which serves all sizes. Immutable, so thread-safe.
class gemm_template {
 public:
  /// Looks up the portfolio for ranges of m, n and k in the database; without one it searches, and
  /// stores it.
  static const ranged_autotuner<gemm_key, gemm_tuning> autotune;

  /// Finds the portfolio for the ranges of the key, which is tuned on first use, and compiles its
  /// programs.
  /// @throws argument_error for an unsupported combination of types; the errors of ranged_autotuner
  ///         and compile
  gemm_template(const context& context, const gemm_key& key);
  /// One program, for all sizes.
  /// @throws argument_error if the tuning is impossible; the errors of compile
  gemm_template(const context& context, const gemm_key& key, const gemm_tuning& tuning);

  /// The tunings of the programs.
  const std::vector<gemm_tuning>& tunings() const noexcept { return tunings_; }
  /// The choice among them; nothing if the tuning was given.
  const std::optional<portfolio<gemm_tuning>>& choice() const noexcept { return portfolio_; }
  /// The tuning for these sizes. Allocates nothing.
  const gemm_tuning& tuning_for(std::size_t m, std::size_t n, std::size_t k) const noexcept {
    return tunings_[portfolio_ ? portfolio_->choose({m, n, k}) : 0];
  }

  /// Makes an operation for given sizes, in the ranges of the key or not.
  /// @param queue    a queue of the template's context
  /// @param m, n, k  C has m x n elements, each of which is a sum of k products
  /// @throws argument_error if a size is 2^31 or more, or makes more tiles than a launch can have
  gemm instantiate(const command_queue& queue, std::size_t m, std::size_t n, std::size_t k) const;

 private:
  gemm_key key_;
  std::optional<portfolio<gemm_tuning>> portfolio_;
  std::vector<gemm_tuning> tunings_;
  std::vector<program> programs_;
};

/// The search space on a device: configurations with its fastest instructions for these types.
space<gemm_tuning> tuning_space(const gemm_key& key, const device& device);

/// Returns the useful work: 2 m n k operations, and the bytes of A and B read and of C written.
declared_work work_of(const gemm_key& key, std::size_t m, std::size_t n, std::size_t k);

}  // namespace tune::operations
