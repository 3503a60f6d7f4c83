#pragma once

namespace headscope {

/// Gives the system what every BufferStore of the process keeps and nobody holds, and what the C library
/// keeps. Work that is under way goes on, and takes fresh memory. Any thread.
void release_free_buffers() noexcept;

} // namespace headscope
