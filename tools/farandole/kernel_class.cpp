#include "kernel_class.hpp"

#include <algorithm>
#include <cctype>
#include <span>

namespace farandole {
namespace {

/// Part of a name in lower case.
struct KernelRule {
  std::string_view mark;
  KernelClass kind;
};

// The first that is in a name counts. Attention comes before products, since its kernels are built from CUTLASS;
// products before norms and copies, whose words are general.
constexpr std::array kernel_rules{
    // NCCL src/device/generate.py: ncclDevKernel_AllReduce_Sum_bf16_RING_LL, before 2.19 ncclKernel_...; RCCL the same
    KernelRule{"nccl", KernelClass::communication},
    // PyTorch torch/csrc/distributed/c10d/symm_mem/CUDASymmetricMemoryOps.cu (one_shot_all_reduce_kernel, multimem_*),
    // vLLM
    // csrc/custom_all_reduce.cuh, FlashInfer's allreduce_fusion
    KernelRule{"all_reduce", KernelClass::communication},
    KernelRule{"allreduce", KernelClass::communication},
    KernelRule{"multimem_all_", KernelClass::communication},
    KernelRule{"cross_device_reduce", KernelClass::communication},
    // NVSHMEM's device kernels, and DeepEP's csrc/kernels (dispatch and combine of experts)
    KernelRule{"nvshmem", KernelClass::communication},
    KernelRule{"deep_ep::", KernelClass::communication},
    // FlashAttention csrc/flash_attn/src, hopper/; xformers' and PyTorch's fmha_cutlassF_*; cuDNN's *_sdpa_*, CK's
    // FmhaFwd
    KernelRule{"flash", KernelClass::attention},
    KernelRule{"fmha", KernelClass::attention},
    KernelRule{"sdpa", KernelClass::attention},
    KernelRule{"attention", KernelClass::attention},
    KernelRule{"_attn_", KernelClass::attention},
    // PyTorch aten/src/ATen/native/cuda/MultiTensorApply.cuh (foreach and fused optimizers), NVIDIA apex csrc/
    KernelRule{"multi_tensor_apply", KernelClass::optimizer},
    KernelRule{"fusedadam", KernelClass::optimizer},
    KernelRule{"fused_adam", KernelClass::optimizer},
    KernelRule{"adamw", KernelClass::optimizer},
    KernelRule{"adam_", KernelClass::optimizer},
    KernelRule{"lamb_stage", KernelClass::optimizer},
    KernelRule{"triton_for_", KernelClass::optimizer},  // Inductor's foreach kernels
    // cuBLAS and cuBLASLt: ampere_bf16_s16816gemm_*, sm90_xmma_gemm_*, nvjet_*, splitKreduce, gemv; CUTLASS; rocBLAS:
    // Cijk_*
    KernelRule{"gemm", KernelClass::product},
    KernelRule{"nvjet", KernelClass::product},
    KernelRule{"cutlass", KernelClass::product},
    KernelRule{"cublas", KernelClass::product},
    KernelRule{"bmm_", KernelClass::product},
    KernelRule{"gemv", KernelClass::product},
    KernelRule{"splitkreduce", KernelClass::product},
    KernelRule{"cijk_", KernelClass::product},
    KernelRule{"matmul", KernelClass::product},
    KernelRule{"triton_mm", KernelClass::product},   // Inductor's templates
    KernelRule{"triton_tem", KernelClass::product},  // the same, fused
    // cuDNN's convolutions: *_fprop_implicit_gemm_*, *_dgrad_*, *_wgrad_*, winograd; PyTorch's own conv_depthwise2d
    KernelRule{"fprop", KernelClass::product},
    KernelRule{"dgrad", KernelClass::product},
    KernelRule{"wgrad", KernelClass::product},
    KernelRule{"winograd", KernelClass::product},
    KernelRule{"convolve", KernelClass::product},
    KernelRule{"conv2d", KernelClass::product},
    KernelRule{"conv_depthwise", KernelClass::product},
    // PyTorch aten/src/ATen/native/cuda/layer_norm_kernel.cu, Normalization.cuh, cuDNN's bn_*, apex's and Liger's
    // rms_norm
    KernelRule{"layer_norm", KernelClass::elementwise},
    KernelRule{"layernorm", KernelClass::elementwise},
    KernelRule{"rms_norm", KernelClass::elementwise},
    KernelRule{"rmsnorm", KernelClass::elementwise},
    KernelRule{"batch_norm", KernelClass::elementwise},
    KernelRule{"group_norm", KernelClass::elementwise},
    KernelRule{"bn_fw", KernelClass::elementwise},
    KernelRule{"bn_bw", KernelClass::elementwise},
    KernelRule{"rowwisemoments", KernelClass::elementwise},
    KernelRule{"gammabeta", KernelClass::elementwise},
    KernelRule{"softmax", KernelClass::elementwise},
    // CUPTI's names of copies; PyTorch aten/src/ATen/native/cuda/Copy.cu, Shape.cu (CatArrayBatchedCopy), Indexing.cu,
    // Embedding.cu, FillKernel.cu; cuDNN's nchwToNhwcKernel; FSDP2's split_with_sizes_copy and chunk_cat
    KernelRule{"memcpy", KernelClass::copy},
    KernelRule{"memset", KernelClass::copy},
    KernelRule{"copy_kernel", KernelClass::copy},
    KernelRule{"copy_device_to_device", KernelClass::copy},
    KernelRule{"catarraybatchedcopy", KernelClass::copy},
    KernelRule{"split_with_sizes_copy", KernelClass::copy},
    KernelRule{"chunk_cat", KernelClass::copy},
    KernelRule{"fillfunctor", KernelClass::copy},
    KernelRule{"nchwtonhwc", KernelClass::copy},
    KernelRule{"nhwctonchw", KernelClass::copy},
    KernelRule{"transpose", KernelClass::copy},
    KernelRule{"index", KernelClass::copy},
    KernelRule{"embedding", KernelClass::copy},
    KernelRule{"gather", KernelClass::copy},
    KernelRule{"scatter", KernelClass::copy},
    // PyTorch aten/src/ATen/native/cuda/CUDALoops.cuh, Reduce.cuh, Loss.cu, Dropout.cu, pooling; Inductor's triton_poi
    // (pointwise), triton_red and triton_per (reductions, persistent)
    KernelRule{"elementwise", KernelClass::elementwise},
    KernelRule{"reduce_kernel", KernelClass::elementwise},
    KernelRule{"triton_poi", KernelClass::elementwise},
    KernelRule{"triton_red", KernelClass::elementwise},
    KernelRule{"triton_per", KernelClass::elementwise},
    KernelRule{"cross_entropy", KernelClass::elementwise},
    KernelRule{"nll_loss", KernelClass::elementwise},
    KernelRule{"dropout", KernelClass::elementwise},
    KernelRule{"distribution_", KernelClass::elementwise},
    KernelRule{"pool", KernelClass::elementwise},
    KernelRule{"rotary", KernelClass::elementwise},
    KernelRule{"rope", KernelClass::elementwise},
    KernelRule{"swiglu", KernelClass::elementwise},
    // XLA's loop_*_fusion and input_*_fusion
    KernelRule{"fusion", KernelClass::elementwise},
};

struct CollectiveRule {
  std::string_view mark;  // without underscores
  std::string_view collective;
};
constexpr std::array collective_rules{
    CollectiveRule{"allreduce", "allreduce"},
    CollectiveRule{"allgather", "allgather"},
    CollectiveRule{"reducescatter", "reduce_scatter"},
    CollectiveRule{"alltoall", "alltoall"},
    CollectiveRule{"broadcast", "broadcast"},
    CollectiveRule{"sendrecv", "send and receive"},
    CollectiveRule{"sendreceive", "send and receive"},
    CollectiveRule{"receive", "send and receive"},
    CollectiveRule{"send", "send and receive"},
    CollectiveRule{"pull", "pull"},  // of parameter servers
    CollectiveRule{"push", "push"},
    CollectiveRule{"devicereduce", "allreduce"},
    CollectiveRule{"reduce", "reduce"},
    CollectiveRule{"dispatch", "alltoall"},
    CollectiveRule{"combine", "alltoall"},
};

struct LayerRule {
  std::string_view type;  // its beginning
  KernelClass kind;
};
constexpr std::array layer_rules{LayerRule{"attention", KernelClass::attention},
                                 LayerRule{"matmul", KernelClass::attention},  // of scores and values, unfused
                                 LayerRule{"embedding", KernelClass::copy}, LayerRule{"concat", KernelClass::copy},
                                 LayerRule{"cat", KernelClass::copy}};

std::string lowered(std::string_view text, bool keeps_underscores) {
  std::string result;
  for (const char letter : text) {
    if (letter == '_' && !keeps_underscores) continue;
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return result;
}

}  // namespace

std::string_view words_of(KernelClass kind) {
  constexpr std::array<std::string_view, kernel_classes.size()> words{
      "matrix products", "attention",     "norms and elementwise", "copies and casts",
      "optimizer",       "other kernels", "computation",           "communication"};
  return words[static_cast<std::size_t>(kind)];
}

std::string collective_in(std::string_view name) {
  const std::string text = lowered(name, false);
  for (const CollectiveRule& rule : collective_rules) {
    if (text.find(rule.mark) != std::string::npos) return std::string(rule.collective);
  }
  return "other collectives";
}

NamedWork class_of_kernel(std::string_view name) {
  const std::string text = lowered(name, true);
  for (const KernelRule& rule : kernel_rules) {
    if (text.find(rule.mark) == std::string::npos) continue;
    return {rule.kind, rule.kind == KernelClass::communication ? collective_in(name) : std::string()};
  }
  return {};
}

KernelClass class_of_layer(std::string_view type, bool has_arithmetic) {
  for (const LayerRule& rule : layer_rules) {
    if (type.starts_with(rule.type)) return rule.kind;
  }
  return has_arithmetic ? KernelClass::product : KernelClass::elementwise;
}

}  // namespace farandole
