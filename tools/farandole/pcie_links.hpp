// What `lspci -vv` prints of a node's PCIe links: how many lanes came up, and how fast.
//
// A link of a GPU has the width that it came up with, at the highest rate that it and the port above it can: idle GPUs
// slow theirs down. Of NICs, which do not, both are as they are now. Adapters are not told apart by their names: a node
// with n NICs has the n fastest. Rates are NCCL's (src/graph/topo.cc: kvDictPciGen): 12 GB/s by 16 lanes at 8 GT/s.
#pragma once

#include <string>

#include "config/document.hpp"

namespace farandole {

/// Puts the rate of the GPUs' links, read from `file`, in the place of a topology's, and that of the NICs' where it is
/// less than that and than what they have; and says in a line what was found. InputError where the text is no such
/// listing, has other numbers of GPUs or NICs than the topology's node, or links that are not alike.
std::string put_pcie_links(const std::string& text, const std::string& file, Document& topology);

}  // namespace farandole
