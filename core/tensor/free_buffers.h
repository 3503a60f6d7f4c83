#pragma once

namespace headscope {

/// From now on the system gets large blocks as soon as they are freed. For the beginning of a program that
/// runs for hours.
void give_large_blocks_back() noexcept;

/// Gives the system what every BufferStore of the process keeps and nobody holds, and what the C library
/// keeps. Work that is under way goes on, and takes fresh memory. Any thread.
void release_free_buffers() noexcept;

} // namespace headscope
