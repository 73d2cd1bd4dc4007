// Times of one collective over its sizes as a few straight pieces: where a library changes its protocol, latency and
// rate change with it.
//
// Each piece is t = latency + size / rate, fitted to relative errors with Huber's weights, latency not negative and
// rate not above what the wire carries in the way that the library picks in the piece's middle. Where the measurements
// are faster than that way could be, another of the library's ways is taken, the best fitting one. How many pieces
// there are, and where they meet, is what makes n ln(mean relative error) + (3 pieces - 1) / 2 ln n least (the
// Bayesian information criterion for errors of Laplace's distribution; a mean error below half a percent counts as half
// a percent), each with at least two sizes and all with fewer numbers (3 pieces - 1) than measurements. Pieces meet
// where their lines cross, if that is between their measurements, else half way by ratio.
//
// Used by calibration/library_fit.hpp alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "simulate/library/library.hpp"

namespace farandole {

struct TimedSize {
  Bytes size;
  Seconds time;
};

/// One number of a piece, in s or s per byte.
struct PieceValue {
  double value = 0;
  double standard_error = 0;  // by the scatter round all pieces; of no meaning where not identified
  std::string unidentified;   // why it is the library's own; empty: it is fitted
};

struct FittedPiece {
  Bytes from;
  Bytes least;  // measured
  Bytes most;
  int measurements = 0;
  LibraryWay way;
  PieceValue latency;
  PieceValue time_per_byte;
};

/// `samples` in order of size, at least one.
std::vector<FittedPiece> fit_pieces(std::span<const TimedSize> samples, const LibraryWays& ways);

}  // namespace farandole
