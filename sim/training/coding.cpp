#include "training/coding.hpp"

#include <algorithm>

namespace farandole { inline namespace training {
namespace {

constexpr Bytes residual = 4_B;

/// The product of a matrix of `outer` x `inner` with one of `inner` x `columns`.
Seconds product_time(const Coder& coder, Bytes element, double outer, double inner, double columns) {
  // Multiply-adds for each element read, of which a unit needs so many to be busy (workload/device.hpp).
  const double h = 2 * columns * inner / (columns + inner);
  const Seconds arithmetic = Flop(2 * outer * inner * columns) / (coder.products * (h / (h + coder.half)));
  const Bytes moved = (outer * inner + inner * columns + outer * columns) * element;
  return std::max({coder.kernel, arithmetic, moved / coder.memory});
}

/// The kernels of a tensor: bytes streamed, never faster than they are started.
Seconds kernels(const Coder& coder, double count, Bytes moved) {
  return std::max((coder.by_bucket ? 0 : count) * coder.kernel, moved / coder.memory);
}

Seconds selection_time(const CompressionSettings& compression, const Coder& coder, Bytes dense) {
  constexpr double passes = 16 + 2;                        // of 32 bits two at a time; counting, gathering
  constexpr BytesPerSecond of_a_block = 144_MB / 25.6_ms;  // 18 passes over 2 million elements
  switch (compression.selection) {
    case Selection::sampled:
      return std::max(2 * coder.kernel, dense / coder.memory);
    case Selection::radix:
      return std::max(passes * coder.kernel, passes * dense / coder.memory);
    case Selection::one_block:
      break;
  }
  return std::max(coder.kernel, passes * dense / std::min(of_a_block, coder.memory));
}

Coding sparse_coding(const CompressionSettings& compression, const Job& job, const Gradient& gradient,
                     const Coder& coder, double senders) {
  const Bytes dense = gradient.size;
  const Bytes sent = compressed_size(compression, job, gradient);
  const Bytes feedback = compression.error_feedback ? 2 * job.elements_of(gradient) * residual : Bytes(0);
  const double fed = compression.error_feedback ? 2 : 0;
  return {selection_time(compression, coder, dense) + kernels(coder, 1 + fed, feedback + sent),
          kernels(coder, 1 + senders, dense + senders * 2 * sent)};
}

Seconds orthogonal_time(const CompressionSettings& compression, Bytes element, const Coder& coder) {
  const bool is_usual = compression.rank > 2 && element == element_size(GradientType::fp32);
  const bool by_qr =
      compression.orthogonal == Orthogonal::by_rank ? is_usual : compression.orthogonal == Orthogonal::qr;
  return (by_qr ? 11 : 7.0 * compression.rank - 4) * coder.kernel;
}

/// Q made orthogonal and P = M Q before, P and Q = M^T P between (low_rank_pieces puts it there), P Q^T after.
Coding low_rank_coding(const CompressionSettings& compression, const Job& job, const Gradient& gradient,
                       const Coder& coder) {
  if (!has_low_rank(compression, gradient)) return {};
  const double rank = compression.rank;
  const auto fed_back = [&](double kernel_count, double passes) {
    if (!compression.error_feedback) return Seconds(0);
    return kernels(coder, kernel_count, passes * job.elements_of(gradient) * job.element);
  };
  return {orthogonal_time(compression, job.element, coder) +
              product_time(coder, job.element, gradient.rows, gradient.columns, rank) + fed_back(2, 3 + 2),
          product_time(coder, job.element, gradient.rows, rank, gradient.columns) + fed_back(1, 3)};
}

}  // namespace

/// PyTorch's min_compression_rate of 2.
bool has_low_rank(const CompressionSettings& compression, const Gradient& gradient) {
  return 2 * (gradient.rows + gradient.columns) * compression.rank < gradient.rows * gradient.columns;
}

Seconds between_factors(const CompressionSettings& compression, const Job& job, const Gradient& gradient,
                        const Coder& coder) {
  return orthogonal_time(compression, job.element, coder) +
         product_time(coder, job.element, gradient.columns, gradient.rows, compression.rank);
}

Coding coding_of(const CompressionSettings& compression, const Job& job, const Gradient& gradient, const Coder& coder,
                 int senders) {
  const double n = job.elements_of(gradient);
  const double of = senders;
  const Bytes dense = gradient.size;
  const Bytes sent = compressed_size(compression, job, gradient);
  const Bytes feedback = compression.error_feedback ? 2 * n * residual : Bytes(0);
  const Bytes single = n * element_size(GradientType::fp32);
  switch (compression.kind) {
    case Compression::none:
      return {};
    case Compression::fp16:
    case Compression::bf16:
      return sent < dense ? Coding{kernels(coder, 1, dense + sent), kernels(coder, 1, dense + sent)} : Coding{};
    case Compression::int8:
      return {kernels(coder, 6, 10 * dense + sent), kernels(coder, 4 * of, of * (sent + 8 * single) + dense)};
    case Compression::top_k:
      return sparse_coding(compression, job, gradient, coder, of);
    case Compression::one_bit:
      return {kernels(coder, 4, 5 * dense + 2 * single + feedback + sent),
              kernels(coder, 6 * of, of * (sent + 11 * single) + dense)};
    case Compression::power_sgd:
      return low_rank_coding(compression, job, gradient, coder);
  }
  return {};
}

Job encoded(Job job, const CompressionSettings& compression, const Coder& coder) {
  Seconds spent;
  const Job plain = job;
  for (Gradient& gradient : job.gradients) {
    spent += coding_of(compression, plain, gradient, coder).encode;
    gradient.ready += spent;
  }
  job.backward_end += spent;
  return job;
}

Seconds kernel_over(const Coder& coder, Bytes traffic) {
  return coder.start + traffic / coder.memory;
}

Job hooked(Job job, const GradientHooks& hooks, const Coder& coder) {
  Seconds later;  // than without hooks, the device
  Seconds host;
  for (Gradient& gradient : job.gradients) {
    if (hooks.passes > 0) {
      later += kernel_over(coder, hooks.passes * gradient.size);
      host += coder.kernel;
    }
    later = std::max(later, gradient.announced + host - gradient.ready);
    gradient.announced += host;
    gradient.ready += later;
  }
  job.backward_end += later;
  return job;
}

}}  // namespace farandole::training
