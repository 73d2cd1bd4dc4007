// What `nvidia-smi topo -m` prints of a node: which link joins any two GPUs, and how far a NIC is from each.
//
// The matrix says neither which GPUs these are nor how fast NICs and links are, nor what joins nodes: that is of the
// topology that it is put into. NICs further off than others are taken for those of storage and management and left
// out; so are NICs that are no nearer to one GPU than to another where some are. Where a matrix has no NICs, sockets
// and NICs stay those of the topology. With what ibstat says of the same node, NICs that it does not know or that are
// down are left out too, and the others' rate is theirs.
#pragma once

#include <map>
#include <string>

#include "config/document.hpp"
#include "rdma_ports.hpp"

namespace farandole {

/// Puts the node of a matrix, read from `file`, in the place of a topology's: numbers of devices, NVLinks, PCIe
/// switches and sockets, places of NICs; and says in a line what was found. InputError where the text is not such a
/// matrix, and where its node is none that a topology can describe: GPUs that are not shared equally by sockets, one
/// behind the other; NVLink on one side only. `ports` of its adapters; empty: nothing is known of them.
std::string put_node_matrix(const std::string& text, const std::string& file,
                            const std::map<std::string, RdmaPort>& ports, Document& topology);

}  // namespace farandole
