// What the elements of gradients are while they travel and are summed, apart from what the device computes in.
//
// Said by a scenario's "workload.gradient_type", fp32 where nobody says. Automatic mixed precision keeps parameters in
// fp32 and so gives gradients in fp32, whoever carries them: PyTorch's autocast under DistributedDataParallel or
// Horovod, TensorFlow's and Keras' under Horovod or servers, Apex at O1. Gradients are short where the model itself was
// cast: MXNet's multi_precision, Apex at O2, model.half() and model.bfloat16().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/document.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace training {

enum class GradientType : std::uint8_t { fp32, fp16, bf16 };

std::string name(GradientType type);
/// Reads one of these names.
GradientType read_gradient_type(const Value& where);
/// The same types hold parameters and what an optimizer keeps; `what` is "a type of parameters".
GradientType read_number_type(const Value& where, std::string_view what);
/// Bytes of one element.
Bytes element_size(GradientType type);

}}  // namespace farandole::training
