// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

namespace detail {
struct rank_links;
}

/// The ranks of a job, processes of one or several machines, with a connection between every two.
/// Messages do not go through MPI, so the death of a rank only closes its connections to the
/// others. Used by one call at a time; movable, not copyable.
class communicator {
 public:
  /// Gives every rank the texts of all, in the order of the ranks: MPI_Allgather. All ranks call it
  /// the same number of times. No text is longer than longest_text.
  using all_gather = std::function<std::vector<std::string>(const std::string& mine)>;
  /// The greatest length of a text of all_gather, in bytes.
  static constexpr std::size_t longest_text = 1023;

  /// Connects the ranks of a job over TCP (IPv4); over the loopback address alone if all are of one
  /// machine. A random number from all_gather admits the ranks. Messages are not encrypted. Every
  /// rank calls it; afterwards all_gather is not needed any more.
  /// @param rank    from 0 to size - 1
  /// @param size    the number of ranks
  /// @param gather  called here, twice
  /// @throws error if a rank cannot be reached or does not come within a minute
  static communicator meet(std::size_t rank, std::size_t size, const all_gather& gather);

  /// Like meet(), for the ranks that mpirun has started, by the plug-in libtune_mpi, which links
  /// Open MPI and is built if that is installed. MPI is initialised and finalised in the call,
  /// unless the program has initialised it.
  /// @throws error without a plug-in, and if MPI fails
  static communicator meet_by_mpi();

  /// Connects `size` ranks in one process, for tests; each rank is for a thread of its own.
  static std::vector<communicator> of_threads(std::size_t size);

  ~communicator();
  /// Leaves the other communicator without ranks.
  communicator(communicator&& other) noexcept;
  /// Leaves the other communicator without ranks.
  communicator& operator=(communicator&& other) noexcept;

  /// The number of this rank.
  std::size_t rank() const noexcept;
  /// The number of ranks, lost ones included.
  std::size_t size() const noexcept;

  /// True if the other ranks have continued without this one, because it has not answered for too
  /// long (pretuning_options::longest_silence).
  bool is_left_out() const noexcept;

  /// For libtune's own code.
  detail::rank_links& links() const noexcept { return *links_; }

 private:
  explicit communicator(std::unique_ptr<detail::rank_links> links) noexcept;

  std::unique_ptr<detail::rank_links> links_;
};

/// True if mpirun has started this process: OMPI_COMM_WORLD_SIZE is set.
bool is_started_by_mpirun() noexcept;

}  // namespace tune
