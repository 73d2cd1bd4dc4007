#include "training/compression.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "training/coding.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr Bytes half_size = 2_B;
constexpr Bytes value_and_index = 8_B;

Seconds decode_all(const CompressionSettings& compression, const Job& job, std::span<const int> gradients,
                   const Coder& coder, int senders) {
  Seconds sum;
  for (const int index : gradients) {
    sum += coding_of(compression, job, job.gradients[static_cast<std::size_t>(index)], coder, senders).decode;
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
                                       std::span<const int> gradients, const Coder& coder) {
  Bytes whole;
  Bytes first;
  Bytes second;
  Seconds between;
  for (const int index : gradients) {
    const Gradient& gradient = job.gradients[static_cast<std::size_t>(index)];
    if (!has_low_rank(compression, gradient)) {
      whole += gradient.size;
      continue;
    }
    first += gradient.rows * compression.rank * job.element;
    second += gradient.columns * compression.rank * job.element;
    between += between_factors(compression, job, gradient, coder);
  }
  std::vector<WirePiece> pieces;
  if (whole > Bytes(0) || second == Bytes(0)) pieces.push_back({Operation::allreduce, whole, Seconds(0), Seconds(0)});
  if (second == Bytes(0)) return pieces;
  pieces.push_back({Operation::allreduce, first, Seconds(0), Seconds(0)});
  pieces.push_back({Operation::allreduce, second, between, decode_all(compression, job, gradients, coder, 1)});
  return pieces;
}

CompressionSettings read_kind(const Value& where) {
  return {read_named(where, "a compression", compressions(), &CompressionRow::name).kind};
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
      {Compression::power_sgd, "power_sgd", "matrices as products of low rank; three allreduces"},
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
    if (const auto keep = section.maybe("keep")) compression.keep = read_part(*keep);
    if (const auto by = section.maybe("selection")) {
      compression.selection = read_choice<Selection>(
          *by, "a selection",
          {{"radix", Selection::radix}, {"one_block", Selection::one_block}, {"sampled", Selection::sampled}});
    }
  }
  if (compression.kind == Compression::power_sgd) {
    constexpr int most_rank = 65'536;
    if (const auto rank = section.maybe("rank")) compression.rank = read_between(*rank, 1, most_rank);
    if (const auto by = section.maybe("orthogonal")) {
      compression.orthogonal =
          read_choice<Orthogonal>(*by, "a way to make columns orthogonal",
                                  {{"gram_schmidt", Orthogonal::gram_schmidt}, {"qr", Orthogonal::qr}});
    }
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
  const double n = job.elements_of(gradient);
  switch (compression.kind) {
    case Compression::none:
      return gradient.size;
    case Compression::fp16:
    case Compression::bf16:
      return std::min(job.element, half_size) * n;
    case Compression::int8:
      return Bytes(n) + 4_B;
    case Compression::top_k:
      return n > 0 ? std::min(n, std::max(1.0, std::round(compression.keep * n))) * value_and_index : Bytes(0);
    case Compression::one_bit:
      return Bytes(std::ceil(n / 8)) + 8_B;
    case Compression::power_sgd:
      if (!has_low_rank(compression, gradient)) return gradient.size;
      return (gradient.rows + gradient.columns) * compression.rank * job.element;
  }
  return gradient.size;
}

bool changes_nothing(const CompressionSettings& compression, const Job& job) {
  return compression.kind != Compression::none && std::ranges::all_of(job.gradients, [&](const Gradient& gradient) {
           const bool as_long = compressed_size(compression, job, gradient) == gradient.size;
           return as_long && coding_of(compression, job, gradient, {1_Bps}).encode == 0_s;
         });
}

std::vector<WirePiece> on_the_wire(const CompressionSettings& compression, const Job& job,
                                   std::span<const int> gradients, int ranks, const Coder& coder) {
  if (compression.kind == Compression::power_sgd) return low_rank_pieces(compression, job, gradients, coder);
  const bool gathers = uses_allgather(compression.kind);
  const Bytes sent = sent_by_one(compression, job, gradients);
  return {{gathers ? Operation::allgather : Operation::allreduce, gathers ? sent * static_cast<double>(ranks) : sent,
           Seconds(0), decode_all(compression, job, gradients, coder, gathers ? ranks : 1)}};
}

}}  // namespace farandole::training
