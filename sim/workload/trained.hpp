// Which parameters of a model are trained: the adapters of LoRA, or all but those that are frozen.
//
// Said by a scenario's "workload.lora" and "workload.frozen" (scenario/read_workload.cpp). Both give a model whose
// tensors say whether they are trained; all else follows from that: work (workload/compute_time.hpp), gradients
// (training/job.hpp), what is kept (training/memory.hpp), operations that count (workload/kernels.hpp).
//
// LoRA: beside a linear layer y = W x, whose W [out, in] is frozen, stands y += (alpha / r) B A x with A [r, in] and
// B [out, r], which add r (in + out) parameters (Hu et al., arXiv:2106.09685). As Hugging Face's PEFT has it
// (peft/tuners/lora/layer.py), so three layers more: "lora_a" and "lora_b" before the linear layer, and "lora_add"
// behind it, which scales and adds. Everything but A and B is frozen. Dropout before A is not counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/model.hpp"

namespace farandole { inline namespace workload {

struct Lora {
  int rank = 8;
  std::vector<std::string> targets;  // ends of names, as PEFT's target_modules; empty: all in blocks ("all-linear")
};

/// The last parts of the names of layers that may have adapters: linear, in a block, and not of experts.
std::vector<std::string> lora_targets(const Model& model);

/// Every target is one of lora_targets, or ends with one: "self_attn.q_proj".
Model with_lora(const Model& model, const Lora& lora);

/// Whether `pattern`, in which * stands for any text, is the whole of `name`.
bool matches(std::string_view pattern, std::string_view name);

/// The tensors whose names any of the patterns matches are not trained.
Model with_frozen(const Model& model, const std::vector<std::string>& patterns);

}}  // namespace farandole::workload
