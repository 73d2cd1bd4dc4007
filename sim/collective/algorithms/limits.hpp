// How finely a pipelined algorithm may be cut, for readers of what users ask for.
#pragma once

namespace farandole {

/// Pipelines of a gigabyte in pieces of 64 KiB have as many.
inline constexpr int most_segments = 1 << 14;
/// Of a segmented ring, whose phases are as many as its segments, with a transfer from every rank in each.
inline constexpr int most_blocks = 1 << 22;

}  // namespace farandole
