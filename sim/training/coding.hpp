// What encoding and decoding compressed gradients costs the device that trains.
//
// Called by training/compression.hpp for what a bucket's collectives wait for, and by scenario/parts.cpp. Each kernel
// takes the bytes it streams over the memory's rate, or where it is a matrix product the longer of that and its
// arithmetic, and none takes less than it takes to start the next one (`Coder::kernel`). n elements of e bytes, r
// ranks. A residual (error feedback) is what compression left out last time: it is read, added, and written again. What
// encodes a gradient runs where its backward pass runs, between that and the next one's (`encoded`; so do the hooks of
// PyTorch and of Horovod's optimizer). What decodes takes as much of the device, whenever it runs: of ddp it counts at
// the end, where gradients leave their buckets. Passes over memory are those of the operations that Python calls.
//
//   fp16,bf16  encode reads e n and writes 2 n, decode the other way round
//   int8       PyTorch's quantization_pertensor_hook: range, quotient, round, add, clamp and cast, 10 e n and n; decode
//              casts, subtracts, multiplies and adds for each rank, 8 passes of fp32 and n
//   top_k      decode clears e n and adds r times the kept elements. Which they are is found by `selection`:
//                radix      torch.topk since 1.12: the k-th largest by two bits of the values at a time, 16 passes,
//                           one that counts and one that gathers (src/ATen/native/cuda/SortingRadixSelect.cuh)
//                one_block  torch.topk before: the same by one block of threads for the whole tensor, of which 2
//                million
//                           elements take 25.6 ms on a GP100 (pytorch/pytorch issue 22812)
//                sampled    Deep Gradient Compression (Lin et al., ICLR 2018): a threshold from a sample, one pass
//   one_bit    as signSGD with majority vote packs bits (github.com/PermiJW/signSGD-with-Majority-Vote): sign,
//              concatenate, cast and pack, 5 e n, 2 passes of fp32; decode fills, unpacks, subtracts, negates, casts
//              and adds for each rank, 11 passes of fp32
//   power_sgd  as PyTorch's powerSGD_hook: Q made orthogonal and P = M Q before the allreduces, P made orthogonal and
//              Q = M^T P between, P Q^T after; a residual is added (3 e n) and the sum copied (2 e n), and what was
//              left out is its difference (3 e n). The hook ends with torch.cuda.synchronize, so that nothing goes on
//              beside it: strategies/ddp.cpp has no overlap. Orthogonal by
//                gram_schmidt  column by column: 3 kernels to normalise one, 4 to take it from the rest; 7 rank - 4
//                qr            torch.linalg.qr: 110 us for a matrix of rank 4 and 256 to 4,096 rows (pytorch/pytorch
//                              pull request 76673), 11 starts of kernels of 10 us
//              By default as PyTorch since 1.12: qr of ranks above 2 in single precision.
//
// And what PyTorch's autograd hooks do with every gradient. The host runs a hook between the layers whose kernels it
// queues, and what the hook queues stands in line on the stream that computes. So gradient i, whose kernels the host
// has queued at a_i and the device has computed at r_i, is ready at the later of
//   r_i + sum over j <= i of (start + traffic_j / memory)     the device has done what all hooks before asked for, too
//   a_i + sum over j <= i of kernel                           the host has come that far
// and the device, where it has waited for its host, goes on from there. One rank by itself has no hooks.
#pragma once

#include "training/compression.hpp"

namespace farandole { inline namespace training {

/// The device that encodes and decodes, and the host that queues its kernels.
struct Coder {
  BytesPerSecond memory = BytesPerSecond::infinity();  // at which kernels stream
  Seconds kernel{};  // from the start of a short kernel to that of the next, the device's or the slower host's
  FlopPerSecond products = FlopPerSecond::infinity();  // that matrix products reach
  double half = 0;         // the intensity at which they reach half of that (workload/device.hpp)
  bool by_bucket = false;  // kernels that need no shape run once for a bucket, not for every tensor
  Seconds start{};         // of the device alone: what a kernel takes beside what it moves
};

/// What a device does for a message of its own, before it is sent and after it has come.
struct Coding {
  Seconds encode;
  Seconds decode;
};
/// `senders`: whose messages it decodes.
Coding coding_of(const CompressionSettings& compression, const Job& job, const Gradient& gradient, const Coder& coder,
                 int senders = 1);

/// Every gradient is ready when it is encoded, before the backward pass goes on.
Job encoded(Job job, const CompressionSettings& compression, const Coder& coder);

/// What the device does between the collectives of a gradient that travels as two factors.
Seconds between_factors(const CompressionSettings& compression, const Job& job, const Gradient& gradient,
                        const Coder& coder);

/// Whether it does.
bool has_low_rank(const CompressionSettings& compression, const Gradient& gradient);

struct GradientHooks {
  double passes = 2;  // over a gradient in memory: one reads, one writes; none: the hook queues nothing
};

/// What one kernel over a gradient takes the device.
Seconds kernel_over(const Coder& coder, Bytes traffic);

Job hooked(Job job, const GradientHooks& hooks, const Coder& coder);

}}  // namespace farandole::training
