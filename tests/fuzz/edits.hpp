// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace fuzz {

/// Changes a valid file as the input says, so that a fuzzer need not find one by itself. The input
/// is a list of edits of five bytes: three of an offset, what is done there, and a byte:
/// 0 to 63 flips bits of the byte, 64 to 127 replaces it, 128 to 191 repeats it sixteen times,
/// 192 to 223 cuts the file off there, and the rest appends it to the end.
std::vector<std::byte> edited(std::vector<std::byte> file, std::span<const std::uint8_t> input);

std::vector<std::byte> read_file(const std::filesystem::path& path);
/// Readable and writable by the user only.
void write_file(const std::filesystem::path& path, std::span<const std::byte> contents);

}  // namespace fuzz
