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

/// The ranks of a job, processes of one or of several machines, with a connection between every
/// two. Messages do not go through MPI, so that a rank that dies is a closed connection to the
/// others, and no more. Used by one call at a time; moved, not copied.
class communicator {
 public:
  /// Gives every rank the texts of all, in the order of the ranks: MPI_Allgather. All ranks call it
  /// the same number of times. No text is longer than longest_text.
  using all_gather = std::function<std::vector<std::string>(const std::string& mine)>;
  /// The bytes that a text of all_gather has at most.
  static constexpr std::size_t longest_text = 1023;

  /// Connects the ranks of a job over TCP (IPv4); where all are of one machine, over its loopback
  /// address alone. A random number that all_gather tells the ranks admits them. What they send is
  /// not encrypted. Every rank calls it; afterwards all_gather is not needed any more.
  /// @param rank    from 0 to size - 1
  /// @param size    the number of ranks
  /// @param gather  called here, twice
  /// @throws error if a rank cannot be reached or does not come within a minute
  static communicator meet(std::size_t rank, std::size_t size, const all_gather& gather);

  /// The same for the ranks that mpirun has started, with the plug-in libtune_mpi, which is built
  /// where Open MPI is and links it. MPI is initialised and finalised in the call, unless the
  /// program has initialised it.
  /// @throws error if there is no plug-in, or MPI fails
  static communicator meet_by_mpi();

  /// Connects so many ranks in one process, for tests; each is for a thread of its own.
  static std::vector<communicator> of_threads(std::size_t size);

  ~communicator();
  /// Leaves the other with no ranks.
  communicator(communicator&& other) noexcept;
  /// The same.
  communicator& operator=(communicator&& other) noexcept;

  /// The number of this rank.
  std::size_t rank() const noexcept;
  /// The number of ranks, lost ones included.
  std::size_t size() const noexcept;

  /// True if the others have gone on without this rank, because it has not answered for too long
  /// (pretuning_options::longest_silence).
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
