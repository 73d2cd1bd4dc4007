#include "training/compression.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "config/limits.hpp"
#include "config/section.hpp"

namespace farandole {
namespace {

constexpr Bytes half = 2_B;
constexpr Bytes residual = 4_B;
constexpr Bytes value_and_index = 8_B;

double elements_of(const Job& job, const Gradient& gradient) {
  return gradient.size / job.element;
}

Bytes whole(Bytes bytes) {
  return Bytes(std::ceil(bytes.si()));
}

/// PyTorch's min_compression_rate of 2.
bool has_low_rank(const Gradient& gradient, int rank) {
  return 2 * (gradient.rows + gradient.columns) * rank < gradient.rows * gradient.columns;
}

Bytes shorter(const Job& job, const Gradient& gradient) {
  return std::min(job.element, half) * elements_of(job, gradient);
}

double kept(const CompressionSettings& compression, double elements) {
  return std::min(elements, std::max(1.0, std::round(compression.keep * elements)));
}

/// Bytes through the device's memory per gradient; decoding may take in what several ranks sent.
struct Traffic {
  Bytes encode;
  Bytes decode;
};

Traffic traffic_of(const CompressionSettings& compression, const Job& job, const Gradient& gradient, double senders) {
  const double n = elements_of(job, gradient);
  const Bytes dense = gradient.size;
  const Bytes sent = compressed_size(compression, job, gradient);
  const Bytes feedback = compression.error_feedback ? 2 * n * residual : Bytes(0);
  switch (compression.kind) {
    case Compression::none:
      return {};
    case Compression::fp16:
    case Compression::bf16:
      return sent < dense ? Traffic{dense + sent, dense + sent} : Traffic{};
    case Compression::int8:
      return {2 * dense + sent, senders * sent + dense};
    case Compression::top_k:
      return {dense + feedback + sent, dense + senders * 2 * sent};
    case Compression::one_bit:
      return {2 * dense + feedback + sent, senders * sent + dense};
    case Compression::power_sgd:
      if (!has_low_rank(gradient, compression.rank)) return {};
      // P = M Q before, Q = M^T P between (on_the_wire puts it there), P Q^T after.
      return {dense + feedback, dense};
  }
  return {};
}

Traffic traffic_of(const CompressionSettings& compression, const Job& job, std::span<const int> gradients,
                   double senders) {
  Traffic sum;
  for (const int index : gradients) {
    const auto [encode, decode] = traffic_of(compression, job, job.gradients[static_cast<std::size_t>(index)], senders);
    sum.encode += encode;
    sum.decode += decode;
  }
  return sum;
}

Bytes sent_by_one(const CompressionSettings& compression, const Job& job, std::span<const int> gradients) {
  Bytes sum;
  for (const int index : gradients) {
    sum += compressed_size(compression, job, job.gradients[static_cast<std::size_t>(index)]);
  }
  return sum;
}

std::vector<WirePiece> low_rank_pieces(const CompressionSettings& compression, const Job& job,
                                       std::span<const int> gradients, BytesPerSecond memory) {
  Bytes first;
  Bytes second;
  Bytes matrices;
  for (const int index : gradients) {
    const Gradient& gradient = job.gradients[static_cast<std::size_t>(index)];
    if (!has_low_rank(gradient, compression.rank)) {
      first += gradient.size;
      continue;
    }
    first += gradient.rows * compression.rank * job.element;
    second += gradient.columns * compression.rank * job.element;
    matrices += gradient.size;
  }
  const auto [encode, decode] = traffic_of(compression, job, gradients, 1);
  std::vector<WirePiece> pieces{{Operation::allreduce, first, encode / memory, Seconds(0)}};
  if (second > Bytes(0)) pieces.push_back({Operation::allreduce, second, matrices / memory, decode / memory});
  return pieces;
}

CompressionSettings read_kind(const Value& where) {
  const auto text = read<std::string>(where);
  std::vector<std::string> known;
  for (const CompressionRow& row : compressions()) {
    if (row.name == text) return {row.kind};
    known.push_back(row.name);
  }
  where.fail_unknown("a compression", known);
}

}  // namespace

std::span<const CompressionRow> compressions() {
  static const std::array<CompressionRow, 7> rows{{
      {Compression::none, "none", "gradients as they are"},
      {Compression::fp16, "fp16", "half precision on the wire; allreduce"},
      {Compression::bf16, "bf16", "bfloat16 on the wire; allreduce"},
      {Compression::int8, "int8", "a byte per element and a scale; allgather"},
      {Compression::top_k, "top_k", "the largest elements with their indices; allgather"},
      {Compression::one_bit, "one_bit", "a sign per element and two means; allgather"},
      {Compression::power_sgd, "power_sgd", "matrices as products of low rank; two allreduces"},
  }};
  return rows;
}

std::string name(Compression kind) {
  return compressions()[static_cast<std::size_t>(kind)].name;
}

bool uses_allgather(Compression kind) {
  return kind == Compression::int8 || kind == Compression::top_k || kind == Compression::one_bit;
}

CompressionSettings read_compression(const Value& where) {
  if (!where.is_object()) return read_kind(where);
  Section section(where);
  CompressionSettings compression = read_kind(section.child("kind"));
  if (compression.kind == Compression::top_k) {
    if (const auto keep = section.maybe("keep")) {
      compression.keep = read<Fraction>(*keep).value;
      if (!(compression.keep > 0 && compression.keep <= 1)) keep->fail("a percentage above 0 % and up to 100 %");
    }
  }
  if (compression.kind == Compression::power_sgd) {
    constexpr int most_rank = 65'536;
    if (const auto rank = section.maybe("rank")) compression.rank = read_between(*rank, 1, most_rank);
  }
  if (compression.kind >= Compression::top_k) {
    compression.error_feedback = section.optional("error_feedback", true);
  }
  section.finish();
  return compression;
}

std::string describe(const CompressionSettings& compression) {
  std::string text = name(compression.kind);
  if (compression.kind == Compression::top_k) text += fmt::format(", {:.4g} % kept", compression.keep * 100);
  if (compression.kind == Compression::power_sgd) text += fmt::format(", rank {}", compression.rank);
  if (compression.kind >= Compression::top_k && !compression.error_feedback) text += ", no error feedback";
  return text;
}

Bytes compressed_size(const CompressionSettings& compression, const Job& job, const Gradient& gradient) {
  const double n = elements_of(job, gradient);
  switch (compression.kind) {
    case Compression::none:
      return gradient.size;
    case Compression::fp16:
    case Compression::bf16:
      return shorter(job, gradient);
    case Compression::int8:
      return Bytes(n) + 4_B;
    case Compression::top_k:
      return n > 0 ? kept(compression, n) * value_and_index : Bytes(0);
    case Compression::one_bit:
      return whole(Bytes(n / 8)) + 8_B;
    case Compression::power_sgd:
      if (!has_low_rank(gradient, compression.rank)) return gradient.size;
      return (gradient.rows + gradient.columns) * compression.rank * job.element;
  }
  return gradient.size;
}

bool changes_nothing(const CompressionSettings& compression, const Job& job) {
  return compression.kind != Compression::none && std::ranges::all_of(job.gradients, [&](const Gradient& gradient) {
           const Traffic traffic = traffic_of(compression, job, gradient, 1);
           return compressed_size(compression, job, gradient) == gradient.size && traffic.encode == Bytes(0);
         });
}

Coding coding_of(const CompressionSettings& compression, const Job& job, const Gradient& gradient,
                 BytesPerSecond memory_bandwidth) {
  const auto [encode, decode] = traffic_of(compression, job, gradient, 1);
  return {encode / memory_bandwidth, decode / memory_bandwidth};
}

std::vector<WirePiece> on_the_wire(const CompressionSettings& compression, const Job& job,
                                   std::span<const int> gradients, int ranks, BytesPerSecond memory_bandwidth) {
  if (compression.kind == Compression::power_sgd) {
    return low_rank_pieces(compression, job, gradients, memory_bandwidth);
  }
  const bool gathers = uses_allgather(compression.kind);
  const Bytes sent = sent_by_one(compression, job, gradients);
  const auto [encode, decode] = traffic_of(compression, job, gradients, gathers ? ranks : 1);
  return {{gathers ? Operation::allgather : Operation::allreduce, gathers ? sent * static_cast<double>(ranks) : sent,
           encode / memory_bandwidth, decode / memory_bandwidth}};
}

}  // namespace farandole
