// Compression of gradients: what goes over the wire instead of fp32, and by which collective.
//
// n elements of e bytes, r ranks; what the device does before and after is training/coding.hpp's.
//
//   none       allreduce of e n
//   fp16,bf16  allreduce of 2 n (Horovod's Compression.fp16, PyTorch's fp16_compress_hook); nothing at all where
//              gradients are that short already
//   int8       allgather of n + 4 (a scale) per rank, since sums of bytes overflow (PyTorch's
//              quantization_pertensor_hook)
//   top_k      allgather of the share `keep` of the elements as value and index, 8 bytes each
//   one_bit    allgather of n / 8 + 8 (two means) per rank (Seide et al., Interspeech 2014)
//   power_sgd  three allreduces, one after the other: of vectors, and of matrices that would not get shorter by half,
//              as they are; of P = M Q (rows x rank) and of Q = M^T P (columns x rank) of every other matrix M (Vogels
//              et al., NeurIPS 2019; PyTorch's powerSGD_hook)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/operation.hpp"
#include "config/document.hpp"
#include "training/job.hpp"

namespace farandole { inline namespace training {

enum class Compression : std::uint8_t { none, fp16, bf16, int8, top_k, one_bit, power_sgd };

enum class Selection : std::uint8_t { radix, one_block, sampled };
enum class Orthogonal : std::uint8_t { by_rank, gram_schmidt, qr };

struct CompressionSettings {
  Compression kind = Compression::none;
  double keep = 0.01;                           // top_k: share of the elements that is sent
  int rank = 4;                                 // power_sgd: columns of P and Q
  bool error_feedback = true;                   // top_k, one_bit, power_sgd
  Selection selection = Selection::radix;       // top_k
  Orthogonal orthogonal = Orthogonal::by_rank;  // power_sgd
};

struct CompressionRow {
  Compression kind;
  std::string name;
  std::string summary;
};
std::span<const CompressionRow> compressions();
std::string name(Compression kind);
/// Whether what ranks send is gathered rather than reduced: it cannot be added up as it is.
bool uses_allgather(Compression kind);

/// A name, or {"kind": "top_k", "keep": "1 %"}, {"kind": "power_sgd", "rank": 4}, ...
CompressionSettings read_compression(const Value& where);
/// "top_k, 1 % kept".
std::string describe(const CompressionSettings& compression);

/// Whether all of the job's gradients travel as they would without it: half precision of gradients that are short
/// already, low rank of nothing but vectors.
bool changes_nothing(const CompressionSettings& compression, const Job& job);

/// What one rank sends of a gradient, to fill buffers and servers by.
Bytes compressed_size(const CompressionSettings& compression, const Job& job, const Gradient& gradient);

/// One collective, with the device's work around it.
struct WirePiece {
  Operation operation = Operation::allreduce;
  Bytes size;  // as the operation counts it: of an allgather, what all ranks together contribute
  Seconds before;
  Seconds after;
};

/// The device that encodes and decodes (training/coding.hpp).
struct Coder;

/// The collectives that average these gradients, which are encoded, over `ranks` in one go, in order.
std::vector<WirePiece> on_the_wire(const CompressionSettings& compression, const Job& job,
                                   std::span<const int> gradients, int ranks, const Coder& coder);

}}  // namespace farandole::training
