// Which layers run their forward pass a second time, during the backward pass, so that what lies between them need not
// be kept.
//
// Said by a scenario's "workload.recompute"; called by workload/compute_time.cpp, which adds the time,
// workload/kernels.hpp, which counts the work, and training/memory.hpp, which counts what is kept instead. By blocks
// (Layer::block), as frameworks wrap them; layers outside of blocks keep theirs.
//   attention  scores, softmax, dropout and context run again, of which only the context is kept: 5 a s^2 bytes a block
//              less in half precision (Korthikanti et al., arXiv:2205.05198, section 5: Megatron's selective)
//   full       every layer of a block runs again; its input is kept (Chen et al., "Training Deep Nets with Sublinear
//              Memory Cost", arXiv:1604.06174)
//   selective  of a block the results of its first, third, fifth, ... product with weights are kept, and of fused
//              attention; all else runs again (pytorch/torchtitan, torchtitan/parallelisms/parallelize_llama.py,
//              _apply_ac_to_transformer_block with selective_ac_option "op")
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "workload/model.hpp"

namespace farandole { inline namespace workload {

enum class Recompute : std::uint8_t { none, attention, selective, full };

std::string name(Recompute recompute);
Recompute read_recompute(const Value& where);

/// By layer, in execution order.
std::vector<bool> recomputed(const Model& model, Recompute recompute);

/// Whether any layer is one of a block: without, nothing can be recomputed.
bool has_blocks(const Model& model);

/// A product with weights of its own or another's: a convolution or a fully connected layer.
bool is_product_with_weights(const Layer& layer);

/// One kernel for scores, softmax and context, which keeps no scores ("attention"; Dao et al., arXiv:2205.14135).
bool is_fused_attention(const Layer& layer);

}}  // namespace farandole::workload
