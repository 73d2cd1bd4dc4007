// Reads the layers of a variant of a model file.
//
// Called by read_model.cpp. Where a sample is a sequence, an extent may be "sequence", its length, and multiply-adds
// may be given by the power of the length that they grow with: {"sequence": 589824, "sequence^2": 768}. Layers that
// repeat stand once, in a block: {"block": "layers.{}", "times": 12, "layers": [...]}, their names behind that of the
// block.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "config/section.hpp"
#include "workload/model.hpp"

namespace farandole { inline namespace workload {

using Names = std::set<std::string>;

/// Values of a tensor of a model.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 40U;

/// No model has positions for more.
constexpr int longest_length = 1 << 24;

/// `length` is that of a sequence, 0 where a sample is none.
std::vector<Layer> read_layers(const Value& where, std::int64_t length);

/// At least one extent, each at least 1.
std::vector<std::int64_t> read_shape(const Value& where, std::int64_t length);

/// A whole number from 0 to 2^53.
double read_count(const Value& where);

/// The "name" of a section, which nothing has that was `seen`; `what` is what it names.
std::string read_new_name(Section& section, Names& seen, std::string_view what, const std::string& prefix = "");

}}  // namespace farandole::workload
