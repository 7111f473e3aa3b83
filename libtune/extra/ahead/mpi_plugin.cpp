// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The library libtune_mpi.so, the only part of libtune that links MPI. communicator::meet_by_mpi
// loads it.
#include "libtune/extra/ahead/mpi_plugin.hpp"

#include <algorithm>
#include <exception>
#include <mpi.h>
#include <stdexcept>
#include <vector>

namespace tune::detail {
namespace {

constexpr std::size_t block_bytes = communicator::longest_text + 1;

void require(int result, const char* call) {
  if (result != MPI_SUCCESS) throw std::runtime_error(std::string(call) + " failed");
}

std::vector<std::string> gather_texts(const std::string& mine, int size) {
  if (mine.size() >= block_bytes) throw std::runtime_error("a text for all ranks is too long");
  std::vector<char> block(block_bytes, '\0');
  std::ranges::copy(mine, block.begin());
  std::vector<char> all(block_bytes * static_cast<std::size_t>(size));
  const int count = static_cast<int>(block_bytes);
  require(MPI_Allgather(block.data(), count, MPI_CHAR, all.data(), count, MPI_CHAR, MPI_COMM_WORLD),
          "MPI_Allgather");
  std::vector<std::string> texts;
  for (std::size_t place = 0; place < all.size(); place += block_bytes) {
    texts.emplace_back(all.data() + place);
  }
  return texts;
}

}  // namespace
}  // namespace tune::detail

extern "C" __attribute__((visibility("default"))) void libtune_mpi_run(
    const tune::detail::mpi_meeting& meeting, std::string& failure) {
  namespace detail = tune::detail;
  int before = 0;
  MPI_Initialized(&before);
  try {
    if (before == 0) detail::require(MPI_Init(nullptr, nullptr), "MPI_Init");
    int rank = 0;
    int size = 1;
    detail::require(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    detail::require(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    meeting.meet(static_cast<std::size_t>(rank), static_cast<std::size_t>(size),
                 [&](const std::string& mine) { return detail::gather_texts(mine, size); });
  } catch (const std::exception& thrown) {
    failure = std::string("the ranks of mpirun have not met: ") + thrown.what();
  }
  int after = 0;
  MPI_Initialized(&after);
  if (before == 0 && after != 0) MPI_Finalize();
}
