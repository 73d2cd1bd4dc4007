// Compression of gradients: what goes over the wire instead of fp32, by which collective, and what encoding and
// decoding cost on the device.
//
// All of these kernels stream through memory, so their time is the bytes they read and write over the device's memory
// bandwidth; n elements of e bytes, r ranks. A residual (error feedback) is what compression left out last time: it is
// read, added, and written again.
//
//   none       allreduce of e n
//   fp16,bf16  allreduce of 2 n; encode reads e n and writes 2 n, decode the other way round (Horovod's
//              Compression.fp16, PyTorch's fp16_compress_hook); nothing at all where gradients are that short already
//   int8       allgather of n + 4 (a scale) per rank, since sums of bytes overflow (PyTorch's
//   quantization_pertensor_hook);
//              encode reads twice (range, then values) and writes n, decode reads r n and writes e n
//   top_k      allgather of the share `keep` of the elements as value and index, 8 bytes each (Lin et al., Deep
//   Gradient
//              Compression, ICLR 2018: the threshold is sampled); decode clears e n and adds r times the kept elements
//   one_bit    allgather of n / 8 + 8 (two means) per rank (Seide et al., Interspeech 2014); decode reads r n / 8
//   power_sgd  two allreduces, of P (rows x rank) and Q (columns x rank) of every matrix (Vogels et al., NeurIPS 2019);
//              vectors, and matrices that would not get shorter by half, travel whole with P (PyTorch's powerSGD_hook)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/operation.hpp"
#include "config/document.hpp"
#include "training/job.hpp"

namespace farandole {

enum class Compression : std::uint8_t { none, fp16, bf16, int8, top_k, one_bit, power_sgd };

struct CompressionSettings {
  Compression kind = Compression::none;
  double keep = 0.01;          // top_k: share of the elements that is sent
  int rank = 4;                // power_sgd: columns of P and Q
  bool error_feedback = true;  // top_k, one_bit, power_sgd
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

/// What a device does for a message of its own, before it is sent and after it has come.
struct Coding {
  Seconds encode;
  Seconds decode;
};
Coding coding_of(const CompressionSettings& compression, const Job& job, const Gradient& gradient,
                 BytesPerSecond memory_bandwidth);

/// One collective, with the device's work around it.
struct WirePiece {
  Operation operation = Operation::allreduce;
  Bytes size;  // as the operation counts it: of an allgather, what all ranks together contribute
  Seconds before;
  Seconds after;
};

/// The collectives that average these gradients over `ranks` in one go, in order.
std::vector<WirePiece> on_the_wire(const CompressionSettings& compression, const Job& job,
                                   std::span<const int> gradients, int ranks, BytesPerSecond memory_bandwidth);

}  // namespace farandole
